//! Messages and their deliveries.

use crate::{ClassId, Conformance, FlowId, MessageNumber};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;

/// A message as created by its source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Number among the messages of its source, in order of creation.
    pub number: MessageNumber,
    /// Traffic class.
    pub class: ClassId,
    /// Source endpoint.
    pub source: EndpointId,
    /// Destination endpoint.
    pub destination: EndpointId,
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// Time of creation at the source.
    pub created: Time,
    /// Flow, if the flows of the class are tracked.
    pub flow: Option<FlowId>,
}

impl Message {
    /// Returns its source and its number there.
    pub const fn id(&self) -> (EndpointId, MessageNumber) {
        (self.source, self.number)
    }
}

/// A delivered message (`docs/concepts/timing.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// Acceptance by the adapter; equals the creation if no credit is needed.
    pub posted: Time,
    /// Start of the first flit of the first packet on the source's cable.
    pub entered: Time,
    /// Complete arrival of the first flit of the packet that completed the message.
    pub head_arrived: Time,
    /// Complete arrival of the last flit of that packet.
    pub delivered: Time,
    /// Switches on that packet's path, counted at each visit.
    pub hops: u16,
    /// In-transit hosts that re-injected that packet.
    pub in_transit_hosts: u16,
    /// Number of packets of the message.
    pub packets: u32,
    /// Bytes of these packets on the source's cable.
    pub wire_bytes: u64,
    /// Result of policing, other than a drop.
    pub conformance: Conformance,
}

impl Delivery {
    /// Time from creation to delivery.
    pub fn latency(&self) -> Span {
        self.delivered.since(self.message.created)
    }

    /// Time from the accepted post to delivery.
    pub fn posted_latency(&self) -> Span {
        self.delivered.since(self.posted)
    }

    /// Time from entry into the network to delivery.
    pub fn network_latency(&self) -> Span {
        self.delivered.since(self.entered)
    }

    /// Time from entry into the network to the arrival of the head (Kwan et al. 1996, section
    /// 3.2.3).
    pub fn head_latency(&self) -> Span {
        self.head_arrived.since(self.entered)
    }
}
