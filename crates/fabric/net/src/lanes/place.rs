//! Places of lane arbiters, and changes of a lane's weight during a run.
//!
//! ```text
//!   Order::Weigh ──► the arbiter of one place of one port ──► new weight from the end of its round on
//! ```
//!
//! Users of this order check [`Plan::can_weigh`](crate::Plan::can_weigh) when a plan is built,
//! since some schedulers have no weights.

use gingham_topology::ChannelId;
use std::num::NonZeroU16;

/// Place of an arbiter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArbiterPlace {
    /// Input port of a multiplexed crossbar, at the end of a channel into the switch.
    CrossbarInput,
    /// Output port of a multiplexed crossbar, at the start of a channel out of the switch.
    CrossbarOutput,
    /// Output port of a switch, at the start of a channel.
    LinkOutput,
    /// Port of an adapter, at the start of its channel.
    AdapterPort,
}

impl ArbiterPlace {
    /// All places.
    pub const ALL: [Self; 4] =
        [Self::CrossbarInput, Self::CrossbarOutput, Self::LinkOutput, Self::AdapterPort];
}

/// A change of a lane's weight at one place of one port, from the end of the arbiter's round on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weighing {
    /// Channel that starts or ends at the port.
    pub channel: ChannelId,
    /// Arbiter of the port.
    pub place: ArbiterPlace,
    /// Lane to change: an output lane, except at the crossbar input. A lane without a share keeps
    /// none.
    pub lane: u8,
    /// Flits or packets per turn under weighted round robin, with priorities or without; units of
    /// 64 bytes ([`WEIGHT_BYTES`](crate::scheduler::WEIGHT_BYTES)) under surplus round robin.
    pub weight: NonZeroU16,
}
