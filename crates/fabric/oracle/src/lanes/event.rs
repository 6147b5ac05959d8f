//! The events of a network of virtual lanes, in the order of their phases.
//!
//! Derived order: the total order of `docs/concepts/timing.md`, by phase, then by the id of the
//! component, the first field.

use crate::lanes::journey::JourneyId;
use gingham_topology::{ChannelId, EndpointId, NodeId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Flit {
    pub(crate) packet: JourneyId,
    /// Index of the flit in its packet, from 0.
    pub(crate) index: u64,
}

/// An event. Events from [`Event::Credit`] on occur only at ticks, except [`Event::Begin`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Event {
    /// A source creates a message.
    Create { source: usize },
    /// A wake-up is due.
    Wake { endpoint: EndpointId },
    /// The tail has left the host that sends on `channel`.
    TailLeft { channel: ChannelId, packet: JourneyId },
    /// A flit has arrived completely at the host at the end of `channel`.
    FlitArrives { channel: ChannelId, flit: Flit },
    /// Stage 1: a credit becomes available at the sender.
    Credit { channel: ChannelId, lane: u8 },
    /// Stage 1: a flit becomes visible in the lane buffer.
    FlitIsThere { channel: ChannelId, lane: u8, flit: Flit },
    /// The host at the end of `channel` processes its lane buffers.
    Receive { channel: ChannelId },
    /// Stage 5: link traversal.
    Link { node: NodeId },
    /// An adapter chooses among its lanes.
    Send { channel: ChannelId },
    /// A flit begins.
    Begin { channel: ChannelId, flit: Flit },
    /// Stage 4: switch allocation and traversal.
    Cross { node: NodeId },
    /// Stages 2 and 3: routing and virtual-channel allocation.
    Allocate { node: NodeId },
}
