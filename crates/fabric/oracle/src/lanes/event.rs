//! The events of a network of virtual lanes, in the order of their phases.
//!
//! The derived order is the total order of `docs/concepts/timing.md`: variants stand in the order
//! of phases, and what identifies the component comes first in each.

use crate::lanes::journey::JourneyId;
use gingham_topology::{ChannelId, EndpointId, NodeId};

/// A flit of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    /// Its packet, on its way.
    pub(crate) packet: JourneyId,
    /// Its place in the packet, from 0.
    pub(crate) index: u64,
}

/// Something that happens at an instant; all from [`Event::Credit`] on at ticks, but for
/// [`Event::Begin`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// A source creates a message.
    Create { source: usize },
    /// An endpoint is woken.
    Wake { endpoint: EndpointId },
    /// The tail of a packet that a host sends on `channel` has left it.
    TailLeft { channel: ChannelId, packet: JourneyId },
    /// A flit has arrived whole at the host at the end of `channel`.
    FlitArrives { channel: ChannelId, flit: Flit },
    /// Stage 1: a credit counts at the sender of `channel`.
    Credit { channel: ChannelId, lane: u8 },
    /// Stage 1: a flit is in the lane buffer at the end of `channel`.
    FlitIsThere { channel: ChannelId, lane: u8, flit: Flit },
    /// The host at the end of `channel` looks at its lane buffers, where it has any.
    Receive { channel: ChannelId },
    /// Stage 5, link traversal: the output channels of a switch choose among their lanes.
    Link { node: NodeId },
    /// The same for the adapter that sends on `channel`.
    Send { channel: ChannelId },
    /// A flit begins on `channel`.
    Begin { channel: ChannelId, flit: Flit },
    /// Stage 4, switch allocation and traversal: flits cross the switch.
    Cross { node: NodeId },
    /// Stages 2 and 3, routing and virtual-channel allocation: heads are granted output lanes.
    Allocate { node: NodeId },
}
