//! Events of virtual-lane networks, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing.md`: by phase, then by the id of
//! the component (the first field).

use crate::lanes::journey::JourneyId;
use gingham_topology::{ChannelId, EndpointId, NodeId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    pub(crate) packet: JourneyId,
    pub(crate) index: u64,
}

/// Network event. From [`Event::Credit`] on, all events except [`Event::Begin`] occur only at
/// ticks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    Create {
        source: usize,
    },
    Wake {
        endpoint: EndpointId,
    },
    /// The packet's tail has left its host.
    TailLeft {
        channel: ChannelId,
        packet: JourneyId,
    },
    /// A whole flit has arrived at the host at the end of `channel`.
    FlitArrives {
        channel: ChannelId,
        flit: Flit,
    },
    /// Stage 1: a credit becomes available at the sender.
    Credit {
        channel: ChannelId,
        lane: u8,
    },
    /// Stage 1: a flit becomes visible in the lane buffer.
    FlitIsThere {
        channel: ChannelId,
        lane: u8,
        flit: Flit,
    },
    /// The host at the end of `channel` processes its lane buffers.
    Receive {
        channel: ChannelId,
    },
    /// Stage 5: link traversal.
    Link {
        node: NodeId,
    },
    /// An adapter chooses among its lanes.
    Send {
        channel: ChannelId,
    },
    Begin {
        channel: ChannelId,
        flit: Flit,
    },
    /// Stage 4: switch allocation and traversal.
    Cross {
        node: NodeId,
    },
    /// Stages 2 and 3: routing and virtual-channel allocation.
    Allocate {
        node: NodeId,
    },
}
