//! Rules of switches beside oldest first: other orders, inputs that are read by one output at a
//! time, and how often a packet may be overtaken.

use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId};
use crate::packets::switches::{Candidates, LANES, is_by_age};
use crate::packets::waiting::{Age, age};
use gingham_model::{Among, Arbitration, OvertakingPlan, PacketsPlan, Plan, Read};
use gingham_topology::ChannelId;

/// How switches choose.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    /// Whether the first of those that may take the same lanes always is what goes.
    pub(crate) are_plain: bool,
    /// Whether what one output starts may keep another from something, or let it go.
    pub(crate) couple_outputs: bool,
    arbitration: Arbitration,
    overtaking: OvertakingPlan,
    lane_count: usize,
    /// By channel, where inputs are read by one output at a time: until when each is.
    read_until_ps: Vec<u64>,
    /// By channel and lane, where packets of one buffer may overtake each other: those that wait
    /// there.
    buffers: Vec<Vec<PacketId>>,
    /// By output and lane, for round robin: the input port of the last packet, and one more.
    after: Vec<u16>,
}

/// The place of a packet in the order of a switch: the least goes first.
type Place = (u64, Age);

impl Rules {
    pub(crate) fn new(plan: &Plan, of: &PacketsPlan) -> Self {
        let (channels, lane_count) = (plan.channels.len(), usize::from(plan.lanes.count));
        let is_single = of.read == Read::One;
        let is_by_buffer = of.overtaking.among == Among::AnyOutput;
        let is_in_turn = of.arbitration == Arbitration::RoundRobin;
        let of_lanes = |is_needed: bool| if is_needed { channels * lane_count } else { 0 };
        Self {
            are_plain: is_by_age(of.arbitration) && !is_single && !is_by_buffer,
            couple_outputs: is_single || is_by_buffer,
            arbitration: of.arbitration,
            overtaking: of.overtaking,
            lane_count,
            read_until_ps: vec![0; if is_single { channels } else { 0 }],
            buffers: vec![Vec::new(); of_lanes(is_by_buffer)],
            after: vec![0; of_lanes(is_in_turn)],
        }
    }

    // What happens.

    /// A packet is ready.
    pub(crate) fn on_ready(&mut self, id: PacketId, network: &Network) {
        if !self.buffers.is_empty() {
            let buffer = self.buffer(network.packets.get(id));
            self.buffers[buffer].push(id);
        }
    }

    /// A packet is about to start on a lane of an output: what it overtakes.
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
        let own = self.place(id, output, lane, network);
        let mut overtaken = self.in_order(output, lane, network);
        overtaken.retain(|other| self.place(*other, output, lane, network) < own);
        let packet = *network.packets.get(id);
        if !self.buffers.is_empty() {
            let of = self.buffer(&packet);
            self.buffers[of].retain(|other| *other != id);
            let age = age(&network.plan, &packet);
            let is_older = |other: &PacketId| age_of(*other, network) < age;
            overtaken.extend(self.buffers[of].iter().filter(|other| is_older(other)));
            overtaken.sort_unstable();
            overtaken.dedup();
        }
        for other in overtaken {
            network.packets.get_mut(other).overtaken += 1;
        }
        if let Some(after) =
            self.after.get_mut(output.index() * self.lane_count + usize::from(lane))
        {
            *after = network.plan.fabric.target(packet.input).port + 1;
        }
    }

    /// A packet that came by a channel starts; its tail leaves at an instant.
    #[inline]
    pub(crate) fn on_start(&mut self, input: ChannelId, end_ps: u64) {
        if let Some(until_ps) = self.read_until_ps.get_mut(input.index()) {
            *until_ps = end_ps;
        }
    }

    // What may go.

    /// By lane of an output: what goes next.
    pub(crate) fn candidates(&self, output: ChannelId, network: &Network) -> Candidates {
        let mut candidates = [None; LANES];
        for lane in 0..network.plan.lanes.count {
            candidates[usize::from(lane)] = self.candidate(output, lane, network);
        }
        candidates
    }

    fn candidate(&self, output: ChannelId, lane: u8, network: &Network) -> Option<PacketId> {
        for id in self.in_order(output, lane, network) {
            if self.is_held_back(id, network) {
                continue;
            }
            let packet = network.packets.get(id);
            if !self.is_being_read(packet, network) {
                return Some(id);
            }
            if packet.overtaken >= self.overtaking.at_most {
                return None;
            }
        }
        None
    }

    /// The first in the order of those that may take a lane of an output and that nothing holds
    /// back, whether it can be read or not.
    pub(crate) fn first(&self, output: ChannelId, lane: u8, network: &Network) -> Option<PacketId> {
        let mut in_order = self.in_order(output, lane, network).into_iter();
        in_order.find(|id| !self.is_held_back(*id, network))
    }

    /// Whether an older packet of its buffer is waited for.
    pub(crate) fn is_held_back(&self, id: PacketId, network: &Network) -> bool {
        let packet = network.packets.get(id);
        let Some(buffer) = self.buffers.get(self.buffer(packet)) else { return false };
        let age = age(&network.plan, packet);
        buffer.iter().any(|other| {
            let is_overtaken = network.packets.get(*other).overtaken >= self.overtaking.at_most;
            is_overtaken && age_of(*other, network) < age
        })
    }

    fn is_being_read(&self, packet: &Moving, network: &Network) -> bool {
        let until_ps = self.read_until_ps.get(packet.input.index());
        until_ps.is_some_and(|until_ps| *until_ps > network.clock.now())
    }

    // The order.

    /// What waits for an output and may take a lane, in the order of the switch.
    fn in_order(&self, output: ChannelId, lane: u8, network: &Network) -> Vec<PacketId> {
        let lists = network.waiting.lists(output).iter().filter(|list| list.lanes.contains(lane));
        let mut all: Vec<_> = lists.flat_map(|list| list.iter(&network.packets)).collect();
        all.sort_unstable_by_key(|id| self.place(*id, output, lane, network));
        all
    }

    fn place(&self, id: PacketId, output: ChannelId, lane: u8, network: &Network) -> Place {
        let packet = network.packets.get(id);
        let age = age(&network.plan, packet);
        let first = match self.arbitration {
            Arbitration::OldestFirst => 0,
            Arbitration::StrictPriority => u64::MAX - packet.packet.priority.level() as u64,
            Arbitration::RoundRobin => {
                let after = self.after[output.index() * self.lane_count + usize::from(lane)];
                // Ports after the last one come first, in their order.
                let is_before = age.1 < after;
                u64::from(is_before) << 32 | u64::from(age.1)
            }
        };
        (first, age)
    }

    fn buffer(&self, packet: &Moving) -> usize {
        packet.input.index() * self.lane_count + usize::from(packet.lane)
    }
}

fn age_of(id: PacketId, network: &Network) -> Age {
    age(&network.plan, network.packets.get(id))
}
