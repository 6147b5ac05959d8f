//! Positions of lane arbiters, and changes of a lane's weight during a run.

use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// Position of a lane arbiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArbiterPlace {
    /// Input port of a multiplexed crossbar, at the end of a channel.
    CrossbarInput,
    /// Output port of a multiplexed crossbar, at the start of a channel.
    CrossbarOutput,
    /// Output port of a switch, at the start of a channel.
    LinkOutput,
    /// Port of an adapter, at the start of its channel.
    AdapterPort,
}

impl ArbiterPlace {
    /// All positions.
    pub const ALL: [Self; 4] =
        [Self::CrossbarInput, Self::CrossbarOutput, Self::LinkOutput, Self::AdapterPort];
}

/// Change of a lane's weight, effective at the end of the arbiter's round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weighing {
    /// Channel that starts or ends at the port.
    pub channel: ChannelId,
    /// Position of the arbiter at the port.
    pub place: ArbiterPlace,
    /// Input lane at a crossbar input, otherwise output lane. Lanes that are never served are
    /// unaffected.
    pub lane: u8,
    /// Flits or packets per turn under weighted round robin; under surplus round robin, units of 64
    /// bytes ([`WEIGHT_BYTES`](crate::scheduler::WEIGHT_BYTES)).
    pub weight: NonZeroU16,
}
