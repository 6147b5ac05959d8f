//! Outputs with buffers: packets cross to them as soon as there is space, and start from there.
//!
//! ```text
//!   waiting ── crosses at x: space of the output ──► line of the lane ── starts ──► space is free at e
//!   input's space is free once the tail has come, and its last byte has crossed
//! ```
//!
//! Both ends of a stay are known before they are here, so that the space of an output is a number as
//! of an instant, as credits are.
//!
//! Invariant: what stands in the line of a lane takes its blocks, and nothing else does that is not
//! leaving.

use crate::packets::clock::Clock;
use crate::packets::credits::Credits;
use crate::packets::network::Network;
use crate::packets::packet::{PacketId, Packets, Place};
use crate::packets::starting::{Stay, blocks_of};
use crate::packets::switches::LANES;
use crate::packets::switches::{Candidates, Switches};
use gingham_fairq::Head;
use gingham_kernel::Span;
use gingham_model::{Arbitration, PacketsPlan, Plan};
use gingham_topology::ChannelId;
use std::collections::VecDeque;

/// What is kept of packets that cross before it is looked through.
const CROSSING_MIN: usize = 64;

/// A packet in the buffer of an output.
#[derive(Clone, Copy, Debug)]
struct Crossed {
    id: PacketId,
    crossed_ps: u64,
}

/// A packet whose tail has not left its input yet, when it crossed.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    input: ChannelId,
    wire_bytes: u32,
    /// When it has.
    left_ps: u64,
}

/// The buffers of all outputs.
#[derive(Clone, Debug)]
pub(crate) struct OutputBuffers {
    lane_count: usize,
    arbitration: Arbitration,
    /// By channel and lane, in the order in which they crossed.
    lines: Vec<VecDeque<Crossed>>,
    /// Space of lanes, as of an instant.
    room: Credits,
    /// What may be on its way through the switch.
    crossing: Vec<Crossing>,
    /// As many of these are looked through for what is not any more.
    crossing_max: usize,
}

impl OutputBuffers {
    /// Those of a plan whose outputs have buffers.
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

    /// The place in the line of a lane of what starts first: the first, of the highest level with
    /// strict priority.
    fn first_place(&self, output: ChannelId, lane: u8, of: &Packets) -> Option<usize> {
        let waiting = self.line(output, lane);
        let level = |place: &usize| of.get(waiting[*place].id).packet.priority.level();
        match self.arbitration {
            Arbitration::StrictPriority => (0..waiting.len()).rev().max_by_key(level),
            Arbitration::OldestFirst | Arbitration::RoundRobin => {
                (!waiting.is_empty()).then_some(0)
            }
        }
    }

    /// What starts first of a lane.
    pub(crate) fn first(&self, output: ChannelId, lane: u8, of: &Packets) -> Option<PacketId> {
        let place = self.first_place(output, lane, of)?;
        Some(self.line(output, lane)[place].id)
    }

    /// Blocks of a lane that nothing takes that is not leaving.
    pub(crate) fn free_soon(&self, output: ChannelId, lane: u8) -> u32 {
        self.room.free(output, lane)
    }

    /// Space of a lane has come free, or may have.
    pub(crate) fn on_known(&mut self, output: ChannelId, lane: u8, now: u64) {
        self.room.on_known(output, lane, now);
    }

    /// Of the lanes with space for their candidate that with the most; the lowest of equal ones.
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

    /// A packet crosses, whose tail has left its input at an instant.
    fn keep(&mut self, crossing: Crossing, now: u64) {
        if self.crossing.len() >= self.crossing_max {
            self.crossing.retain(|crossing| crossing.left_ps > now);
            self.crossing_max = CROSSING_MIN.max(2 * self.crossing.len());
        }
        self.crossing.push(crossing);
    }

    /// By packets on their way through a switch at an instant: where they came in, their bytes, and
    /// for how long their tails stay there.
    pub(crate) fn staying(&self, end_ps: u64) -> impl Iterator<Item = (ChannelId, u32, u64)> + '_ {
        self.crossing.iter().map(move |crossing| {
            let Crossing { input, wire_bytes, left_ps } = *crossing;
            (input, wire_bytes, left_ps.saturating_sub(end_ps))
        })
    }

    /// Checks that the space of a lane is free or taken by what stands there; for tests.
    pub(crate) fn assert_space(&self, (output, lane): (ChannelId, u8), of: &Packets, holds: u32) {
        let blocks = |crossed: &Crossed| blocks_of(of.get(crossed.id).wire_bytes);
        let taken: u32 = self.line(output, lane).iter().map(blocks).sum();
        assert_eq!(self.free_soon(output, lane) + taken, holds, "space of outputs is conserved");
    }
}

impl Switches {
    /// A busy output takes in what it can, if it has a buffer.
    #[inline]
    pub(crate) fn try_cross(&mut self, output: ChannelId, network: &mut Network) {
        // At hosts nothing waits so.
        if network.output_buffers.is_some() && network.links.is_any_waiting(output) {
            self.cross_and_start(output, network);
        }
    }

    /// An output with a buffer takes in what it can; then it starts something, if it is idle.
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
    /// An idle output starts what its arbiter chooses of what has crossed.
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
            if self.has_space(output, lane, first.id) {
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

    /// A packet that stands in no list crosses to a lane of an output, where it fits.
    fn cross(&mut self, id: PacketId, output: ChannelId, lane: u8) {
        let now = self.clock.now();
        let packet = self.packets.get_mut(id);
        packet.place = Place::Crossed;
        let stay = Stay::from(&*packet);
        let takes = self.links.line(stay.input).bytes.of(stay.wire_bytes.into());
        let come_ps = stay.came_ps + takes.as_ps();
        let last_byte = self.links.line(output).bytes.of(1);
        let left_ps = come_ps.max(now + last_byte.as_ps());
        self.leave_buffer(stay, left_ps);
        let buffers = self.output_buffers.as_mut().expect("outputs have buffers");
        buffers.room.take(output, lane, blocks_of(stay.wire_bytes));
        let place = output.index() * buffers.lane_count + usize::from(lane);
        buffers.lines[place].push_back(Crossed { id, crossed_ps: now });
        let Stay { input, wire_bytes, .. } = stay;
        buffers.keep(Crossing { input, wire_bytes, left_ps }, now);
    }

    /// What is first of a lane of an idle output starts, with space for it at the other end.
    fn start_crossed(&mut self, output: ChannelId, lane: u8) {
        let buffers = self.output_buffers.as_mut().expect("outputs have buffers");
        let first =
            buffers.first_place(output, lane, &self.packets).expect("a line that can start");
        let place = output.index() * buffers.lane_count + usize::from(lane);
        let Crossed { id, .. } = buffers.lines[place].remove(first).expect("it stands there");
        self.links.wait_no_more(output);
        let (stay, end_ps) = self.start(id, output, lane);
        let Self { output_buffers, clock, .. } = self;
        let buffers = output_buffers.as_mut().expect("outputs have buffers");
        buffers.room.give_back(output, lane, blocks_of(stay.wire_bytes), end_ps, clock);
        // What it leaves is no buffer of an input.
        self.links.begin(output, stay.wire_bytes, end_ps, None);
    }
}
