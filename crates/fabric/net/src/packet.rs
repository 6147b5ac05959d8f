//! Packets: the units that move through the fabric.
//!
//! Only data packets belong to a message. All packets share links, buffers, lanes and routes.

use crate::{ClassId, FlowId, MessageSlot, PathId, Signal};
use gingham_topology::EndpointId;
use gingham_topology::routing::VcClass;

/// Priority of a packet at hosts and, with some arbiters, at switches. Higher levels are served
/// first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Priority(u8);

impl Priority {
    /// Number of priority levels.
    pub const LEVELS: u8 = 8;

    /// Returns the priority of a level; level 0 is the lowest. Returns `None` for a level of
    /// [`Self::LEVELS`] or higher.
    pub const fn new(level: u8) -> Option<Self> {
        if level < Self::LEVELS { Some(Self(level)) } else { None }
    }

    /// Returns the level; 0 is the lowest.
    pub const fn level(self) -> usize {
        self.0 as usize
    }
}

/// Contents of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Content {
    /// Payload of the message in this slot.
    Data(MessageSlot),
    /// Acknowledgement of data packets of its flow.
    Ack {
        /// Number of acknowledged packets.
        packets: u32,
        /// Number of acknowledged packets that were marked.
        marked: u32,
    },
    /// Admission control signal.
    Signal(Signal),
    /// Control packet, without message or acknowledgement.
    Control,
}

/// A packet in the fabric.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent bits of a header")]
pub struct Packet {
    /// Contents.
    pub content: Content,
    /// Traffic class; for an acknowledgement, the class of the acknowledged packets.
    pub class: ClassId,
    /// Flow, if tracked; for an acknowledgement, the flow of the acknowledged packets.
    pub flow: Option<FlowId>,
    /// Source endpoint.
    pub source: EndpointId,
    /// Destination endpoint.
    pub destination: EndpointId,
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// Priority level.
    pub priority: Priority,
    /// Path of the packet.
    pub path_id: PathId,
    /// VC class, which determines the permitted lanes.
    pub vc_class: VcClass,
    /// Whether this is the first data packet of its message.
    pub is_first: bool,
    /// Whether this is the last packet of a stream, which releases the stream's reservation.
    pub is_last_of_stream: bool,
    /// Congestion mark set by switches.
    pub mark: bool,
    /// Whether a channel failed during transmission; the destination then discards the packet.
    pub is_bad: bool,
}

impl Packet {
    pub(crate) fn without_message(
        content: Content,
        class: ClassId,
        (source, destination): (EndpointId, EndpointId),
        (priority, vc_class): (Priority, VcClass),
        payload_bytes: u32,
    ) -> Self {
        Self {
            content,
            class,
            flow: None,
            source,
            destination,
            payload_bytes,
            priority,
            path_id: PathId::default(),
            vc_class,
            is_first: false,
            is_last_of_stream: false,
            mark: false,
            is_bad: false,
        }
    }
}
