//! Packets on their way.

use crate::under_way::UnderWay;
pub(crate) use crate::under_way::UnderWayId as JourneyId;
use gingham_kernel::Time;
use gingham_net::{Arrival, Packet, PathLength, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::{DatelineClass, Routes};

/// Packets under way.
pub(crate) type Journeys = UnderWay<Journey>;

/// A packet on its way.
#[derive(Clone, Debug)]
pub(crate) struct Journey {
    pub(crate) packet: Packet,
    /// Every channel of its route, from the source's cable to the destination's.
    pub(crate) path: Vec<ChannelId>,
    /// Switches and in-transit hosts on it.
    pub(crate) length: PathLength,
    pub(crate) flits: u64,
    /// What all its flits have in bytes.
    pub(crate) wire_bytes: u64,
    /// When its first flit began at its source.
    pub(crate) began: Time,
    /// Position in the path of the channel that its head has taken last.
    pub(crate) position: usize,
    /// Its dateline class on that channel.
    pub(crate) dateline_class: DatelineClass,
    /// Arrival of the first flit at the destination.
    pub(crate) head_arrived: Option<Time>,
    /// The flit that must arrive next at the destination.
    pub(crate) index_expected: u64,
}

impl Journey {
    /// Its head takes a channel out of the switch that it has come to: if another than that of its
    /// path, its path leads on from there as the tables say.
    pub(crate) fn take(&mut self, plan: &Plan, output: ChannelId) {
        if output != self.next_channel() {
            self.path.truncate(self.position + 1);
            self.path.push(output);
            let Routes::Table(tables) = plan.routes(self.packet.path_set) else {
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

    /// It goes on from where its head is by one channel more, into the end of the switch.
    pub(crate) fn divert(&mut self, plan: &Plan, into_end: ChannelId) {
        self.path.truncate(self.position + 1);
        self.path.push(into_end);
        self.length = plan.length_of(&self.path[1..]);
    }

    /// Whether it ends at the end of `channel`, on which its head is or which it has passed.
    pub(crate) fn ends_with(&self, channel: ChannelId) -> bool {
        self.path.last() == Some(&channel)
    }

    /// The channel that its head takes next.
    pub(crate) fn next_channel(&self) -> ChannelId {
        self.path[self.position + 1]
    }

    /// Whether `index` is the place of the last flit.
    pub(crate) fn is_tail(&self, index: u64) -> bool {
        index + 1 == self.flits
    }

    /// Its arrival, whole, at `now`.
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
