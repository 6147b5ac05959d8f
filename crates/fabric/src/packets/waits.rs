//! Who waits for whom: what a search for a deadlock looks at, and what must always hold.

use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId, Place};
use crate::packets::starting::blocks_of;
use crate::packets::switches::Switches;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::ChannelId;
use gingham_topology::routing::Buffer;

/// What a search looks at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waits<'a> {
    pub(crate) network: &'a Network,
    pub(crate) switches: &'a Switches,
}

impl Waits<'_> {
    /// A cycle of waits, if there is one.
    pub(crate) fn find_cycle(self) -> Option<WaitCycle> {
        let packets = self.network.packets.in_buffers();
        let mut waiting: Vec<(Buffer, PacketId)> = packets
            .filter(|(_, packet)| packet.place == Place::Waiting)
            .map(|(id, packet)| (buffer_of(packet), id))
            .collect();
        waiting.sort_unstable();
        let waits: Vec<(Buffer, Wait)> = waiting
            .chunk_by(|one, other| one.0 == other.0)
            .filter_map(|of| Some((of[0].0, self.waits_for(of)?)))
            .collect();
        WaitCycle::find(&waits)
    }

    /// What a buffer waits for, in which these packets wait, if it does.
    fn waits_for(self, of: &[(Buffer, PacketId)]) -> Option<Wait> {
        let Network { packets, credits, packets_plan, .. } = self.network;
        let Buffer { channel, lane } = of[0].0;
        let waiting: u32 = of.iter().map(|(_, id)| blocks_of(packets.get(*id).wire_bytes)).sum();
        let all = packets_plan.buffer_blocks[usize::from(lane)];
        let left_ps = self.network.inputs.known_ps(channel, self.network.clock.now());
        if credits.free_until(channel, lane, left_ps) + waiting < all {
            // Others are there that cannot go on yet, or are leaving.
            return None;
        }
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

    /// Whether a lane of an output stays short of space for what is to go next on it.
    fn is_blocked(self, output: ChannelId, lane: u8) -> bool {
        let Network { packets, credits, links, .. } = self.network;
        let first = self.switches.rules.first(output, lane, self.network);
        links.is_into_switch(output)
            && first.is_some_and(|id| {
                credits.free(output, lane) < blocks_of(packets.get(id).wire_bytes)
            })
    }

    /// Checks that blocks are conserved; for tests. Slow.
    pub(crate) fn assert_invariants(self) {
        let Network { plan, packets, credits, links, packets_plan, .. } = self.network;
        let lane_count = usize::from(plan.lanes.count);
        let mut taken = vec![0; plan.channels.len() * lane_count];
        for (_, packet) in packets.in_buffers() {
            taken[packet.input.index() * lane_count + usize::from(packet.lane)] +=
                blocks_of(packet.wire_bytes);
        }
        let channels = ChannelId::first(plan.channels.len());
        for channel in channels.filter(|channel| links.is_into_switch(*channel)) {
            for lane in 0..plan.lanes.count {
                let taken = taken[channel.index() * lane_count + usize::from(lane)];
                let all = packets_plan.buffer_blocks[usize::from(lane)];
                assert_eq!(credits.free(channel, lane) + taken, all, "blocks are conserved");
            }
        }
    }
}

fn buffer_of(packet: &Moving) -> Buffer {
    Buffer { channel: packet.input, lane: packet.lane }
}
