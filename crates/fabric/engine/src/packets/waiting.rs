//! Ready packets that wait for an output of their switch, oldest first.
//!
//! ```text
//!   output   lanes 0, 1          p4 ─► p7 ─► p9     oldest first: a list for each set of lanes
//!            lane 2              p5
//!
//!   output   input 3, lanes 0    p4 ─► p9           other orders: a list for each set of lanes, input
//!            input 5, lanes 0    p7                 buffer, and priority
//! ```
//!
//! Each linked list of packets is sorted by arrival time at the switch, then by input port and
//! lane. Every arbitration order preserves this order within a list, and packets of one buffer are
//! read or held back in this order. A decision therefore compares only the first packets of lists.

use crate::packets::packet::{Moving, PacketId, Packets, Place};
use gingham_net::Plan;
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;
use smallvec::SmallVec;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Origin {
    input: ChannelId,
    lane: u8,
    level: u8,
}

impl Origin {
    fn of(packet: &Moving) -> Self {
        let level = u8::try_from(packet.packet.priority.level()).expect("levels are few");
        Self { input: packet.input, lane: packet.lane, level }
    }
}

/// Ready packets with the same set of permitted lanes and, if lists are kept by origin, with the
/// same origin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) lanes: LaneSet,
    origin: Option<Origin>,
    ends: Option<(PacketId, PacketId)>,
    /// First packet that may still be overtaken; used if overtaking is limited.
    fresh: Option<PacketId>,
}

impl List {
    #[inline]
    pub(crate) fn first(&self) -> Option<PacketId> {
        self.ends.map(|(first, _)| first)
    }
}

/// Arrival time in ps, input port and lane; an older packet has the smaller value.
pub(crate) type Age = (u64, u16, u8);

#[inline]
pub(crate) fn age(plan: &Plan, packet: &Moving) -> Age {
    (packet.came_ps, plan.fabric.target(packet.input).port, packet.lane)
}

#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    lists: Vec<SmallVec<[List; 1]>>,
    are_by_origin: bool,
}

impl Waiting {
    pub(crate) fn new(channels: usize, are_by_origin: bool) -> Self {
        Self { lists: vec![SmallVec::new(); channels], are_by_origin }
    }

    #[inline]
    pub(crate) fn lists(&self, output: ChannelId) -> &[List] {
        &self.lists[output.index()]
    }

    pub(crate) fn bytes(&self, output: ChannelId, packets: &Packets) -> u64 {
        let of_list = |list: &List| {
            let packets_of = std::iter::successors(list.first(), |id| packets.get(*id).next);
            packets_of.map(|id| u64::from(packets.get(id).wire_bytes)).sum::<u64>()
        };
        self.lists(output).iter().map(of_list).sum()
    }

    #[inline]
    pub(crate) fn first(&self, output: ChannelId) -> Option<PacketId> {
        self.lists(output).first()?.first()
    }

    #[inline]
    pub(crate) fn insert(&mut self, plan: &Plan, packets: &mut Packets, id: PacketId) {
        let packet = packets.get_mut(id);
        (packet.place, packet.next, packet.overtaken) = (Place::Waiting, None, 0);
        let origin = self.are_by_origin.then(|| Origin::of(packet));
        let lists = &mut self.lists[packet.output.index()];
        let is_own = |list: &List| list.lanes == packet.lanes && list.origin == origin;
        let place = lists.iter().position(is_own).unwrap_or_else(|| {
            lists.push(List { lanes: packet.lanes, origin, ends: None, fresh: None });
            lists.len() - 1
        });
        let own = &mut lists[place];
        own.fresh = own.fresh.or(Some(id));
        own.ends = Some(match own.ends {
            None => (id, id),
            Some((first, last)) if is_before(plan, packets, last, id) => {
                packets.get_mut(last).next = Some(id);
                (first, id)
            }
            Some((first, last)) => {
                debug_assert!(origin.is_none(), "packets of one buffer are ready in their order");
                (insert_before(plan, packets, first, id), last)
            }
        });
    }

    #[inline]
    pub(crate) fn remove(&mut self, packets: &mut Packets, id: PacketId) {
        let packet = packets.get(id);
        let Moving { output, lanes, next, .. } = *packet;
        let origin = self.are_by_origin.then(|| Origin::of(packet));
        let lists = &mut self.lists[output.index()];
        let own = lists.iter_mut().find(|of| of.lanes == lanes && of.origin == origin);
        let own = own.expect("what waits stands in a list");
        let (first, last) = own.ends.expect("what waits stands in a list");
        if own.fresh == Some(id) {
            own.fresh = next;
        }
        if first == id {
            own.ends = next.map(|next| (next, last));
            return;
        }
        let mut before = first;
        while packets.get(before).next != Some(id) {
            before = packets.get(before).next.expect("what waits stands in its list");
        }
        packets.get_mut(before).next = next;
        own.ends = Some((first, if last == id { before } else { last }));
    }

    /// Increments the overtaking counts of earlier packets, up to `limit`, and calls `on_limit` for
    /// each packet that reaches the limit. Within a list, earlier packets have been overtaken at
    /// least as often as later packets, which keeps futile visits rare.
    pub(crate) fn overtake(
        &mut self,
        (output, lane): (ChannelId, u8),
        limit: u32,
        packets: &mut Packets,
        comes_before: impl Fn(&Moving) -> bool,
        mut on_limit: impl FnMut(&Moving),
    ) {
        for list in self.lists[output.index()].iter_mut().filter(|list| list.lanes.contains(lane)) {
            let mut next = list.fresh;
            while let Some(id) = next {
                let packet = packets.get_mut(id);
                if !comes_before(packet) {
                    break;
                }
                if packet.overtaken < limit {
                    packet.overtaken += 1;
                    if packet.overtaken == limit {
                        on_limit(packet);
                    }
                }
                next = packet.next;
                if packet.overtaken >= limit {
                    list.fresh = next;
                }
            }
        }
    }
}

fn is_before(plan: &Plan, packets: &Packets, one: PacketId, other: PacketId) -> bool {
    age(plan, packets.get(one)) < age(plan, packets.get(other))
}

/// Inserts a packet before the last packet of a list. Returns the list's new first packet.
#[cold]
fn insert_before(plan: &Plan, packets: &mut Packets, first: PacketId, id: PacketId) -> PacketId {
    if is_before(plan, packets, id, first) {
        packets.get_mut(id).next = Some(first);
        return id;
    }
    let mut before = first;
    let next = loop {
        let next = packets.get(before).next.expect("the last comes later");
        if is_before(plan, packets, id, next) {
            break next;
        }
        before = next;
    };
    packets.get_mut(before).next = Some(id);
    packets.get_mut(id).next = Some(next);
    first
}
