//! The events of a network of virtual lanes, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing.md`: variants are in the order of
//! phases, and the component's id is the first field of each.

use crate::lanes::journey::JourneyId;
use gingham_topology::{ChannelId, EndpointId, NodeId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    pub(crate) packet: JourneyId,
    /// Index in the packet, from 0.
    pub(crate) index: u64,
}

/// An event; all from [`Event::Credit`] on occur at ticks, except [`Event::Begin`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// A source creates a message.
    Create { source: usize },
    /// A wake-up of an endpoint is due.
    Wake { endpoint: EndpointId },
    /// The tail of a packet that a host sends on `channel` has left the host.
    TailLeft { channel: ChannelId, packet: JourneyId },
    /// A flit has arrived completely at the host at the end of `channel`.
    FlitArrives { channel: ChannelId, flit: Flit },
    /// Stage 1: a credit becomes available at the sender of `channel`.
    Credit { channel: ChannelId, lane: u8 },
    /// Stage 1: a flit is in the lane buffer at the end of `channel`.
    FlitIsThere { channel: ChannelId, lane: u8, flit: Flit },
    /// The host at the end of `channel` processes its lane buffers, if it has any.
    Receive { channel: ChannelId },
    /// Stage 5, link traversal: the output channels of a switch choose among their lanes.
    Link { node: NodeId },
    /// The adapter that sends on `channel` chooses among its lanes.
    Send { channel: ChannelId },
    /// A flit begins on `channel`.
    Begin { channel: ChannelId, flit: Flit },
    /// Stage 4, switch allocation and traversal: flits cross the switch.
    Cross { node: NodeId },
    /// Stages 2 and 3, routing and virtual-channel allocation: heads are granted output lanes.
    Allocate { node: NodeId },
}
