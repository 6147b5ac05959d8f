//! Plan of a run, and the pure state machines at the network's edge: traffic sources, adapter
//! queues and statistics collectors.
//!
//! ```text
//!   topology::Fabric ─┐
//!   topology::Routes ─┼─► Plan ─► a simulation (oracle, engine) ─► Collector
//!   traffic classes  ─┘            polls Source and Adapter, notifies the Collector
//! ```
//!
//! The oracle (slow) and the engine (fast), in other crates, share this crate and each implement
//! the movement of flits.
//!
//! Invariants: time, randomness and input are arguments; this crate uses no file, clock or thread.

mod adapter;
mod admission;
mod bare_names;
mod channel;
pub mod congestion;
mod credit_loss;
mod driver;
mod endpoints;
mod flows;
mod ids;
mod in_transit;
mod lanes;
mod marking;
pub mod measure;
mod message;
mod messages;
mod network_events;
mod notice;
mod packet;
mod packets;
mod pauses;
mod plan;
mod policing;
mod ports0;
mod posting;
mod postponed;
mod probe;
mod receipts;
mod response;
mod routing_scheme;
mod segmentation;
mod simulation;
mod slack;
mod switching;
mod throttle;
pub mod traffic;
mod waits;
mod window;
mod wormhole;

pub use adapter::{Adapter, Next, Turn};
pub use admission::{AdmissionPlan, Ledger, Request, Signal, StreamState};
pub use bare_names::accept_bare_names;
pub use channel::ChannelPlan;
pub use credit_loss::CreditLossPlan;
pub use driver::{Network, Run};
pub use endpoints::{Due, Endpoints};
pub use ids::{ClassId, FlowId, MessageNumber, MessageSlot, StreamId};
pub use in_transit::{
    EjectionHead, InTransitHost, InTransitParameters, InTransitPlan, TakenIn, WhenFull,
    WhenPoolFull,
};
pub use lanes::{
    Allocator, ArbiterPlace, Crossbar, Granularity, Injection, Islip, LaneArbiter, LanePlan,
    PipelinePlan, Reallocation, Scheduler, VcAllocator, Weighing, scheduler,
};
pub use marking::*;
pub use message::{Delivery, Message};
pub use messages::Arrival;
pub use network_events::{Conservation, NetworkEvent, NetworkEvents};
pub use notice::{Created, Notice, Order, Stay, Switched, Wanted, Which};
pub use packet::{Content, Packet, Priority};
pub use packets::{Among, BLOCK_BYTES, LaneBlocks, OvertakingPlan, PacketsPlan, Read};
pub use pauses::PausesPlan;
pub use plan::{ClassPlan, Ends, FollowPlan, KeptMessages, MeasurePlan, Plan, Quantity, StopPlan};
pub use policing::{Conformance, Excess, PolicingPlan, REFILL_BYTES, TokenBucket};
pub use posting::{AdapterPlan, Credits, DmaPlan, LaneChoice, PostPlan, Refused};
pub use probe::{Noted, ProbePlan};
pub use response::*;
pub use routing_scheme::*;
pub use segmentation::{Adaptive, Segmentation, SegmentationPlan};
pub use simulation::{Simulation, SteppedBy, Stepping};
pub use slack::{SlackBuffer, SlackError};
pub use switching::Switching;
pub use throttle::{SelfTunedPlan, ThrottlePlan};
pub use waits::{Status, Wait, WaitCycle, WaitForGraph};
pub use window::{AckPlan, Acknowledged, FlowKey, Hold, RateLimit, RateLimitPlan, WindowPlan};
pub use wormhole::{Arbitration, WormholePlan};
