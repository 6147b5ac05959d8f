//! Reassembly: the messages under way, put together from the packets that arrive.
//!
//! ```text
//!   first packet starts        packets arrive, in any order          the last byte is there
//!   open ── entered ──────────► payload left, packets, wire bytes ──► Delivery, closed
//! ```
//!
//! A message that is not segmented goes the same way with one packet. Nothing here asks for the
//! order of arrival: that of a message's packets is the fabric's affair, and paths may differ.
//!
//! Invariant: an assembly is open exactly from the start of its message's first packet to the
//! arrival of the last payload byte, so that the number of a closed one can be used again.

use crate::{AssemblyId, Conformance, Delivery, Message};
use gingham_kernel::Time;

/// A packet that has arrived whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// Its payload.
    pub payload_bytes: u32,
    /// Its bytes on the source's cable.
    pub wire_bytes: u64,
    /// Switches that it traversed; one that it came back to counts again.
    pub hops: u16,
    /// In-transit hosts that took it in and sent it on.
    pub in_transit_hosts: u16,
    /// Its first flit to reach the destination had arrived whole.
    pub head_arrived: Time,
    /// Its last flit had arrived whole.
    pub arrived: Time,
}

/// Messages of which a packet was sent and not all arrived, by id.
#[derive(Clone, Debug, Default)]
pub struct Reassembly {
    open: Vec<Assembly>,
    free: Vec<AssemblyId>,
}

#[derive(Clone, Copy, Debug)]
struct Assembly {
    message: Message,
    entered: Time,
    /// Payload that is still to arrive.
    left_bytes: u32,
    packets: u32,
    wire_bytes: u64,
    conformance: Conformance,
}

impl Reassembly {
    /// The first packet of a message starts.
    pub fn open(&mut self, message: Message, entered: Time) -> AssemblyId {
        let left_bytes = message.payload_bytes;
        let (packets, wire_bytes, conformance) = (0, 0, Conformance::Conforming);
        let assembly = Assembly { message, entered, left_bytes, packets, wire_bytes, conformance };
        if let Some(id) = self.free.pop() {
            self.open[id.index()] = assembly;
            return id;
        }
        self.open.push(assembly);
        AssemblyId::new(self.open.len() - 1)
    }

    /// What policing did to the message.
    pub fn set_conformance(&mut self, id: AssemblyId, conformance: Conformance) {
        self.open[id.index()].conformance = conformance;
    }

    /// The message of an assembly.
    pub fn message(&self, id: AssemblyId) -> &Message {
        &self.open[id.index()].message
    }

    /// A packet of the message has arrived: its delivery, if that completes it.
    pub fn arrive(&mut self, id: AssemblyId, arrival: &Arrival) -> Option<Delivery> {
        let assembly = &mut self.open[id.index()];
        assembly.left_bytes = assembly
            .left_bytes
            .checked_sub(arrival.payload_bytes)
            .expect("no more arrives of a message than it has");
        assembly.packets += 1;
        assembly.wire_bytes += arrival.wire_bytes;
        if assembly.left_bytes > 0 {
            return None;
        }
        self.free.push(id);
        Some(Delivery {
            message: assembly.message,
            entered: assembly.entered,
            head_arrived: arrival.head_arrived,
            delivered: arrival.arrived,
            hops: arrival.hops,
            in_transit_hosts: arrival.in_transit_hosts,
            packets: assembly.packets,
            wire_bytes: assembly.wire_bytes,
            conformance: assembly.conformance,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ClassId, MessageId};
    use gingham_topology::EndpointId;

    fn message(id: usize, payload_bytes: u32) -> Message {
        Message {
            id: MessageId::new(id),
            class: ClassId::new(0),
            source: EndpointId::new(0),
            destination: EndpointId::new(1),
            payload_bytes,
            created: Time::ZERO,
            flow: None,
        }
    }

    fn arrival(payload_bytes: u32, arrived: u64) -> Arrival {
        Arrival {
            payload_bytes,
            wire_bytes: u64::from(payload_bytes) + 4,
            hops: 2,
            in_transit_hosts: 0,
            head_arrived: Time::from_ps(arrived - 10),
            arrived: Time::from_ps(arrived),
        }
    }

    #[test]
    fn a_message_is_delivered_by_the_packet_that_completes_it_whichever_that_is() {
        let mut reassembly = Reassembly::default();
        let (a, b) = (
            reassembly.open(message(0, 25), Time::from_ps(5)),
            reassembly.open(message(1, 8), Time::from_ps(6)),
        );
        // The rest of a message may overtake a full segment.
        assert_eq!(reassembly.arrive(a, &arrival(10, 40)), None);
        assert_eq!(reassembly.arrive(a, &arrival(5, 50)), None);
        let other = reassembly.arrive(b, &arrival(8, 55)).unwrap();
        assert_eq!((other.message.id.index(), other.packets, other.wire_bytes), (1, 1, 12));
        let whole = reassembly.arrive(a, &arrival(10, 60)).unwrap();
        assert_eq!(
            (whole.packets, whole.wire_bytes, whole.entered),
            (3, 25 + 12, Time::from_ps(5))
        );
        assert_eq!((whole.head_arrived, whole.delivered), (Time::from_ps(50), Time::from_ps(60)));
        // Numbers are used again.
        let ids = [2, 3, 4].map(|id| reassembly.open(message(id, 1), Time::ZERO).index());
        assert_eq!(ids, [0, 1, 2]);
    }
}
