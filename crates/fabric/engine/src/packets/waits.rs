//! Wait-for graph for deadlock checks, and checks of invariants.

use crate::packets::network::Network;
use crate::packets::network::blocks_of;
use crate::packets::packet::{Moving, PacketId, Place};
use crate::packets::pauses::Pauses;
use crate::packets::switches::Switches;
use gingham_net::{Wait, WaitForGraph};
use gingham_topology::ChannelId;
use gingham_topology::routing::Buffer;
use std::collections::BTreeMap;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits<'a> {
    pub(crate) network: &'a Network,
    pub(crate) switches: &'a Switches,
}

impl Waits<'_> {
    pub(crate) fn graph(self) -> WaitForGraph {
        let packets = self.network.packets.in_inputs();
        let mut waiting: Vec<(Buffer, PacketId)> = packets
            .filter(|(_, packet)| packet.place == Place::Waiting)
            .map(|(id, packet)| (buffer_of(packet), id))
            .collect();
        waiting.sort_unstable();
        waiting
            .chunk_by(|one, other| one.0 == other.0)
            .filter_map(|of| Some((of[0].0, self.waits_for(of)?)))
            .collect()
    }

    /// Returns the lane buffers that a buffer waits for; `None` if at least one of its packets can
    /// move.
    fn waits_for(self, of: &[(Buffer, PacketId)]) -> Option<Wait> {
        if self.are_others_there(of) {
            return None;
        }
        let packets = &self.network.packets;
        let mut waits = Vec::new();
        for (_, id) in of {
            if self.switches.rules.is_held_back(*id, self.network) {
                continue;
            }
            let packet = packets.get(*id);
            for lane in packet.lanes.lanes() {
                if !self.is_blocked(packet.output, lane) {
                    return None;
                }
                waits.push(Buffer { channel: packet.output, lane });
            }
        }
        waits.sort_unstable();
        waits.dedup();
        Some(Wait::Any(waits))
    }

    fn are_others_there(self, of: &[(Buffer, PacketId)]) -> bool {
        let Network { packets, credits, packets_plan, .. } = self.network;
        let Buffer { channel, lane } = of[0].0;
        let now = self.network.clock.now();
        let waiting = of.iter().map(|(_, id)| packets.get(*id).wire_bytes);
        if let Some(pauses) = self.network.flow_control.pauses() {
            let waiting: u64 = waiting.map(u64::from).sum();
            return pauses.taken_bytes(channel, lane, now) > waiting;
        }
        let waiting: u32 = waiting.map(blocks_of).sum();
        let all = packets_plan.buffer_blocks[usize::from(lane)];
        let left_ps = credits.known_ps(channel, lane, now);
        let [_, unreported] = self.network.flow_control.unknown_blocks(channel, lane);
        credits.free_until(channel, lane, left_ps) + unreported + waiting < all
    }

    /// Returns whether a lane gets space for its next packet only once other buffers empty.
    fn is_blocked(self, output: ChannelId, lane: u8) -> bool {
        let Network { packets, credits, flow_control, links, .. } = self.network;
        if !links.is_into_switch(output) {
            return false;
        }
        let blocks = |id| blocks_of(packets.get(id).wire_bytes);
        let first = || self.switches.rules.first(output, lane, self.network);
        let next = match &self.network.output_buffers {
            None => first(),
            Some(buffers) => {
                let free = buffers.free_soon(output, lane);
                if first().is_none_or(|id| blocks(id) <= free) {
                    return false;
                }
                buffers.first(output, lane, packets)
            }
        };
        if let Some(pauses) = flow_control.pauses() {
            return pauses.is_held(output, lane);
        }
        next.is_some_and(|id| {
            let unknown: u32 = self.network.flow_control.unknown_blocks(output, lane).iter().sum();
            credits.free(output, lane) + unknown < blocks(id)
        })
    }

    /// Checks that buffer blocks are conserved; slow, for tests.
    pub(crate) fn assert_invariants(self) {
        let Network { plan, packets, credits, flow_control, links, packets_plan, .. } =
            self.network;
        self.assert_outputs();
        if let Some(pauses) = flow_control.pauses() {
            return self.assert_taken(pauses);
        }
        let lane_count = usize::from(plan.lanes.count);
        let mut taken = vec![0; plan.channels.len() * lane_count];
        for (_, packet) in packets.in_inputs() {
            taken[packet.input.index() * lane_count + usize::from(packet.lane)] +=
                blocks_of(packet.wire_bytes);
        }
        let channels = ChannelId::first(plan.channels.len());
        for channel in channels.filter(|channel| links.is_into_switch(*channel)) {
            for lane in 0..plan.lanes.count {
                let taken = taken[channel.index() * lane_count + usize::from(lane)];
                let all = packets_plan.buffer_blocks[usize::from(lane)];
                let unknown: u32 =
                    self.network.flow_control.unknown_blocks(channel, lane).iter().sum();
                let free = credits.free(channel, lane) + unknown;
                assert_eq!(free + taken, all, "blocks are conserved");
            }
        }
    }
}

impl Waits<'_> {
    fn assert_outputs(self) {
        let Network { plan, packets, output_buffers, packets_plan, .. } = self.network;
        let Some(buffers) = output_buffers else { return };
        let blocks = packets_plan.output_blocks.expect("outputs have buffers");
        for channel in ChannelId::first(plan.channels.len()) {
            for lane in 0..plan.lanes.count {
                buffers.assert_space((channel, lane), packets, blocks[usize::from(lane)]);
            }
        }
    }

    fn assert_taken(self, pauses: &Pauses) {
        let mut taken = BTreeMap::new();
        for (_, packet) in self.network.packets.in_inputs() {
            *taken.entry(buffer_of(packet)).or_insert(0_u64) += u64::from(packet.wire_bytes);
        }
        for channel in ChannelId::first(self.network.plan.channels.len()) {
            for lane in 0..self.network.plan.lanes.count {
                let found = pauses.taken_bytes(channel, lane, u64::MAX);
                let expected = taken.get(&Buffer { channel, lane }).copied().unwrap_or(0);
                assert_eq!(found, expected, "bytes are conserved");
            }
        }
    }
}

fn buffer_of(packet: &Moving) -> Buffer {
    Buffer { channel: packet.input, lane: packet.lane }
}
