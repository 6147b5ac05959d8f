//! Packets in flight.

use crate::in_flight::InFlight;
pub(crate) use crate::in_flight::InFlightId as JourneyId;
use crate::legs::Legs;
use gingham_kernel::Time;
use gingham_net::{Arrival, Packet, PathLength, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::{DatelineClass, Routes};

pub(crate) type Journeys = InFlight<Journey>;

#[derive(Clone, Debug)]
pub(crate) struct Journey {
    pub(crate) packet: Packet,
    pub(crate) path: Vec<ChannelId>,
    pub(crate) legs: Legs,
    pub(crate) length: PathLength,
    pub(crate) flits: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) began: Time,
    /// Index in `path` of the last channel entered by the head.
    pub(crate) position: usize,
    /// Dateline class on the channel at `position`.
    pub(crate) dateline_class: DatelineClass,
    pub(crate) head_arrived: Option<Time>,
    pub(crate) index_expected: u64,
}

impl Journey {
    /// Advances the head to a channel. If the channel is not on the path, tables provide the rest
    /// of the path.
    pub(crate) fn take(&mut self, plan: &Plan, output: ChannelId) {
        if output != self.next_channel() {
            self.path.truncate(self.position + 1);
            self.path.push(output);
            let Routes::Table(tables) = plan.routing.routes(self.packet.path_id) else {
                unreachable!("packets that choose follow tables")
            };
            let mut node = plan.ends(output).target.node;
            while plan.is_switch(node) {
                let port = tables.port(node, self.packet.destination);
                let next = port.and_then(|port| plan.fabric.outgoing(node, port));
                self.path.push(next.expect("tables lead on from wherever a packet may come"));
                node = plan.ends(self.path[self.path.len() - 1]).target.node;
            }
            assert_eq!(plan.length_of(&self.path[1..]), self.length, "all ways are shortest");
        }
        self.position += 1;
    }

    pub(crate) fn divert(&mut self, plan: &Plan, into_end: ChannelId) {
        self.path.truncate(self.position + 1);
        self.path.push(into_end);
        self.length = plan.length_of(&self.path[1..]);
    }

    pub(crate) fn ends_with(&self, channel: ChannelId) -> bool {
        self.path.last() == Some(&channel)
    }

    pub(crate) fn next_channel(&self) -> ChannelId {
        self.path[self.position + 1]
    }

    pub(crate) fn is_tail(&self, index: u64) -> bool {
        index + 1 == self.flits
    }

    pub(crate) fn arrival(&self, now: Time) -> Arrival {
        let count = |of: usize| u16::try_from(of).expect("a route has few switches");
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: self.wire_bytes,
            hops: count(self.length.switches),
            in_transit_hosts: count(self.length.in_transit_hosts),
            head_arrived: self.head_arrived.expect("the head arrives before the tail"),
            arrived: now,
        }
    }
}
