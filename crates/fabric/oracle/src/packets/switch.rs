//! Switches: read heads, and start packets on idle outputs.

use crate::packets::buffer::Buffered;
use crate::packets::event::Event;
use crate::packets::journey::JourneyId;
use crate::packets::output::Leaves;
use crate::packets::simulation::{Simulation, Waiting};
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{Notice, PacketsPlan, Read, Stay};
use gingham_topology::routing::DatelineClass;
use gingham_topology::{ChannelId, NodeId};
use std::cmp::Reverse;

impl Simulation {
    pub(crate) fn left_switch(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        let now = self.timeline.now;
        self.input_mut(input).leave(lane, packet, now);
        if self.packets.pauses.is_some() {
            self.timeline.cause(now, Event::CheckBuffer { channel: input, lane });
        } else {
            self.send_credit_update(input, lane);
        }
        self.wake_switch(self.plan.ends(input).target.node);
    }

    pub(crate) fn read_head(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        if self.endpoints.wanted().read {
            let waiting_flits = self.input(input).waiting_bytes(lane, self.timeline.now);
            let now = self.timeline.now;
            let of_packet = &mut self.journeys.get_mut(packet).packet;
            let diverted = self.endpoints.read(now, (input, lane), waiting_flits, of_packet);
            if let Some(into_end) = diverted {
                self.divert(input, lane, packet, into_end);
            }
            self.carry_out();
        }
        if self.endpoints.wanted().switched.are_stays() {
            let stay = self.stay(input, lane, packet);
            self.endpoints.notify(self.timeline.now, Notice::Queued { stay });
            self.timeline.cause(self.timeline.now, Event::Settle { channel: input, lane, packet });
        }
        let never_dry = self.never_dry(input, lane, packet);
        self.timeline
            .cause(self.timeline.now.max(never_dry), Event::Ready { channel: input, lane, packet });
    }

    fn divert(&mut self, input: ChannelId, lane: u8, packet: JourneyId, into_end: ChannelId) {
        let journey = self.journeys.get_mut(packet);
        journey.divert(&self.plan, into_end);
        let (lanes, dateline_class) = self.lanes_onward(packet, input);
        let buffered = self.input_mut(input).buffered_mut(lane, packet);
        buffered.output = into_end;
        (buffered.lanes, buffered.dateline_class) = (lanes, dateline_class);
    }

    fn stay(&self, input: ChannelId, lane: u8, packet: JourneyId) -> Stay {
        let mut there = self.input(input).lane(lane).iter();
        let found = there.find(|buffered| buffered.packet == packet).expect("it is here");
        let Buffered { came, wire_bytes, output, lanes, .. } = *found;
        Stay { input, lane, came, wire_bytes, output, lanes }
    }

    /// Returns the earliest start time that lets every byte arrive before it must leave: `a +
    /// t_in(W) - t_out(W - 1)`, or time zero if the formula is negative or both channels have the
    /// same rate.
    fn never_dry(&mut self, input: ChannelId, lane: u8, packet: JourneyId) -> Time {
        let buffered = self.input_mut(input).buffered_mut(lane, packet);
        let (came, wire_bytes, output) = (buffered.came, buffered.wire_bytes, buffered.output);
        let [coming, going] = [input, output].map(|channel| self.plan.channel(channel).bytes);
        if coming == going {
            return Time::ZERO;
        }
        let whole = came + coming.of(wire_bytes);
        let last_byte = going.of(wire_bytes - 1);
        Time::from_ps(whole.as_ps().saturating_sub(last_byte.as_ps()))
    }

    pub(crate) fn ready(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        self.input_mut(input).buffered_mut(lane, packet).is_ready = true;
        self.wake_switch(self.plan.ends(input).target.node);
    }

    fn wake_switch(&mut self, node: NodeId) {
        let outputs: Vec<_> = self.plan.fabric.channels_from(node).collect();
        for channel in outputs {
            self.timeline.cause(self.timeline.now, Event::Start { channel });
        }
    }

    /// Starts a packet if possible. Returns whether packets are ready but all lack credits.
    pub(crate) fn choose_at_switch(&mut self, channel: ChannelId) -> bool {
        let lanes = 0..self.plan.lanes.count;
        let candidates: Vec<_> = lanes.map(|lane| self.candidate(channel, lane)).collect();
        let head = |(lane, candidate): (u8, &Option<Waiting>)| {
            let buffered = self.waiting((*candidate)?);
            let length = u32::try_from(buffered.wire_bytes).expect("a packet is below 4 GiB");
            let head = Head { length_bytes: length, arrival_ps: buffered.came.as_ps() };
            self.outputs[channel.index()].has_space(lane, buffered.blocks).then_some(head)
        };
        let heads: Vec<_> = (0..).zip(&candidates).map(head).collect();
        if let Some(lane) = self.choose_lane(channel, &heads) {
            let chosen = candidates[usize::from(lane)].expect("a lane that can be chosen was");
            self.start_at_switch(channel, lane, chosen);
        }
        candidates.iter().any(Option::is_some) && heads.iter().all(Option::is_none)
    }

    fn candidate(&self, output: ChannelId, lane: u8) -> Option<Waiting> {
        for waiting in self.in_order(output, lane) {
            if self.can_be_read(waiting) {
                return Some(waiting);
            }
            if self.is_waited_for(waiting) {
                return None;
            }
        }
        None
    }

    fn can_be_read(&self, waiting: Waiting) -> bool {
        let is_busy = self.packets.read == Read::One && self.input(waiting.input).reading > 0;
        !is_busy && !self.is_held_back(waiting)
    }

    pub(crate) fn choose_lane(&mut self, channel: ChannelId, heads: &[Option<Head>]) -> Option<u8> {
        let bit = |(lane, head): (usize, &Option<Head>)| u16::from(head.is_some()) << lane;
        let eligible = heads.iter().enumerate().map(bit).sum();
        let heads: Vec<Head> = heads.iter().map(|head| head.unwrap_or_default()).collect();
        self.outputs[channel.index()].arbiter.serve(eligible, &heads)
    }

    fn start_at_switch(&mut self, output: ChannelId, lane: u8, chosen: Waiting) {
        self.overtake(output, lane, chosen);
        let Waiting { input, lane: came_on, place } = chosen;
        let of_input = self.input_mut(input);
        of_input.reading += 1;
        let buffered = &mut of_input.lanes[usize::from(came_on)][place];
        buffered.has_started = true;
        let (packet, dateline_class) = (buffered.packet, buffered.dateline_class);
        self.keep_turn(output, lane, input);
        if self.endpoints.wanted().switched.are_stays() {
            let stay = self.stay(input, came_on, packet);
            let left = self.timeline.now + self.plan.channel(output).bytes.of(stay.wire_bytes);
            let packet = &mut self.journeys.get_mut(packet).packet;
            self.endpoints.notify(self.timeline.now, Notice::Forwarded { stay, left, packet });
        }
        self.go_on(packet, lane, dateline_class, Leaves::Input { channel: input, lane: came_on });
        // Packets that this packet held back may now start, even on channels that have already
        // chosen a packet in this phase.
        self.wake_switch(self.plan.ends(output).source.node);
    }

    pub(crate) fn settle(&mut self, input: ChannelId, lane: u8, packet: JourneyId) {
        let stay = self.stay(input, lane, packet);
        let output = &self.outputs[stay.output.index()];
        let blocks = PacketsPlan::blocks(stay.wire_bytes);
        let has_space = !self.endpoints.wanted().switched.is_space()
            || stay.lanes.lanes().any(|lane| output.has_space(lane, blocks));
        self.endpoints.notify(self.timeline.now, Notice::Settled { stay, has_space });
    }

    pub(crate) fn keep_turn(&mut self, output: ChannelId, lane: u8, input: ChannelId) {
        let port = usize::from(self.plan.ends(input).target.port);
        self.outputs[output.index()].last_port[usize::from(lane)] = Some(port);
    }

    pub(crate) fn go_on(
        &mut self,
        packet: JourneyId,
        lane: u8,
        dateline_class: DatelineClass,
        from: Leaves,
    ) {
        let journey = self.journeys.get_mut(packet);
        journey.position += 1;
        journey.dateline_class = dateline_class;
        self.start(packet, lane, from);
    }
}

// Output buffers: packets cross the switch into the buffer of their output, and are sent from there.
//
// ```text
//   input          ready ─► the first packet of a lane that fits ─► crosses at x; its tail has left at y
//   output buffer  [ p4 p7 ] lane 0: the packet that crossed first starts ─► its space is free at e
// ```
//
// The switch is not an internal bottleneck: any number of packets may cross at the same time.
//
// Invariant: no buffer exceeds its capacity.

#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    pub(crate) packet: JourneyId,
    pub(crate) wire_bytes: u64,
    pub(crate) blocks: u64,
    level: usize,
    dateline_class: DatelineClass,
    /// `x`: time when the packet crossed.
    since: Time,
    pub(crate) has_started: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct OutputLane {
    holds: u64,
    pub(crate) packets: Vec<Crossed>,
}

impl OutputLane {
    pub(crate) fn new(holds: u64) -> Self {
        Self { holds, packets: Vec::new() }
    }

    fn free(&self) -> u64 {
        self.holds - self.packets.iter().map(|crossed| crossed.blocks).sum::<u64>()
    }

    /// Returns the number of blocks that will be free once all departing tails have left.
    fn free_soon(&self) -> u64 {
        let stays = self.packets.iter().filter(|crossed| !crossed.has_started);
        self.holds - stays.map(|crossed| crossed.blocks).sum::<u64>()
    }

    fn first(&self) -> Option<&Crossed> {
        let stays = self.packets.iter().filter(|crossed| !crossed.has_started);
        stays.min_by_key(|crossed| Reverse(crossed.level))
    }

    pub(crate) fn assert_no_overflow(&self) {
        let taken: u64 = self.packets.iter().map(|crossed| crossed.blocks).sum();
        assert!(taken <= self.holds, "a buffer of an output overflowed");
    }
}

impl Simulation {
    pub(crate) fn output_lane(&self, output: ChannelId, lane: u8) -> Option<&OutputLane> {
        let lanes = self.outputs[output.index()].buffer.as_ref();
        lanes.map(|lanes| &lanes[usize::from(lane)])
    }

    fn output_lane_mut(&mut self, output: ChannelId, lane: u8) -> &mut OutputLane {
        let lanes = self.outputs[output.index()].buffer.as_mut();
        &mut lanes.expect("outputs have buffers")[usize::from(lane)]
    }

    pub(crate) fn first_crossed(&self, output: ChannelId, lane: u8) -> Option<&Crossed> {
        self.output_lane(output, lane)?.first()
    }

    /// Returns whether a packet will not fit even after all departing tails have left.
    pub(crate) fn cannot_cross(&self, output: ChannelId, lane: u8, waiting: Waiting) -> bool {
        let free = self.output_lane(output, lane).map(OutputLane::free_soon);
        free.is_some_and(|free| self.waiting(waiting).blocks > free)
    }

    pub(crate) fn left_output(&mut self, output: ChannelId, lane: u8, packet: JourneyId) {
        let of = &mut self.output_lane_mut(output, lane).packets;
        let place = of.iter().position(|crossed| crossed.packet == packet);
        of.remove(place.expect("it was here"));
        self.timeline.cause(self.timeline.now, Event::Start { channel: output });
    }

    pub(crate) fn cross_to(&mut self, output: ChannelId) {
        while let Some((lane, waiting)) = self.next_to_cross(output) {
            self.cross(output, lane, waiting);
        }
    }

    /// Returns the lane with the most free space among the lanes whose candidate fits; in a tie,
    /// the lowest lane.
    fn next_to_cross(&self, output: ChannelId) -> Option<(u8, Waiting)> {
        let mut next: Option<(u64, u8, Waiting)> = None;
        for lane in 0..self.plan.lanes.count {
            let free = self.output_lane(output, lane)?.free();
            let Some(&first) = self.in_order(output, lane).first() else { continue };
            let is_more = next.is_none_or(|(most, ..)| free > most);
            if self.waiting(first).blocks <= free && is_more {
                next = Some((free, lane, first));
            }
        }
        next.map(|(_, lane, waiting)| (lane, waiting))
    }

    fn cross(&mut self, output: ChannelId, lane: u8, waiting: Waiting) {
        let Waiting { input, lane: came_on, place } = waiting;
        let now = self.timeline.now;
        let coming = self.plan.channel(input).bytes;
        let last_byte = self.plan.channel(output).bytes.of(1);
        let of_input = self.input_mut(input);
        of_input.reading += 1;
        let buffered = &mut of_input.lanes[usize::from(came_on)][place];
        buffered.has_started = true;
        let left_input = (now + last_byte).max(buffered.came + coming.of(buffered.wire_bytes));
        let packet = buffered.packet;
        let crossed = Crossed {
            packet,
            wire_bytes: buffered.wire_bytes,
            blocks: buffered.blocks,
            level: buffered.level,
            dateline_class: buffered.dateline_class,
            since: now,
            has_started: false,
        };
        self.output_lane_mut(output, lane).packets.push(crossed);
        let left = Event::LeftInput { channel: input, lane: came_on, packet };
        self.timeline.cause(left_input, left);
        self.keep_turn(output, lane, input);
    }

    /// Starts the packet that crossed first or, with strict priority, the first packet of the
    /// highest level. Returns whether packets are ready but all lack credits.
    pub(crate) fn start_crossed(&mut self, output: ChannelId) -> bool {
        let head = |lane: u8| {
            let crossed = self.first_crossed(output, lane)?;
            let length = u32::try_from(crossed.wire_bytes).expect("a packet is below 4 GiB");
            let head = Head { length_bytes: length, arrival_ps: crossed.since.as_ps() };
            self.outputs[output.index()].has_space(lane, crossed.blocks).then_some(head)
        };
        let heads: Vec<_> = (0..self.plan.lanes.count).map(head).collect();
        let mut lanes = 0..self.plan.lanes.count;
        let is_any_ready = lanes.any(|lane| self.first_crossed(output, lane).is_some());
        let waits = is_any_ready && heads.iter().all(Option::is_none);
        let Some(lane) = self.choose_lane(output, &heads) else { return waits };
        let first = self.first_crossed(output, lane).expect("a lane that can be chosen has one");
        let Crossed { packet, dateline_class, .. } = *first;
        let mut packets = self.output_lane_mut(output, lane).packets.iter_mut();
        packets.find(|crossed| crossed.packet == packet).expect("it is here").has_started = true;
        self.go_on(packet, lane, dateline_class, Leaves::Output { lane });
        false
    }
}
