//! Switch rules beyond the default oldest first: other orders, inputs that only one output at a
//! time may read, and limits on overtaking.

use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId};
use crate::packets::switches::{Candidates, LANES};
use crate::packets::waiting::{Age, List, age};
use gingham_net::{Among, Arbitration, OvertakingPlan, PacketsPlan, Plan, Read};
use gingham_topology::ChannelId;
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Whether packets leave each list in list order.
    pub(crate) are_plain: bool,
    /// Whether a packet start on one output may block or unblock packets for another output.
    pub(crate) couple_outputs: bool,
    arbitration: Arbitration,
    overtaking: OvertakingPlan,
    lane_count: usize,
    /// End of the current read of each input channel, in ps; empty if several outputs may read an
    /// input at the same time.
    read_until_ps: Vec<u64>,
    /// Input buffer of each channel and lane; empty unless overtaking is limited within whole
    /// buffers.
    buffers: Vec<InputBuffer>,
    /// Round-robin pointer of each output and lane: the input port of the last packet, plus one.
    after: Vec<u16>,
}

/// Rank of a packet in the switch's serving order; the lowest rank goes first.
type Place = (u64, Age);

#[derive(Clone, Debug, Default)]
struct InputBuffer {
    waiting: VecDeque<PacketId>,
    /// Ages of packets that have reached the overtaking limit.
    exhausted: BTreeSet<Age>,
}

impl Rules {
    pub(crate) fn new(plan: &Plan, of: &PacketsPlan) -> Self {
        let (channels, lane_count) = (plan.channels.len(), usize::from(plan.lanes.count));
        let is_single = of.read == Read::One;
        let is_by_buffer = of.overtaking.among == Among::AnyOutput;
        let is_in_turn = of.arbitration == Arbitration::RoundRobin;
        let of_lanes = |is_needed: bool| if is_needed { channels * lane_count } else { 0 };
        Self {
            are_plain: is_plain(of),
            couple_outputs: is_single || is_by_buffer,
            arbitration: of.arbitration,
            overtaking: of.overtaking,
            lane_count,
            read_until_ps: vec![0; if is_single { channels } else { 0 }],
            buffers: vec![InputBuffer::default(); of_lanes(is_by_buffer)],
            after: vec![0; of_lanes(is_in_turn)],
        }
    }

    pub(crate) fn on_ready(&mut self, id: PacketId, network: &Network) {
        if self.buffers.is_empty() {
            return;
        }
        let packet = network.packets.get(id);
        let (buffer, age) = (self.buffer(packet), age(&network.plan, packet));
        let InputBuffer { waiting, exhausted } = &mut self.buffers[buffer];
        let place = waiting.partition_point(|other| age_of(*other, network) < age);
        waiting.insert(place, id);
        if self.overtaking.at_most == 0 {
            exhausted.insert(age);
        }
    }

    pub(crate) fn before_start(
        &mut self,
        id: PacketId,
        output: ChannelId,
        lane: u8,
        network: &mut Network,
    ) {
        if self.are_plain {
            return;
        }
        let packet = *network.packets.get(id);
        if self.couple_outputs {
            self.overtake(id, &packet, (output, lane), network);
        }
        if let Some(after) =
            self.after.get_mut(output.index() * self.lane_count + usize::from(lane))
        {
            *after = network.plan.fabric.target(packet.input).port + 1;
        }
    }

    /// Increments the overtaking counts of packets that precede `packet` in the order of the lane
    /// and, if the limit applies to whole buffers, of older packets in its buffer.
    fn overtake(
        &mut self,
        id: PacketId,
        packet: &Moving,
        (output, lane): (ChannelId, u8),
        network: &mut Network,
    ) {
        let limit = self.overtaking.at_most;
        let Network { plan, waiting, packets, .. } = network;
        let order = self.order(output, lane);
        let own = order.place(plan, packet);
        let comes_before = |other: &Moving| order.place(plan, other) < own;
        let (buffers, lane_count) = (&mut self.buffers, self.lane_count);
        let mut exhaust = |other: &Moving| {
            if let Some(buffer) = buffers.get_mut(buffer_at(other, lane_count)) {
                buffer.exhausted.insert(age(plan, other));
            }
        };
        waiting.overtake((output, lane), limit, packets, comes_before, &mut exhaust);
        let Some(buffer) = self.buffers.get_mut(buffer_at(packet, lane_count)) else { return };
        let InputBuffer { waiting, exhausted } = buffer;
        let own_age = age(plan, packet);
        let place = waiting.partition_point(|other| age(plan, packets.get(*other)) < own_age);
        for older in waiting.range(..place) {
            let other = packets.get_mut(*older);
            let is_of_lane = other.output == output && other.lanes.contains(lane);
            if is_of_lane && comes_before(other) || other.overtaken >= limit {
                continue;
            }
            other.overtaken += 1;
            if other.overtaken == limit {
                exhausted.insert(age(plan, other));
            }
        }
        assert_eq!(waiting.remove(place), Some(id), "a waiting packet is in its buffer");
        exhausted.remove(&own_age);
    }

    #[inline]
    pub(crate) fn on_start(&mut self, input: ChannelId, end_ps: u64) {
        if let Some(until_ps) = self.read_until_ps.get_mut(input.index()) {
            *until_ps = end_ps;
        }
    }

    pub(crate) fn candidates(&self, output: ChannelId, network: &Network) -> Candidates {
        let mut candidates = [None; LANES];
        for lane in 0..network.plan.lanes.count {
            candidates[usize::from(lane)] = self.candidate(output, lane, network);
        }
        candidates
    }

    /// Returns the first readable packet in serving order; `None` if the lane must wait for an
    /// earlier packet or no packet is readable.
    fn candidate(&self, output: ChannelId, lane: u8, network: &Network) -> Option<PacketId> {
        let order = self.order(output, lane);
        let mut next: Option<(Place, PacketId)> = None;
        let mut awaited: Option<Place> = None;
        for id in self.heads(output, lane, network) {
            let packet = network.packets.get(id);
            let place = order.place(&network.plan, packet);
            if !self.is_being_read(packet, network) {
                if next.is_none_or(|(least, _)| place < least) {
                    next = Some((place, id));
                }
            } else if packet.overtaken >= self.overtaking.at_most {
                awaited = Some(awaited.map_or(place, |least| least.min(place)));
            }
        }
        let (place, id) = next?;
        awaited.is_none_or(|awaited| place < awaited).then_some(id)
    }

    /// Returns the first packet in serving order that is not held back, even if it is not readable.
    pub(crate) fn first(&self, output: ChannelId, lane: u8, network: &Network) -> Option<PacketId> {
        let order = self.order(output, lane);
        let place = |id: &PacketId| order.place(&network.plan, network.packets.get(*id));
        self.heads(output, lane, network).min_by_key(place)
    }

    fn heads<'a>(
        &'a self,
        output: ChannelId,
        lane: u8,
        network: &'a Network,
    ) -> impl Iterator<Item = PacketId> + 'a {
        let lists = network.waiting.lists(output).iter();
        let of_lane = lists.filter(move |list| list.lanes.contains(lane));
        of_lane.filter_map(List::first).filter(move |id| !self.is_held_back(*id, network))
    }

    /// Returns whether an older packet in the same buffer has reached the overtaking limit and must
    /// go first.
    pub(crate) fn is_held_back(&self, id: PacketId, network: &Network) -> bool {
        let packet = network.packets.get(id);
        let Some(buffer) = self.buffers.get(self.buffer(packet)) else { return false };
        let oldest = buffer.exhausted.first();
        oldest.is_some_and(|oldest| *oldest < age(&network.plan, packet))
    }

    fn is_being_read(&self, packet: &Moving, network: &Network) -> bool {
        let until_ps = self.read_until_ps.get(packet.input.index());
        until_ps.is_some_and(|until_ps| *until_ps > network.clock.now())
    }

    fn order(&self, output: ChannelId, lane: u8) -> Order {
        let after = self.after.get(output.index() * self.lane_count + usize::from(lane));
        Order { arbitration: self.arbitration, after: after.copied().unwrap_or_default() }
    }

    fn buffer(&self, packet: &Moving) -> usize {
        buffer_at(packet, self.lane_count)
    }
}

#[derive(Clone, Copy, Debug)]
struct Order {
    arbitration: Arbitration,
    after: u16,
}

impl Order {
    fn place(self, plan: &Plan, packet: &Moving) -> Place {
        let age = age(plan, packet);
        let first = match self.arbitration {
            Arbitration::OldestFirst => 0,
            Arbitration::StrictPriority => u64::MAX - packet.packet.priority.level() as u64,
            Arbitration::RoundRobin => {
                // Ports after the last served port come first.
                let is_before = age.1 < self.after;
                u64::from(is_before) << 32 | u64::from(age.1)
            }
        };
        (first, age)
    }
}

pub(crate) fn is_plain(of: &PacketsPlan) -> bool {
    let is_of_output = of.overtaking.among == Among::SameOutput;
    of.arbitration == Arbitration::OldestFirst && of.read == Read::Any && is_of_output
}

fn buffer_at(packet: &Moving, lane_count: usize) -> usize {
    packet.input.index() * lane_count + usize::from(packet.lane)
}

fn age_of(id: PacketId, network: &Network) -> Age {
    age(&network.plan, network.packets.get(id))
}
