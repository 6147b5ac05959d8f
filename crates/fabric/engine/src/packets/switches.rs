//! Switches: select the packet that an idle output starts, and its lane.
//!
//! ```text
//!   order        candidates, one per lane      space known?        arbiter of the link output
//!   p4 p7 p5 ──► lane 0: p4, lane 2: p5  ──►   lane 2        ──►   p5 on lane 2
//! ```
//!
//! With the default rules, the candidate of a list is its first packet: the oldest packet goes
//! first, any number of outputs may read an input at the same time, and overtaking is limited only
//! among packets for the same output. `reading` implements the other rules.

use crate::packets::clock::Clock;
use crate::packets::credits::Credits;
use crate::packets::event::Event;
use crate::packets::flow_control::FlowControl;
use crate::packets::links::LEFT_FIFO;
use crate::packets::network::{Network, Stay, blocks_of};
use crate::packets::packet::{PacketId, Packets, Place};
use crate::packets::reading::Rules;
use crate::packets::waiting::age;
use gingham_fairq::Head;
use gingham_kernel::Span;
use gingham_net::{Arbitration, PacketsPlan, Plan};
use gingham_topology::ChannelId;
use gingham_topology::routing::LANES_MAX;
use std::collections::VecDeque;
use std::sync::Arc;

pub(crate) const LANES: usize = LANES_MAX as usize;

pub(crate) type Candidates = [Option<PacketId>; LANES];

#[derive(Clone, Debug)]
pub(crate) struct Switches {
    pub(crate) rules: Rules,
    /// Whether the packets for an output form one queue: there is a single lane, and the oldest
    /// packet goes first.
    is_in_line: bool,
    /// Whether all options are off: outputs are in line, and [`Network::is_plain`] holds.
    pub(crate) are_plain: bool,
}

impl Switches {
    pub(crate) fn new(network: &Network) -> Self {
        let plan = &network.plan;
        let rules = Rules::new(plan, &network.packets_plan);
        let is_in_line =
            rules.are_plain && plan.lanes.count == 1 && network.output_buffers.is_none();
        Self { are_plain: is_in_line && network.is_plain(), rules, is_in_line }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn on_ready<const PLAIN: bool>(&mut self, id: PacketId, network: &mut Network) {
        let output = network.packets.get(id).output;
        if self.goes_at_once::<PLAIN>(id, output, network) {
            self.start::<PLAIN>(id, output, 0, network);
        } else {
            self.wait(id, output, network);
        }
    }

    #[inline(never)]
    fn wait(&mut self, id: PacketId, output: ChannelId, network: &mut Network) {
        network.waiting.insert(&network.plan, &mut network.packets, id);
        network.links.wait(output);
        self.rules.on_ready(id, network);
        if self.is_in_line || network.output_buffers.is_none() {
            network.try_at_end(output);
        } else {
            // The packet may cross to the output buffer even while the channel is busy.
            network.clock.start(output);
        }
    }

    /// Returns whether a ready packet starts at once, as most packets do, without entering a list.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn goes_at_once<const PLAIN: bool>(
        &self,
        id: PacketId,
        output: ChannelId,
        network: &mut Network,
    ) -> bool {
        (PLAIN || self.is_in_line)
            && network.links.is_free(output, network.clock.now())
            && network.clock.is_over()
            && network.has_space::<PLAIN>(output, 0, id)
    }

    pub(crate) fn on_left(&mut self, output: ChannelId, network: &mut Network) {
        network.clock.start(output);
        if self.rules.couple_outputs {
            network.try_all(output);
        }
    }

    #[inline(never)]
    pub(crate) fn try_start(&mut self, output: ChannelId, network: &mut Network) {
        let chosen = if self.is_in_line {
            let first = network.waiting.first(output);
            let chosen =
                first.filter(|id| network.has_space::<false>(output, 0, *id)).map(|id| (0, id));
            network.set_credit_wait(output, first.is_some() && chosen.is_none());
            chosen
        } else if network.output_buffers.is_some() {
            return self.cross_and_start(output, network);
        } else {
            let candidates = self.candidates(output, network);
            network.choose(output, &candidates)
        };
        let Some((lane, id)) = chosen else { return };
        self.rules.before_start(id, output, lane, network);
        network.waiting.remove(&mut network.packets, id);
        network.links.wait_no_more(output);
        if self.are_plain {
            self.start::<true>(id, output, lane, network);
        } else {
            self.start::<false>(id, output, lane, network);
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    fn start<const PLAIN: bool>(
        &mut self,
        id: PacketId,
        output: ChannelId,
        lane: u8,
        network: &mut Network,
    ) {
        if !PLAIN && network.wanted.switched.are_stays() {
            network.notify_forwarded(id, output);
        }
        let (stay, end_ps) = network.start::<PLAIN>(id, (output, lane), |stay| Some(stay.input));
        network.leave_buffer::<PLAIN>(stay, end_ps);
        if !PLAIN {
            self.rules.on_start(stay.input, end_ps);
        }
        if !PLAIN && self.rules.couple_outputs {
            network.await_end(output);
            network.try_all(output);
        } else if network.links.is_any_waiting(output) {
            network.await_end(output);
        }
    }

    #[inline]
    pub(crate) fn candidates(&self, output: ChannelId, network: &Network) -> Candidates {
        if self.rules.are_plain {
            oldest(output, network)
        } else {
            self.rules.candidates(output, network)
        }
    }
}

impl Network {
    fn choose(&mut self, output: ChannelId, candidates: &Candidates) -> Option<(u8, PacketId)> {
        let mut heads = [Head::default(); LANES];
        let mut eligible = 0_u16;
        for lane in 0..self.plan.lanes.count {
            let Some(id) = candidates[usize::from(lane)] else { continue };
            if self.has_space::<false>(output, lane, id) {
                let packet = self.packets.get(id);
                let (length_bytes, arrival_ps) = (packet.wire_bytes, packet.came_ps);
                heads[usize::from(lane)] = Head { length_bytes, arrival_ps };
                eligible |= 1 << lane;
            }
        }
        self.set_credit_wait(output, eligible == 0 && candidates.iter().any(Option::is_some));
        let lane = self.serve(output, eligible, &heads)?;
        Some((lane, candidates[usize::from(lane)].expect("only candidates are eligible")))
    }

    #[inline]
    pub(crate) fn set_credit_wait(&mut self, channel: ChannelId, waits: bool) {
        self.links.set_credit_wait(channel, waits, self.clock.now());
    }

    fn try_all(&mut self, output: ChannelId) {
        let plan = Arc::clone(&self.plan);
        for other in plan.fabric.channels_from(plan.fabric.source(output).node) {
            if self.links.is_any_waiting(other) && self.is_idle(other) {
                self.clock.start(other);
            }
        }
    }

    #[inline]
    pub(crate) fn try_at_end(&mut self, channel: ChannelId) {
        if self.is_idle(channel) {
            self.clock.start(channel);
        } else {
            self.await_end(channel);
        }
    }

    #[inline]
    pub(crate) fn await_end(&mut self, channel: ChannelId) {
        if self.links.await_end(channel) {
            let end_ps = self.links.busy_until_ps(channel);
            self.clock.schedule_after_delay(LEFT_FIFO, end_ps, Event::Left { channel });
        }
    }

    #[inline]
    pub(crate) fn has_space<const PLAIN: bool>(
        &mut self,
        channel: ChannelId,
        lane: u8,
        id: PacketId,
    ) -> bool {
        let blocks = blocks_of(self.packets.get(id).wire_bytes);
        self.has_blocks::<PLAIN>(channel, lane, blocks)
    }

    #[inline]
    pub(crate) fn has_blocks<const PLAIN: bool>(
        &mut self,
        channel: ChannelId,
        lane: u8,
        blocks: u32,
    ) -> bool {
        !self.links.is_into_switch(channel)
            || match &mut self.flow_control {
                FlowControl::Pauses(pauses) if !PLAIN => pauses.may_start(channel, lane),
                _ => self.credits.has(channel, lane, blocks, &mut self.clock),
            }
    }
}

#[inline]
fn oldest(output: ChannelId, network: &Network) -> Candidates {
    let mut candidates = [None; LANES];
    for list in network.waiting.lists(output) {
        let Some(id) = list.first() else { continue };
        for lane in list.lanes.lanes() {
            let of = &mut candidates[usize::from(lane)];
            let is_older = |other: PacketId| is_older(&network.plan, network, id, other);
            if of.is_none_or(is_older) {
                *of = Some(id);
            }
        }
    }
    candidates
}

fn is_older(plan: &Plan, network: &Network, one: PacketId, other: PacketId) -> bool {
    age(plan, network.packets.get(one)) < age(plan, network.packets.get(other))
}

// Output buffers: packets cross the switch into the buffer of their output as soon as it has space,
// and are sent from there.
//
// ```text
//   waiting ── crosses once the output has space ──► queue of the lane ── starts ──► tail leaves
//   input space is free once the tail has arrived and crossed; output space is free once the tail has left
// ```
//
// Invariant: only packets in the queue of an output lane and leaving packets occupy its blocks.

const CROSSING_MIN: usize = 64;

#[derive(Clone, Copy, Debug)]
struct Crossed {
    id: PacketId,
    crossed_ps: u64,
}

/// Packet whose tail was still in the input buffer when the packet crossed.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    input: ChannelId,
    wire_bytes: u32,
    left_ps: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct OutputBuffers {
    lane_count: usize,
    arbitration: Arbitration,
    lines: Vec<VecDeque<Crossed>>,
    room: Credits,
    crossing: Vec<Crossing>,
    crossing_max: usize,
}

impl OutputBuffers {
    pub(crate) fn new(plan: &Plan, packets: &PacketsPlan) -> Option<Self> {
        let blocks = packets.output_blocks?;
        let lane_count = usize::from(plan.lanes.count);
        let channels = plan.channels.len();
        Some(Self {
            lane_count,
            arbitration: packets.arbitration,
            lines: vec![VecDeque::new(); channels * lane_count],
            room: Credits::new(plan, &blocks, |_| Span::ZERO),
            crossing: Vec::new(),
            crossing_max: CROSSING_MIN,
        })
    }

    fn line(&self, output: ChannelId, lane: u8) -> &VecDeque<Crossed> {
        &self.lines[output.index() * self.lane_count + usize::from(lane)]
    }

    /// Returns the queue index of the next packet: with strict priority, the first packet of the
    /// highest level; otherwise index 0.
    fn first_place(&self, output: ChannelId, lane: u8, of: &Packets) -> Option<usize> {
        let waiting = self.line(output, lane);
        let level = |place: &usize| of.get(waiting[*place].id).packet.priority.level();
        if self.arbitration.has_levels() {
            (0..waiting.len()).rev().max_by_key(level)
        } else {
            (!waiting.is_empty()).then_some(0)
        }
    }

    pub(crate) fn first(&self, output: ChannelId, lane: u8, of: &Packets) -> Option<PacketId> {
        let place = self.first_place(output, lane, of)?;
        Some(self.line(output, lane)[place].id)
    }

    /// Returns the total size in bytes of the packets in an output's buffer that have not started.
    pub(crate) fn bytes(&self, output: ChannelId, packets: &Packets) -> u64 {
        let first = output.index() * self.lane_count;
        let waiting = self.lines[first..first + self.lane_count].iter().flatten();
        waiting.map(|crossed| u64::from(packets.get(crossed.id).wire_bytes)).sum()
    }

    /// Returns the number of blocks that are free now or once all leaving packets have left.
    pub(crate) fn free_soon(&self, output: ChannelId, lane: u8) -> u32 {
        self.room.free(output, lane)
    }

    pub(crate) fn on_known(&mut self, output: ChannelId, lane: u8, now: u64) {
        self.room.on_known(output, lane, now);
    }

    /// Returns the lane and the packet that cross next. Among the lanes with enough space for their
    /// candidate, the lane with the most free blocks wins; in a tie, the lowest lane.
    fn next_to_cross(
        &mut self,
        output: ChannelId,
        candidates: &Candidates,
        packets: &Packets,
        clock: &mut Clock,
    ) -> Option<(u8, PacketId)> {
        let mut next: Option<(u32, u8, PacketId)> = None;
        for lane in 0..u8::try_from(self.lane_count).expect("lanes are few") {
            let Some(id) = candidates[usize::from(lane)] else { continue };
            let free = self.room.free_now(output, lane, clock.now());
            let fits = self.room.has(output, lane, blocks_of(packets.get(id).wire_bytes), clock);
            if fits && next.is_none_or(|(most, ..)| free > most) {
                next = Some((free, lane, id));
            }
        }
        next.map(|(_, lane, id)| (lane, id))
    }

    fn keep(&mut self, crossing: Crossing, now: u64) {
        if self.crossing.len() >= self.crossing_max {
            self.crossing.retain(|crossing| crossing.left_ps > now);
            self.crossing_max = CROSSING_MIN.max(2 * self.crossing.len());
        }
        self.crossing.push(crossing);
    }

    /// Returns, for each packet that is crossing the switch, its input channel, its size in bytes,
    /// and the time from `end_ps` until its tail leaves the input, in ps.
    pub(crate) fn staying(&self, end_ps: u64) -> impl Iterator<Item = (ChannelId, u32, u64)> + '_ {
        self.crossing.iter().map(move |crossing| {
            let Crossing { input, wire_bytes, left_ps } = *crossing;
            (input, wire_bytes, left_ps.saturating_sub(end_ps))
        })
    }

    pub(crate) fn assert_space(&self, (output, lane): (ChannelId, u8), of: &Packets, holds: u32) {
        let blocks = |crossed: &Crossed| blocks_of(of.get(crossed.id).wire_bytes);
        let taken: u32 = self.line(output, lane).iter().map(blocks).sum();
        assert_eq!(self.free_soon(output, lane) + taken, holds, "space of outputs is conserved");
    }
}

impl Switches {
    #[inline]
    pub(crate) fn try_cross(&mut self, output: ChannelId, network: &mut Network) {
        if network.output_buffers.is_some() && network.links.is_any_waiting(output) {
            self.cross_and_start(output, network);
        }
    }

    #[inline(never)]
    pub(crate) fn cross_and_start(&mut self, output: ChannelId, network: &mut Network) {
        loop {
            let candidates = self.candidates(output, network);
            let Network { output_buffers, packets, clock, .. } = network;
            let buffers = output_buffers.as_mut().expect("outputs have buffers");
            let next = buffers.next_to_cross(output, &candidates, packets, clock);
            let Some((lane, id)) = next else { break };
            self.rules.before_start(id, output, lane, network);
            network.waiting.remove(&mut network.packets, id);
            network.cross(id, output, lane);
        }
        if network.is_idle(output) {
            network.choose_crossed(output);
        }
        if network.links.is_any_waiting(output) && !network.is_idle(output) {
            network.await_end(output);
        }
    }
}

impl Network {
    fn choose_crossed(&mut self, output: ChannelId) {
        let mut heads = [Head::default(); LANES];
        let mut eligible = 0_u16;
        let mut is_any_ready = false;
        for lane in 0..self.plan.lanes.count {
            let buffers = self.output_buffers.as_ref().expect("outputs have buffers");
            let first = buffers.first_place(output, lane, &self.packets);
            let Some(first) = first.map(|place| buffers.line(output, lane)[place]) else {
                continue;
            };
            is_any_ready = true;
            if self.has_space::<false>(output, lane, first.id) {
                let length_bytes = self.packets.get(first.id).wire_bytes;
                heads[usize::from(lane)] = Head { length_bytes, arrival_ps: first.crossed_ps };
                eligible |= 1 << lane;
            }
        }
        self.set_credit_wait(output, is_any_ready && eligible == 0);
        if let Some(lane) = self.serve(output, eligible, &heads) {
            self.start_crossed(output, lane);
        }
    }

    fn cross(&mut self, id: PacketId, output: ChannelId, lane: u8) {
        let now = self.clock.now();
        let packet = self.packets.get_mut(id);
        packet.place = Place::Crossed;
        let stay = Stay::from(&*packet);
        let takes = self.links.line(stay.input).bytes.of(stay.wire_bytes.into());
        let come_ps = stay.came_ps + takes.as_ps();
        let last_byte = self.links.line(output).bytes.of(1);
        let left_ps = come_ps.max(now + last_byte.as_ps());
        self.leave_buffer::<false>(stay, left_ps);
        let buffers = self.output_buffers.as_mut().expect("outputs have buffers");
        buffers.room.take(output, lane, blocks_of(stay.wire_bytes));
        let place = output.index() * buffers.lane_count + usize::from(lane);
        buffers.lines[place].push_back(Crossed { id, crossed_ps: now });
        let Stay { input, wire_bytes, .. } = stay;
        buffers.keep(Crossing { input, wire_bytes, left_ps }, now);
    }

    fn start_crossed(&mut self, output: ChannelId, lane: u8) {
        let buffers = self.output_buffers.as_mut().expect("outputs have buffers");
        let first =
            buffers.first_place(output, lane, &self.packets).expect("a line that can start");
        let place = output.index() * buffers.lane_count + usize::from(lane);
        let Crossed { id, .. } = buffers.lines[place].remove(first).expect("it stands there");
        self.links.wait_no_more(output);
        let (stay, end_ps) = self.start::<false>(id, (output, lane), |_| None);
        let Self { output_buffers, clock, .. } = self;
        let buffers = output_buffers.as_mut().expect("outputs have buffers");
        buffers.room.give_back(output, lane, blocks_of(stay.wire_bytes), end_ps, clock);
    }
}
