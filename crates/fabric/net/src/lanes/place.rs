//! Where arbiters of lanes stand, and what gives a lane another weight while a run goes on.
//!
//! ```text
//!   Order::Weigh ──► the arbiter of one place of one port ──► at the end of its round the lane has the weight
//! ```
//!
//! Who orders it asks [`Plan::can_weigh`](crate::Plan::can_weigh) when a plan is built: schedulers
//! without weights have none to change.

use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// Where an arbiter stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArbiterPlace {
    /// At an input port of a multiplexed crossbar, where a channel into the switch ends.
    CrossbarInput,
    /// At an output port of a multiplexed crossbar, where a channel out of the switch begins.
    CrossbarOutput,
    /// At an output port of a switch, where a channel begins.
    LinkOutput,
    /// At the port of an adapter, where its channel begins.
    AdapterPort,
}

impl ArbiterPlace {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::CrossbarInput, Self::CrossbarOutput, Self::LinkOutput, Self::AdapterPort];
}

/// A lane has another weight at one place of one port, from the end of the arbiter's round on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weighing {
    /// The channel that begins or ends at the port.
    pub channel: ChannelId,
    /// Which arbiter of the port.
    pub place: ArbiterPlace,
    /// The lane: an output lane, but at the crossbar input. One that has no share keeps none.
    pub lane: u8,
    /// Flits or packets of a turn under weighted round robin, by priority or not; of surplus round
    /// robin, units of 64 bytes ([`WEIGHT_BYTES`](crate::scheduler::WEIGHT_BYTES)).
    pub weight: NonZeroU16,
}
