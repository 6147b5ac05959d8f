//! A packet starts on a channel: what that settles, of the channel, of the buffer that it leaves,
//! and of the one that it comes to.

use crate::packets::event::Event;
use crate::packets::links::Line;
use crate::packets::network::Network;
use crate::packets::packet::{Moving, PacketId, Place};
use gingham_model::PacketsPlan;
use gingham_topology::ChannelId;

/// Blocks that a packet takes.
#[inline]
pub(crate) fn blocks_of(wire_bytes: u32) -> u32 {
    let blocks = PacketsPlan::blocks(wire_bytes.into());
    u32::try_from(blocks).expect("fewer blocks than bytes")
}

/// How a packet stands in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stay {
    pub(crate) input: ChannelId,
    pub(crate) lane: u8,
    pub(crate) wire_bytes: u32,
    pub(crate) came_ps: u64,
}

impl From<&Moving> for Stay {
    #[inline]
    fn from(packet: &Moving) -> Self {
        let Moving { input, lane, wire_bytes, came_ps, .. } = *packet;
        Self { input, lane, wire_bytes, came_ps }
    }
}

impl Network {
    /// A packet that stands in no list starts now on a lane of an idle channel, with space for it
    /// there. Returns how it stood where it was, and when its tail leaves.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn start(&mut self, id: PacketId, channel: ChannelId, lane: u8) -> (Stay, u64) {
        let Self { clock, packets, links, credits, pauses, active, .. } = self;
        let Line { bytes, delay_ps, is_into_switch, .. } = *links.line(channel);
        let packet = packets.get_mut(id);
        let stay = Stay::from(&*packet);
        let now = clock.now();
        let span_ps = bytes.of(stay.wire_bytes.into()).as_ps();
        packet.came_ps = now + delay_ps;
        active.insert(channel.index());
        if is_into_switch {
            match pauses {
                None => credits.take(channel, lane, blocks_of(stay.wire_bytes)),
                Some(pauses) => {
                    let whole_ps = packet.came_ps + bytes.of(1).as_ps();
                    pauses.come((channel, lane), stay.wire_bytes, whole_ps, clock);
                }
            }
            if self.watched.are_outputs() {
                self.look_for_space(channel, lane);
            }
            self.come(id, channel, lane, span_ps);
        } else {
            packet.place = Place::Leaving;
            clock.schedule(packet.came_ps + span_ps, Event::Deliver { channel, packet: id });
        }
        (stay, now + span_ps)
    }

    /// A packet that takes so long has started on a channel and comes to the switch at its end.
    #[expect(clippy::inline_always, reason = "it is called in one place")]
    #[inline(always)]
    fn come(&mut self, id: PacketId, channel: ChannelId, lane: u8, span_ps: u64) {
        let Self { plan, packets_plan, clock, packets, links, standing, .. } = self;
        let packet = packets.get_mut(id);
        let output = packet.output_at(plan, links.line(channel).target);
        let (lanes, dateline_class) = plan.lanes.allowed.onward(
            &plan.fabric,
            packet.packet.vc_class,
            packet.dateline_class,
            channel,
            output,
            packet.packet.destination,
        );
        assert!(!lanes.is_empty(), "no packet is sent that would be dropped");
        packet.switches += 1;
        (packet.input, packet.lane, packet.output) = (channel, lane, output);
        (packet.lanes, packet.dateline_class) = (lanes, dateline_class);
        packet.place = Place::Coming;
        let (wire_bytes, arrival_ps) = (packet.wire_bytes, packet.came_ps);
        let head_ps = links.read_head(channel, arrival_ps, packets_plan);
        if self.wanted.read {
            // Who reads it may divert it: only then it is known when it is ready.
            standing.come(channel, lane, wire_bytes, arrival_ps);
            return clock.schedule(head_ps, Event::Read { channel, packet: id });
        }
        let last_ps = arrival_ps + span_ps;
        let dry_ps = links.never_dry_ps((channel, output), wire_bytes, last_ps);
        clock.schedule(head_ps.max(dry_ps), Event::Ready { channel, packet: id });
        if dry_ps > head_ps && self.wanted.switched.are_stays() {
            // Else it is ready at once, and that is the event.
            clock.schedule(head_ps, Event::Read { channel, packet: id });
        }
    }

    /// A packet begins to leave the buffer in which it waited, and has left it at an instant: what
    /// it took will be known to be free.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn leave_buffer(&mut self, of: Stay, end_ps: u64) {
        let Stay { input, lane, wire_bytes, came_ps } = of;
        self.credits.leave(input, lane, wire_bytes, end_ps - came_ps);
        if self.wanted.read {
            let times = (self.clock.now(), end_ps);
            self.standing.leave(input, lane, wire_bytes, times);
        }
        if let Some(pauses) = &mut self.pauses {
            return pauses.leave((input, lane), wire_bytes, end_ps, &mut self.clock);
        }
        let blocks = blocks_of(wire_bytes);
        if self.losses.is_some() {
            return self.free_at(input, lane, blocks, end_ps);
        }
        let known_ps = self.credits.known_ps(input, lane, end_ps);
        self.credits.give_back(input, lane, blocks, known_ps, &mut self.clock);
    }
}
