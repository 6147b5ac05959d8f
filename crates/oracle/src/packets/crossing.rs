//! Outputs with buffers: packets cross to them, and start from there.
//!
//! ```text
//!   input          ready ─► first of a lane that fits ─► crosses at x; its tail has left at y
//!   output buffer  [ p4 p7 ] lane 0: the first that crossed starts ─► e: space is free
//! ```
//!
//! The inside of the switch is as fast as it has to be: any number of packets cross at once.
//!
//! Invariant: no buffer holds more than its blocks.

use crate::packets::event::Event;
use crate::packets::journey::JourneyId;
use crate::packets::order::Waiting;
use crate::packets::output::Leaves;
use crate::packets::simulation::Simulation;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_model::Arbitration;
use gingham_topology::ChannelId;
use gingham_topology::routing::DatelineClass;
use std::cmp::Reverse;

/// A packet in the buffer of an output.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    pub(crate) packet: JourneyId,
    pub(crate) wire_bytes: u64,
    pub(crate) blocks: u64,
    level: usize,
    dateline_class: DatelineClass,
    /// `x`.
    since: Time,
    pub(crate) has_started: bool,
}

/// The buffer of a lane of an output.
#[derive(Clone, Debug)]
pub(crate) struct OutputLane {
    /// What it holds, in blocks.
    holds: u64,
    /// In the order in which they crossed.
    pub(crate) packets: Vec<Crossed>,
}

impl OutputLane {
    pub(crate) fn new(holds: u64) -> Self {
        Self { holds, packets: Vec::new() }
    }

    fn free(&self) -> u64 {
        self.holds - self.packets.iter().map(|crossed| crossed.blocks).sum::<u64>()
    }

    /// Blocks that are free once all have left it whose tails are leaving.
    fn free_soon(&self) -> u64 {
        let stays = self.packets.iter().filter(|crossed| !crossed.has_started);
        self.holds - stays.map(|crossed| crossed.blocks).sum::<u64>()
    }

    /// Which would start first.
    fn first(&self, arbitration: Arbitration) -> Option<&Crossed> {
        let mut stays = self.packets.iter().filter(|crossed| !crossed.has_started);
        match arbitration {
            // The first of equal ones.
            Arbitration::StrictPriority => stays.min_by_key(|crossed| Reverse(crossed.level)),
            Arbitration::OldestFirst | Arbitration::RoundRobin => stays.next(),
        }
    }

    /// Checks that what it holds fits into it.
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

    /// The packet that would start first from the buffer of a lane of an output.
    pub(crate) fn first_crossed(&self, output: ChannelId, lane: u8) -> Option<&Crossed> {
        self.output_lane(output, lane)?.first(self.packets.arbitration)
    }

    /// Whether a packet does not cross to a lane of an output even once all have left the buffer
    /// there whose tails are leaving.
    pub(crate) fn cannot_cross(&self, output: ChannelId, lane: u8, waiting: Waiting) -> bool {
        let free = self.output_lane(output, lane).map(OutputLane::free_soon);
        free.is_some_and(|free| self.waiting(waiting).blocks > free)
    }

    // Phase 2: left.

    /// The tail of a packet has left the buffer of an output.
    pub(crate) fn left_output(&mut self, output: ChannelId, lane: u8, packet: JourneyId) {
        let of = &mut self.output_lane_mut(output, lane).packets;
        let place = of.iter().position(|crossed| crossed.packet == packet);
        of.remove(place.expect("it was here"));
        self.timeline.cause(self.timeline.now, Event::Start { channel: output });
    }

    // Phase 6: start.

    /// An output takes in what it can.
    pub(crate) fn cross_to(&mut self, output: ChannelId) {
        while let Some((lane, waiting)) = self.next_to_cross(output) {
            self.cross(output, lane, waiting);
        }
    }

    /// Of the lanes with space for their candidate that with the most; the lowest of equal ones.
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

    /// Lets an idle output transmit the packet that crossed first, among eligible lanes. Returns
    /// whether a packet is ready but none has credits.
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
