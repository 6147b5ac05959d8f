//! Traffic: arrivals, lengths and destinations of messages.
//!
//! ```text
//!   class ── [start, stop) ── a Source per endpoint, with a workload
//!                               ├ drawn: arrivals ── lengths ── destinations
//!                               │          a random stream for each purpose
//!                               ├ schedule: (time, destination, payload) from a list
//!                               ├ replies: a think time after a delivery
//!                               └ a stream: frame after frame to one host; many per endpoint
//! ```
//!
//! A [`Source`] has no access to the state of the network. Random streams depend on the seed, the
//! class and the stable name of the host, so an additional host does not change the draws of other
//! hosts.
//!
//! Types without `Plan` in their names are scenario types; their doc comments are shown to users.

mod arrivals;
mod crashes;
mod destinations;
mod lengths;
mod on_off;
mod permutation;
mod plan;
mod source;
mod streams;
mod ticks;
mod weighted;
mod workload;

pub use arrivals::{ArrivalPlan, Arrivals, Constant, OnOff, OnOffPareto, Reply};
pub(crate) use crashes::application_crashes;
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
pub use workload::Awaited;
