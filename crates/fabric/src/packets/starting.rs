//! A packet starts on a channel: what that settles, of the channel, of the buffer that it leaves,
//! and of the one that it comes to.

use crate::packets::event::Event;
use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId, Place};
use gingham_model::PacketsPlan;
use gingham_topology::{ChannelId, Fabric};

/// Blocks that a packet takes.
#[inline]
pub(crate) fn blocks_of(wire_bytes: u32) -> u32 {
    let blocks = PacketsPlan::blocks(wire_bytes.into());
    u32::try_from(blocks).expect("fewer blocks than bytes")
}

impl Network {
    /// A packet that stands nowhere starts now on a lane of an idle channel, with space for it
    /// there. Returns when its tail leaves.
    pub(crate) fn start(&mut self, id: PacketId, channel: ChannelId, lane: u8) -> u64 {
        let wire_bytes = self.packets.get(id).wire_bytes;
        let timing = *self.plan.channel(channel);
        let now = self.clock.now();
        let span_ps = timing.bytes.of(wire_bytes.into()).as_ps();
        let (end_ps, arrival_ps) = (now + span_ps, now + timing.delay.as_ps());
        self.active.insert(channel.index());
        if self.links.is_into_switch(channel) {
            match &mut self.pauses {
                None => self.credits.take(channel, lane, blocks_of(wire_bytes)),
                Some(pauses) => {
                    let whole_ps = arrival_ps + timing.bytes.of(1).as_ps();
                    pauses.come((channel, lane), wire_bytes, whole_ps, &mut self.clock);
                }
            }
            self.come(id, channel, lane, arrival_ps);
        } else {
            self.packets.get_mut(id).came_ps = arrival_ps;
            self.clock.schedule(arrival_ps + span_ps, Event::Deliver { channel, packet: id });
        }
        end_ps
    }

    /// A packet has started on a channel and comes to the switch at its end, where its first byte
    /// arrives at an instant.
    fn come(&mut self, id: PacketId, channel: ChannelId, lane: u8, arrival_ps: u64) {
        let plan = &self.plan;
        let packet = self.packets.get_mut(id);
        let output = packet.output_at(plan, plan.fabric.target(channel).node);
        let (lanes, dateline_class) = plan.lanes.allowed.onward(
            &plan.fabric,
            packet.packet.vc_class,
            packet.dateline_class,
            channel,
            output,
        );
        assert!(!lanes.is_empty(), "no packet is sent that would be dropped");
        packet.switches += 1;
        (packet.input, packet.lane, packet.output) = (channel, lane, output);
        (packet.lanes, packet.dateline_class) = (lanes, dateline_class);
        (packet.came_ps, packet.place) = (arrival_ps, Place::Coming);
        let head_ps = self.inputs.read_head(channel, arrival_ps, &self.packets_plan);
        self.standing.come(channel, lane, packet.wire_bytes, arrival_ps);
        let wire_bytes = u64::from(packet.wire_bytes);
        let (slow, fast) = (plan.channel(channel).bytes, plan.channel(output).bytes);
        // Onto a faster channel only when it cannot run dry.
        let dry_ps = if slow == fast {
            0
        } else {
            let last = arrival_ps + slow.of(wire_bytes).as_ps();
            last.saturating_sub(fast.of(wire_bytes - 1).as_ps())
        };
        if self.wanted.read {
            self.clock.schedule(head_ps, Event::Read { channel, packet: id });
        }
        self.clock.schedule(head_ps.max(dry_ps), Event::Ready { channel, packet: id });
    }

    /// A packet begins to leave the buffer in which it waited, and has left it at an instant: what
    /// it took will be known to be free.
    pub(crate) fn leave_buffer(&mut self, of: &Moving, end_ps: u64) {
        let Moving { input, lane, wire_bytes, came_ps, .. } = *of;
        self.inputs.leave(input, wire_bytes, end_ps - came_ps);
        self.standing.leave(input, lane, came_ps, end_ps);
        self.active.insert(input.index());
        if let Some(pauses) = &mut self.pauses {
            return pauses.leave((input, lane), wire_bytes, end_ps, &mut self.clock);
        }
        let blocks = blocks_of(wire_bytes);
        if self.losses.is_some() {
            return self.free_at(input, lane, blocks, end_ps);
        }
        let known_ps = self.known_ps(input, end_ps);
        self.credits.give_back(input, lane, blocks, known_ps, &mut self.clock);
    }

    /// When it is known to the sender of a channel what came free at its end at an instant.
    #[inline]
    pub(crate) fn known_ps(&self, input: ChannelId, free_ps: u64) -> u64 {
        let back = self.plan.channel(Fabric::reverse(input)).delay;
        free_ps + (back + self.packets_plan.credit_delay).as_ps()
    }
}
