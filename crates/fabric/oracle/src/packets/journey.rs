//! Packets in flight.

use crate::in_flight::InFlight;
pub(crate) use crate::in_flight::InFlightId as JourneyId;
use crate::legs::Legs;
use gingham_kernel::Time;
use gingham_net::{Arrival, Packet, PathLength, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::DatelineClass;

pub(crate) type Journeys = InFlight<Journey>;

#[derive(Clone, Debug)]
pub(crate) struct Journey {
    pub(crate) packet: Packet,
    pub(crate) path: Vec<ChannelId>,
    pub(crate) legs: Legs,
    pub(crate) length: PathLength,
    /// `W`: packet length on the wire (payload and overhead), in bytes.
    pub(crate) wire_bytes: u64,
    pub(crate) position: usize,
    pub(crate) dateline_class: DatelineClass,
    /// Arrival time of the first byte at the destination, set when the packet starts on the last
    /// channel.
    pub(crate) head_arrived: Option<Time>,
}

impl Journey {
    pub(crate) fn next_channel(&self) -> ChannelId {
        self.path[self.position + 1]
    }

    pub(crate) fn divert(&mut self, plan: &Plan, into_end: ChannelId) {
        self.path.truncate(self.position + 1);
        self.path.push(into_end);
        self.length = plan.length_of(&self.path[1..]);
    }

    pub(crate) fn arrival(&self, now: Time) -> Arrival {
        let count = |of: usize| u16::try_from(of).expect("a route has few switches");
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: self.wire_bytes,
            hops: count(self.length.switches),
            in_transit_hosts: count(self.length.in_transit_hosts),
            head_arrived: self.head_arrived.expect("it has been on its last channel"),
            arrived: now,
        }
    }
}
