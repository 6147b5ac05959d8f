//! Traffic: who sends when, how much, and where to.
//!
//! ```text
//!   class ── [start, stop) ── a Source an endpoint, which may begin later
//!                               ├ drawn: arrivals ── lengths ── destinations
//!                               │          a random stream a purpose
//!                               ├ scheduled: (instant, destination, payload), as written
//!                               └ a stream: frame after frame to one host; many an endpoint
//! ```
//!
//! A [`Source`] is asked for the next arrival and the next message; it never knows the state
//! of the network. Streams are keyed by seed, class and the stable name of the host, so that one
//! more host changes nobody else's draws.
//!
//! The types without `Plan` in their name are what a scenario writes; their doc comments are
//! what users read as help.

mod arrivals;
mod destinations;
mod lengths;
mod on_off;
mod permutation;
mod plan;
mod source;
mod streams;
mod ticks;
mod weighted;

pub use arrivals::{ArrivalPlan, Arrivals, Constant, OnOff, OnOffPareto, Reply};
pub use destinations::{
    DestinationPlan, Destinations, GridPlaces, GroupPlaces, HotSpot, OtherHosts, PermutationDraw,
    StencilPlaces, UniformPlaces, Within,
};
pub use lengths::{Bimodal, LengthPlan, Lengths, Uniform};
pub use on_off::{PeriodLaw, PeriodPlan};
pub use permutation::{GridShift, Permutation, PlacesError, Stencil, derangement, group_target};
pub use plan::{Draft, DrawnPlan, LaterPlan, MessagePlan, ReplyPlan, Scheduled, SourcePlan};
pub use source::{STREAM_BYTES, Source};
pub use streams::{
    DataPlan, DeadlinePlan, FirstFrame, FramePart, FramePlan, FrameSizes, OnOffStream, Spread,
    StreamPart, StreamPlan,
};
pub use weighted::Weighted;
