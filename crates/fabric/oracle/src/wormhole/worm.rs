//! Worms under way.

use crate::under_way::UnderWay;
pub(crate) use crate::under_way::UnderWayId as WormId;
use gingham_kernel::Time;
use gingham_net::{Arrival, Packet, PathLength};
use gingham_topology::ChannelId;

/// Packets under way.
pub(crate) type Worms = UnderWay<Worm>;

/// A packet on its way.
#[derive(Clone, Debug)]
pub(crate) struct Worm {
    pub(crate) packet: Packet,
    /// Every channel of its route, from the source's cable to the destination's.
    pub(crate) path: Vec<ChannelId>,
    /// Switches and in-transit hosts on it, as it was at the source.
    pub(crate) length: PathLength,
    /// Flits at the source, route bytes included.
    pub(crate) flits: u64,
    /// Arrival of the first flit at the destination.
    pub(crate) head_arrived: Option<Time>,
    /// The flit that must arrive next at the destination.
    pub(crate) index_expected: u64,
    /// Position in the path of the channel at whose end its head is read next.
    pub(crate) hops_read: usize,
    /// The flit that stands at its head there: what came before it was stripped or dropped.
    pub(crate) lead: u64,
}

impl Worm {
    /// It goes on from the switch where its head was read by one channel more, into the end of that.
    pub(crate) fn divert(&mut self, into_end: ChannelId) {
        self.path.truncate(self.hops_read);
        self.path.push(into_end);
    }

    /// Whether it ends at the end of `channel`, whose end its head has reached or passed.
    pub(crate) fn ends_with(&self, channel: ChannelId) -> bool {
        self.path.last() == Some(&channel)
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
            wire_bytes: self.flits,
            hops: count(self.length.switches),
            in_transit_hosts: count(self.length.in_transit_hosts),
            head_arrived: self.head_arrived.expect("the head arrives before the tail"),
            arrived: now,
        }
    }
}
