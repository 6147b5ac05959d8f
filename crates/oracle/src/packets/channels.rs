//! Channels: a packet starts, takes its space at the other end, and leaves.

use crate::packets::buffer::Buffered;
use crate::packets::event::Event;
use crate::packets::journey::JourneyId;
use crate::packets::output::{Leaves, Sending};
use crate::packets::simulation::Simulation;
use gingham_model::PacketsPlan;
use gingham_topology::ChannelId;
use gingham_topology::routing::{DatelineClass, LaneSet};

impl Simulation {
    // Phase 2: left.

    pub(crate) fn left(&mut self, channel: ChannelId) {
        let output = &mut self.outputs[channel.index()];
        let sending = output.sending.take().expect("a tail was on the channel");
        output.sent_bytes += sending.wire_bytes;
        match sending.from {
            Leaves::Host => self.left_host(channel, &sending),
            Leaves::Input { channel: input, lane } => {
                self.left_switch(input, lane, sending.packet);
            }
            Leaves::Output { lane } => self.left_output(channel, lane, sending.packet),
        }
    }

    // Phase 6: start.

    pub(crate) fn choose(&mut self, channel: ChannelId) {
        let has_buffer = self.outputs[channel.index()].buffer.is_some();
        if has_buffer {
            self.cross_to(channel);
        }
        if self.outputs[channel.index()].sending.is_some() {
            return;
        }
        let waits = match self.hosts[channel.index()] {
            Some(endpoint) => self.choose_at_host(endpoint, channel),
            None if has_buffer => self.start_crossed(channel),
            None => self.choose_at_switch(channel),
        };
        let now = self.timeline.now;
        self.outputs[channel.index()].wait.set(waits, now);
    }

    /// A packet starts on the channel of its path to which its journey has come.
    pub(crate) fn start(&mut self, packet: JourneyId, lane: u8, from: Leaves) {
        let journey = self.journeys.get(packet);
        let (channel, wire_bytes) = (journey.path[journey.position], journey.wire_bytes);
        let of_channel = *self.plan.channel(channel);
        let started = self.timeline.now;
        self.outputs[channel.index()].sending = Some(Sending { packet, started, wire_bytes, from });
        let left = started + of_channel.bytes.of(wire_bytes);
        self.timeline.cause(left, Event::Left { channel });
        if self.inputs[channel.index()].is_some() {
            return self.enter(packet, channel, lane);
        }
        let head_arrived = started + of_channel.delay + of_channel.bytes.of(1);
        self.journeys.get_mut(packet).head_arrived = Some(head_arrived);
        self.timeline.cause(left + of_channel.delay, Event::Arrived { channel, packet });
    }

    /// A packet that starts on a channel into a switch takes its space there, whole.
    fn enter(&mut self, packet: JourneyId, channel: ChannelId, lane: u8) {
        let (lanes, dateline_class) = self.lanes_onward(packet, channel);
        let journey = self.journeys.get(packet);
        let output = journey.next_channel();
        let (of_packet, wire_bytes) = (&journey.packet, journey.wire_bytes);
        let blocks = PacketsPlan::blocks(wire_bytes);
        let came = self.timeline.now + self.plan.channel(channel).delay;
        let buffered = Buffered {
            packet,
            wire_bytes,
            blocks,
            came,
            output,
            lanes,
            dateline_class,
            level: self.packets.arbitration.level(of_packet.priority),
            is_ready: false,
            has_started: false,
            overtaken: 0,
        };
        if self.packets.pauses.is_none() {
            self.credits_mut(channel, lane).sent += blocks;
        }
        self.look_when_come(channel, lane);
        let (delay, interval) = (self.packets.forwarding_delay, self.packets.head_interval);
        let input = self.input_mut(channel);
        input.lanes[usize::from(lane)].push(buffered);
        let earliest = came + delay;
        let head = input.last_head.map_or(earliest, |last| earliest.max(last + interval));
        input.last_head = Some(head);
        self.timeline.cause(head, Event::ReadHead { channel, lane, packet });
    }

    /// The lanes on which a packet that comes by a channel may go on, and its dateline class there.
    pub(crate) fn lanes_onward(
        &self,
        packet: JourneyId,
        channel: ChannelId,
    ) -> (LaneSet, DatelineClass) {
        let journey = self.journeys.get(packet);
        let (lanes, dateline_class) = self.plan.lanes.allowed.onward(
            &self.plan.fabric,
            journey.packet.vc_class,
            journey.dateline_class,
            channel,
            journey.next_channel(),
            journey.packet.destination,
        );
        assert!(!lanes.is_empty(), "no packet is sent that would be dropped");
        (lanes, dateline_class)
    }
}
