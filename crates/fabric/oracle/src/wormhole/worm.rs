//! Worms in flight.

use crate::in_flight::InFlight;
pub(crate) use crate::in_flight::InFlightId as WormId;
use gingham_kernel::Time;
use gingham_net::{Arrival, Packet, PathLength};
use gingham_topology::ChannelId;

pub(crate) type Worms = InFlight<Worm>;

#[derive(Clone, Debug)]
pub(crate) struct Worm {
    pub(crate) packet: Packet,
    pub(crate) path: Vec<ChannelId>,
    /// Length of the path before any diversion.
    pub(crate) length: PathLength,
    /// Number of flits at the source, including route bytes.
    pub(crate) flits: u64,
    pub(crate) head_arrived: Option<Time>,
    pub(crate) index_expected: u64,
    /// Index in `path` of the channel whose far end reads the head next.
    pub(crate) hops_read: usize,
    /// Index of the worm's first flit on that channel; earlier flits were stripped or dropped.
    pub(crate) lead: u64,
}

impl Worm {
    pub(crate) fn divert(&mut self, into_end: ChannelId) {
        self.path.truncate(self.hops_read);
        self.path.push(into_end);
    }

    pub(crate) fn ends_with(&self, channel: ChannelId) -> bool {
        self.path.last() == Some(&channel)
    }

    pub(crate) fn is_tail(&self, index: u64) -> bool {
        index + 1 == self.flits
    }

    pub(crate) fn arrival(&self, now: Time) -> Arrival {
        let count = |of: usize| u16::try_from(of).expect("a route has few switches");
        Arrival {
            payload_bytes: self.packet.payload_bytes,
            wire_bytes: self.flits,
            hops: count(self.length.switches),
            in_transit_hosts: count(self.length.in_transit_hosts),
            head_arrived: self.head_arrived.expect("the head arrives before the tail"),
            arrived: now,
        }
    }
}
