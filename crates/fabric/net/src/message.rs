//! Messages and their deliveries.

use crate::{ClassId, Conformance, FlowId, MessageNumber};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;

/// A message as created by its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Number of the message at its source, in order of creation.
    pub number: MessageNumber,
    /// Traffic class.
    pub class: ClassId,
    /// Source endpoint.
    pub source: EndpointId,
    /// Destination endpoint.
    pub destination: EndpointId,
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// Creation time at the source.
    pub created: Time,
    /// Flow, if the class's flows are tracked.
    pub flow: Option<FlowId>,
}

impl Message {
    /// Returns the source and the message's number at that source.
    pub const fn id(&self) -> (EndpointId, MessageNumber) {
        (self.source, self.number)
    }
}

/// A delivered message (`docs/concepts/timing.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Time when the adapter accepted the message; the creation time if no credit is needed.
    pub posted: Time,
    /// Start of the message's first flit on the source's cable.
    pub entered: Time,
    /// Time when the first flit of the completing packet (the last to arrive) had completely
    /// arrived.
    pub head_arrived: Time,
    /// Time when the last flit of the completing packet had completely arrived.
    pub delivered: Time,
    /// Number of switches on the completing packet's path, counting each visit.
    pub hops: u16,
    /// Number of in-transit hosts that re-injected the completing packet.
    pub in_transit_hosts: u16,
    /// Number of packets of the message.
    pub packets: u32,
    /// Wire bytes of the message's packets on the source's cable.
    pub wire_bytes: u64,
    /// Result of policing: conforming, delayed or demoted.
    pub conformance: Conformance,
}

impl Delivery {
    /// Returns the time from creation to delivery.
    pub fn latency(&self) -> Span {
        self.delivered.since(self.message.created)
    }

    /// Returns the time from acceptance by the adapter to delivery.
    pub fn posted_latency(&self) -> Span {
        self.delivered.since(self.posted)
    }

    /// Returns the time from entry into the network to delivery.
    pub fn network_latency(&self) -> Span {
        self.delivered.since(self.entered)
    }

    /// Returns the time from entry into the network to the arrival of the completing packet's head
    /// (Kwan et al. 1996, section 3.2.3).
    pub fn head_latency(&self) -> Span {
        self.head_arrived.since(self.entered)
    }
}
