//! Messages: what a host wants to send, and what became of it.

use crate::{ClassId, Conformance, FlowId, MessageId};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;

/// A message as its source created it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Message {
    /// Running number of the run.
    pub id: MessageId,
    /// Traffic class.
    pub class: ClassId,
    /// Where it begins.
    pub source: EndpointId,
    /// Where it ends.
    pub destination: EndpointId,
    /// Payload in bytes, at least 1.
    pub payload_bytes: u32,
    /// When the source created it.
    pub created: Time,
    /// Its flow, where flows are told apart.
    pub flow: Option<FlowId>,
}

/// A message that arrived, with the instants of its journey (`docs/concepts/timing.md`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Delivery {
    /// The message.
    pub message: Message,
    /// The adapter accepted it: at its creation where it needs no credit.
    pub posted: Time,
    /// The first flit of its first packet started on the source's cable.
    pub entered: Time,
    /// The first flit of the packet that completed it had arrived whole at the destination.
    pub head_arrived: Time,
    /// The last flit of that packet had arrived whole.
    pub delivered: Time,
    /// Switches that this packet traversed; one that it came back to counts again.
    pub hops: u16,
    /// In-transit hosts that took it in and sent it on.
    pub in_transit_hosts: u16,
    /// Packets that it travelled as.
    pub packets: u32,
    /// Their bytes on the source's cable.
    pub wire_bytes: u64,
    /// What policing did to it; not that it was dropped.
    pub conformance: Conformance,
}

impl Delivery {
    /// From creation to delivery.
    pub fn latency(&self) -> Span {
        self.delivered.since(self.message.created)
    }

    /// From its accepted post to delivery.
    pub fn posted_latency(&self) -> Span {
        self.delivered.since(self.posted)
    }

    /// From entry into the network to delivery.
    pub fn network_latency(&self) -> Span {
        self.delivered.since(self.entered)
    }

    /// From entry into the network to the arrival of the head (Kwan et al. 1996, section 3.2.3).
    pub fn head_latency(&self) -> Span {
        self.head_arrived.since(self.entered)
    }
}
