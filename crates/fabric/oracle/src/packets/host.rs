//! Hosts: create messages, and send and receive packets.

use crate::legs::Legs;
use crate::packets::buffer::Buffered;
use crate::packets::event::Event;
use crate::packets::journey::{Journey, JourneyId};
use crate::packets::output::{Leaves, Sending};
use crate::packets::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{
    BLOCK_BYTES, Next, Notice, Order, OutputLoad, PacketsPlan, PausesPlan, Turn, Weighing,
};
use gingham_topology::routing::{DatelineClass, LaneSet};
use gingham_topology::{ChannelId, EndpointId, Fabric};

#[derive(Clone, Copy, Debug)]
struct Candidate {
    group: usize,
    wire_bytes: u64,
    created: Time,
}

impl Simulation {
    pub(crate) fn notify(&mut self, notice: Notice<'_>) {
        self.endpoints.notify(self.timeline.now, notice);
        self.carry_out();
    }

    pub(crate) fn carry_out(&mut self) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    let channel = self.plan.fabric.endpoint_channel(endpoint);
                    self.timeline.cause(self.timeline.now, Event::Start { channel });
                }
                Order::CreateAt { source, at } => self.timeline.cause(at, Event::Create { source }),
                Order::WakeAt { endpoint, at } => self.timeline.cause(at, Event::Wake { endpoint }),
                Order::Weigh(Weighing { channel, lane, weight, .. }) => {
                    self.outputs[channel.index()].arbiter.weigh(lane, weight);
                }
                Order::Gather => self.notify_gathered(),
            }
        }
    }

    pub(crate) fn notify_lanes(&mut self, output: ChannelId) {
        let (state, space_blocks) = (&self.outputs[output.index()], self.watched.space_blocks);
        let has_space = |lane| state.has_space(lane, space_blocks[usize::from(lane)].into());
        if let Some(free) = self.watched.change(output, has_space) {
            self.notify(Notice::Lanes { output, free });
        }
    }

    fn notify_gathered(&mut self) {
        let full = self.watched.full(|channel, lane| !self.has_space(channel, lane));
        self.endpoints.notify(self.timeline.now, Notice::Gathered { full });
    }

    fn has_space(&self, channel: ChannelId, lane: u8) -> bool {
        let blocks = self.watched.space_blocks[usize::from(lane)];
        self.outputs[channel.index()].has_space(lane, blocks.into())
    }

    pub(crate) fn left_host(&mut self, channel: ChannelId, sending: &Sending) {
        let endpoint = self.hosts[channel.index()].expect("a host sends here");
        let Sending { packet, started: began, wire_bytes: flits, .. } = *sending;
        if self.endpoints.wanted().left {
            let flit = self.plan.channel(channel).flit;
            let content = self.journeys.get(packet).packet.content;
            self.notify(Notice::Left { endpoint, began, flits, flit, content });
        }
        self.timeline.cause(self.timeline.now, Event::Start { channel });
    }

    pub(crate) fn arrived(&mut self, packet: JourneyId) {
        let journey = self.journeys.remove(packet);
        let (packet, arrival) = (&journey.packet, &journey.arrival(self.timeline.now));
        self.notify(Notice::Received { packet, arrival });
    }

    /// Starts a packet if possible. Returns whether packets are ready but all lack credits.
    pub(crate) fn choose_at_host(&mut self, endpoint: EndpointId, channel: ChannelId) -> bool {
        let (candidates, is_any_ready) = self.candidates_at_host(endpoint, channel);
        let head = |candidate: &Candidate| Head {
            length_bytes: u32::try_from(candidate.wire_bytes).expect("a packet is below 4 GiB"),
            arrival_ps: candidate.created.as_ps(),
        };
        let heads: Vec<_> = candidates.iter().map(|found| found.as_ref().map(head)).collect();
        if let Some(lane) = self.choose_lane(channel, &heads) {
            let chosen = candidates[usize::from(lane)].expect("a lane that can be chosen was");
            self.begin(endpoint, lane, chosen.group);
        }
        is_any_ready && candidates.iter().all(Option::is_none)
    }

    /// Returns the packet that each lane could start, and whether any packet is ready, even if it
    /// lacks credits.
    fn candidates_at_host(
        &mut self,
        endpoint: EndpointId,
        channel: ChannelId,
    ) -> (Vec<Option<Candidate>>, bool) {
        let mut candidates = vec![None; self.plan.lanes.count.into()];
        let mut is_any_ready = false;
        // Groups are sorted by lanes, so a lane serves the lowest group that includes it.
        for (group, lanes) in self.waiting_groups(endpoint) {
            let Some(next) = self.next_of(endpoint, channel, group) else { continue };
            is_any_ready = true;
            let blocks = PacketsPlan::blocks(next.wire_bytes);
            for lane in lanes.lanes() {
                let candidate: &mut Option<Candidate> = &mut candidates[usize::from(lane)];
                if candidate.is_some() {
                    continue;
                }
                if self.outputs[channel.index()].has_space(lane, blocks) {
                    *candidate = Some(next);
                } else {
                    self.await_space(channel, lane);
                }
            }
        }
        (candidates, is_any_ready)
    }

    fn waiting_groups(&self, endpoint: EndpointId) -> Vec<(usize, LaneSet)> {
        let adapter = self.endpoints.adapter(endpoint);
        let waiting = adapter.waiting_groups();
        let waits = |group: usize| waiting >> group & 1 == 1;
        adapter.groups().enumerate().filter(|(group, _)| waits(*group)).collect()
    }

    /// Returns the packet that a group could start now. Otherwise schedules a new attempt if a
    /// packet may start later.
    fn next_of(
        &mut self,
        endpoint: EndpointId,
        channel: ChannelId,
        group: usize,
    ) -> Option<Candidate> {
        match self.endpoints.next(endpoint, group, self.timeline.now) {
            Next::Packet { payload_bytes, created } => {
                let wire_bytes = self.packets.wire_bytes(payload_bytes);
                Some(Candidate { group, wire_bytes, created })
            }
            Next::At(time) => {
                self.timeline.cause(time, Event::Start { channel });
                None
            }
            Next::Nothing => None,
        }
    }

    fn loads(&self, endpoint: EndpointId) -> Vec<OutputLoad> {
        let load = |output: ChannelId| {
            let lanes = || 0..self.plan.lanes.count;
            let of = &self.outputs[output.index()];
            let credits = of.credits.iter().flatten();
            let node = self.plan.ends(output).source.node;
            let inputs = self.channels_into(node).map(|input| self.input(input));
            let buffered = inputs.flat_map(|input| input.lanes.iter().flatten());
            let waiting = buffered.filter(|of| of.waits() && of.output == output);
            let crossed = lanes().filter_map(|lane| self.output_lane(output, lane));
            let crossed = crossed.flat_map(|lane| &lane.packets).filter(|of| !of.has_started);
            OutputLoad {
                credits_out: credits.map(|of| of.capacity - of.free()).sum(),
                waiting_bytes: waiting.map(|of| of.wire_bytes).sum::<u64>()
                    + crossed.map(|of| of.wire_bytes).sum::<u64>(),
            }
        };
        self.plan.first_outputs(endpoint).map(load).collect()
    }

    fn begin(&mut self, endpoint: EndpointId, lane: u8, group: usize) {
        if self.endpoints.wanted().loads {
            let loads = self.loads(endpoint);
            self.notify(Notice::Loads { endpoint, loads: &loads });
        }
        let Turn::Send(packet) = self.endpoints.turn(endpoint, group, self.timeline.now) else {
            panic!("the adapter had a packet that may begin")
        };
        if self.endpoints.wanted().began.has(&packet) {
            self.notify(Notice::Began { endpoint, packet: &packet });
        }
        let legs = self.plan.legs(packet.path_id, packet.source, packet.destination);
        let legs = legs.expect("destinations are drawn among those that a route reaches");
        let path = legs.concat();
        let journey = Journey {
            packet,
            length: self.plan.length_of(&path[1..]),
            path,
            legs: Legs::new(&legs),
            wire_bytes: self.packets.wire_bytes(packet.payload_bytes),
            position: 0,
            dateline_class: DatelineClass(0),
            head_arrived: None,
        };
        let packet = self.journeys.insert(journey);
        self.start(packet, lane, Leaves::Host);
    }
}

// Channels: a packet starts, reserves space at the end of its channel, and leaves.

impl Simulation {
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
        self.check_on_arrival(channel, lane);
        let (delay, interval) = (self.packets.forwarding_delay, self.packets.head_interval);
        let input = self.input_mut(channel);
        input.lanes[usize::from(lane)].push(buffered);
        let earliest = came + delay;
        let head = input.last_head.map_or(earliest, |last| earliest.max(last + interval));
        input.last_head = Some(head);
        self.timeline.cause(head, Event::ReadHead { channel, lane, packet });
    }

    pub(crate) fn lanes_onward(
        &self,
        packet: JourneyId,
        channel: ChannelId,
    ) -> (LaneSet, DatelineClass) {
        let journey = self.journeys.get(packet);
        let state = (journey.position, journey.dateline_class);
        let channels = [channel, journey.next_channel()];
        journey.legs.lanes_onward(&self.plan, &journey.packet, state, channels)
    }
}

// Lane pauses: a receiver requests a pause when a buffer fills, and revokes the request when the
// buffer has emptied.
//
// ```text
//   x: fill rises above `pause` ── t'(frame) + d' + response time = D ──► x + D: no packet starts on the lane
//   y: fill falls to `resume`   ── D ───────────────────────────────────► y + D: packets may start
// ```
//
// Source: IEEE 802.1Qbb, as specified in `docs/concepts/timing-packets.md`.
//
// Invariant: no buffer has overflowed when its receiver checks it.

#[derive(Clone, Debug)]
pub(crate) struct Pausing {
    pub(crate) lanes: Vec<LanePause>,
    pub(crate) pauses: u64,
    since: Option<Time>,
    past_ps: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LanePause {
    pub(crate) is_asked: bool,
    /// Whether the last request to reach the sender was a pause.
    pub(crate) is_paused: bool,
    in_flight: u32,
    /// Whether the host has found no space since the last pause ended.
    is_awaited: bool,
}

impl Pausing {
    pub(crate) fn new(lanes: u8) -> Self {
        let lanes = vec![LanePause::default(); lanes.into()];
        Self { lanes, pauses: 0, since: None, past_ps: 0 }
    }

    /// Returns the total time, in ps, with at least one lane paused, up to `end`, which must not be
    /// in the past.
    pub(crate) fn paused_ps(&self, end: Time) -> u64 {
        self.past_ps + self.since.map_or(0, |since| end.since(since).as_ps())
    }

    /// Applies a pause or resume request. Returns whether the sender was waiting for the lane.
    fn receive_pause(&mut self, lane: u8, is_pause: bool, now: Time) -> bool {
        let of = &mut self.lanes[usize::from(lane)];
        of.in_flight -= 1;
        of.is_paused = is_pause;
        let was_awaited = !is_pause && std::mem::take(&mut of.is_awaited);
        self.pauses += u64::from(is_pause);
        let is_any = self.lanes.iter().any(|lane| lane.is_paused);
        self.past_ps = self.paused_ps(now);
        self.since = is_any.then_some(now);
        was_awaited
    }
}

impl LanePause {
    /// Returns whether the lane stays paused until the buffer at the end of the channel empties.
    pub(crate) const fn is_held(self) -> bool {
        self.is_asked && self.in_flight == 0
    }
}

impl Simulation {
    fn pausing_mut(&mut self, channel: ChannelId) -> &mut Pausing {
        self.outputs[channel.index()].pausing.as_mut().expect("a buffer whose receiver pauses")
    }

    fn pauses(&self) -> &PausesPlan {
        self.packets.pauses.as_ref().expect("receivers pause")
    }

    /// Schedules a buffer check for the time when the first byte of a packet that starts now
    /// arrives.
    pub(crate) fn check_on_arrival(&mut self, channel: ChannelId, lane: u8) {
        if self.packets.pauses.is_some() {
            let first = self.first_byte_takes(channel);
            self.timeline.cause(self.timeline.now + first, Event::CheckBuffer { channel, lane });
        }
    }

    fn first_byte_takes(&self, channel: ChannelId) -> gingham_kernel::Span {
        let of = self.plan.channel(channel);
        of.delay + of.bytes.of(1)
    }

    pub(crate) fn await_space(&mut self, channel: ChannelId, lane: u8) {
        match &mut self.outputs[channel.index()].pausing {
            Some(pausing) => pausing.lanes[usize::from(lane)].is_awaited = true,
            None => self.credits_mut(channel, lane).is_awaited = true,
        }
    }

    pub(crate) fn check_buffer(&mut self, channel: ChannelId, lane: u8) {
        self.assert_no_overflow(channel, lane);
        let fill = self.fill_bytes(channel, lane);
        let pauses = self.pauses();
        let [pause, resume] =
            [&pauses.pause_bytes, &pauses.resume_bytes].map(|marks| marks[usize::from(lane)]);
        let back = self.plan.channel(Fabric::reverse(channel));
        let received = self.timeline.now + pauses.effect_delay(back);
        let of = &mut self.pausing_mut(channel).lanes[usize::from(lane)];
        let is_pause = if of.is_asked { fill > resume } else { fill > pause };
        if is_pause != of.is_asked {
            of.is_asked = is_pause;
            of.in_flight += 1;
            self.timeline.cause(received, Event::PauseReceived { channel, lane, is_pause });
        }
    }

    pub(crate) fn pause_received(&mut self, channel: ChannelId, lane: u8, is_pause: bool) {
        let now = self.timeline.now;
        let was_awaited = self.pausing_mut(channel).receive_pause(lane, is_pause, now);
        let is_of_host = self.hosts[channel.index()].is_some();
        if was_awaited || !is_of_host {
            self.timeline.cause(now, Event::Start { channel });
        }
    }

    fn fill_bytes(&self, channel: ChannelId, lane: u8) -> u64 {
        let first = self.plan.channel(channel).bytes.of(1);
        let buffer = self.input(channel).lane(lane).iter();
        let come = buffer.filter(|buffered| buffered.came + first <= self.timeline.now);
        come.map(|buffered| buffered.wire_bytes).sum()
    }

    pub(crate) fn assert_no_overflow(&self, channel: ChannelId, lane: u8) {
        let holds = u64::from(self.packets.buffer_blocks[usize::from(lane)]);
        let fill = self.fill_bytes(channel, lane);
        assert!(fill <= holds * u64::from(BLOCK_BYTES), "a buffer overflowed: {fill} bytes");
    }
}
