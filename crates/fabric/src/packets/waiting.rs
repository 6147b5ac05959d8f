//! Packets that are ready and wait for an output of their switch, the oldest first.
//!
//! ```text
//!   output   lanes 0, 1   p4 ─► p7 ─► p9      a list for each set of lanes that packets here may take
//!            lane 2       p5
//! ```
//!
//! Lists go through the packets themselves. The order is that of arrival at the switch, then of
//! input port and lane.

use crate::packets::packet::{Moving, PacketId, Packets, Place};
use gingham_model::Plan;
use gingham_topology::ChannelId;
use gingham_topology::routing::LaneSet;
use smallvec::SmallVec;

/// Those that may take the same lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct List {
    pub(crate) lanes: LaneSet,
    /// The first and the last.
    ends: Option<(PacketId, PacketId)>,
}

impl List {
    /// The oldest.
    #[inline]
    pub(crate) fn first(&self) -> Option<PacketId> {
        self.ends.map(|(first, _)| first)
    }

    /// All, the oldest first.
    pub(crate) fn iter<'a>(&self, packets: &'a Packets) -> impl Iterator<Item = PacketId> + 'a {
        std::iter::successors(self.first(), |id| packets.get(*id).next)
    }
}

/// By age: what comes first is the least.
pub(crate) type Age = (u64, u16, u8);

/// The age of a packet at a switch.
#[inline]
pub(crate) fn age(plan: &Plan, packet: &Moving) -> Age {
    (packet.came_ps, plan.fabric.target(packet.input).port, packet.lane)
}

/// All that wait.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    /// By channel.
    lists: Vec<SmallVec<[List; 1]>>,
}

impl Waiting {
    pub(crate) fn new(channels: usize) -> Self {
        Self { lists: vec![SmallVec::new(); channels] }
    }

    /// The lists of an output.
    #[inline]
    pub(crate) fn lists(&self, output: ChannelId) -> &[List] {
        &self.lists[output.index()]
    }

    /// The oldest for an output of one lane.
    #[inline]
    pub(crate) fn first(&self, output: ChannelId) -> Option<PacketId> {
        self.lists(output).first()?.first()
    }

    /// A packet is ready.
    #[inline]
    pub(crate) fn insert(&mut self, plan: &Plan, packets: &mut Packets, id: PacketId) {
        let packet = packets.get_mut(id);
        (packet.place, packet.next, packet.overtaken) = (Place::Waiting, None, 0);
        let lists = &mut self.lists[packet.output.index()];
        let place = lists.iter().position(|list| list.lanes == packet.lanes);
        let place = place.unwrap_or_else(|| {
            lists.push(List { lanes: packet.lanes, ends: None });
            lists.len() - 1
        });
        let own = &mut lists[place];
        own.ends = Some(match own.ends {
            None => (id, id),
            Some((first, last)) if is_before(plan, packets, last, id) => {
                packets.get_mut(last).next = Some(id);
                (first, id)
            }
            Some((first, last)) => (insert_before(plan, packets, first, id), last),
        });
    }

    /// A packet begins to leave.
    #[inline]
    pub(crate) fn remove(&mut self, packets: &mut Packets, id: PacketId) {
        let Moving { output, lanes, next, .. } = *packets.get(id);
        let lists = &mut self.lists[output.index()];
        let own = lists.iter_mut().find(|of| of.lanes == lanes);
        let own = own.expect("what waits stands in a list");
        let (first, last) = own.ends.expect("what waits stands in a list");
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
}

fn is_before(plan: &Plan, packets: &Packets, one: PacketId, other: PacketId) -> bool {
    age(plan, packets.get(one)) < age(plan, packets.get(other))
}

/// Puts a packet where it belongs, before the last of a list. Returns the first.
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
