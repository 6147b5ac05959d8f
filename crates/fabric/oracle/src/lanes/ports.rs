//! Both ends of a channel: lane buffers at its end, output lanes and credits at its start.
//!
//! ```text
//!   Output: output lanes ─► link ───── channel ─────► Input: lane buffers
//!           credits    ◄───────────────────────────── a flit has left
//! ```

use crate::credit_wait::CreditWait;
use crate::lanes::clock::Tick;
use crate::lanes::event::Flit;
use crate::lanes::round_robin::RoundRobin;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{Granularity, LaneArbiter, LanePlan, Scheduler};
use gingham_topology::ChannelId;
use std::collections::VecDeque;
use std::num::NonZeroU16;

#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferedFlit {
    pub(crate) flit: Flit,
    /// Tick at which the flit arrived, or crossed.
    pub(crate) since: Tick,
}

/// The end of a channel: its lane buffers.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) lanes: Vec<InputLane>,
    /// Crossbar inputs of the port, with a multiplexed crossbar.
    pub(crate) crossbar_ports: Vec<CrossbarInput>,
    /// Fill of all lanes times time, from the start of the run to the last change, in flit ps.
    occupancy_flit_ps: u128,
    changed: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct CrossbarInput {
    /// Arbiter among the lanes of the crossbar input.
    pub(crate) chooser: Chooser,
    /// Round-robin pointer: the last crossbar output matched with it, if outputs are taken in round
    /// robin.
    pub(crate) outputs: RoundRobin,
}

/// A lane buffer, with the grants to its first packet.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputLane {
    buffer: VecDeque<BufferedFlit>,
    /// Output lane that the input lane holds.
    pub(crate) holds: Option<Hold>,
    /// Output that its head chose permanently.
    pub(crate) chosen: Option<ChannelId>,
    /// VC allocation by iSLIP: the output lane of the switch that a head accepted last.
    pub(crate) lane_pointer: RoundRobin,
    /// Tick at which the previous tail crossed; 0 before the first.
    tail_crossed: Tick,
}

/// An output lane that an input lane holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) output: ChannelId,
    pub(crate) lane: u8,
    pub(crate) since: Tick,
}

impl InputLane {
    pub(crate) fn first(&self) -> Option<BufferedFlit> {
        self.buffer.front().copied()
    }

    pub(crate) fn fill(&self) -> usize {
        self.buffer.len()
    }

    pub(crate) fn flits(&self) -> impl Iterator<Item = Flit> {
        self.buffer.iter().map(|buffered| buffered.flit)
    }

    /// Returns the head at the front that holds no output lane yet, and the tick when its stages 2
    /// and 3 begin: the later of its arrival and the crossing of the previous tail.
    pub(crate) fn head(&self) -> Option<(Flit, Tick)> {
        let first = self.first().filter(|_| self.holds.is_none())?;
        assert_eq!(first.flit.index, 0, "a flit without an output lane is a head");
        Some((first.flit, first.since.max(self.tail_crossed)))
    }
}

impl Input {
    pub(crate) fn new(lanes: &LanePlan, crossbar_ports: u8, arbiter: &Scheduler) -> Self {
        let crossbar_port =
            CrossbarInput { chooser: Chooser::new(arbiter, lanes), outputs: RoundRobin::default() };
        Self {
            lanes: vec![InputLane::default(); lanes.count.into()],
            crossbar_ports: vec![crossbar_port; crossbar_ports.into()],
            occupancy_flit_ps: 0,
            changed: Time::ZERO,
        }
    }

    pub(crate) fn lane(&self, lane: u8) -> &InputLane {
        &self.lanes[usize::from(lane)]
    }

    pub(crate) fn crossbar_port_of(&mut self, lane: u8) -> &mut CrossbarInput {
        let crossbar_ports = self.crossbar_ports.len();
        &mut self.crossbar_ports[usize::from(lane) % crossbar_ports]
    }

    pub(crate) fn lane_mut(&mut self, lane: u8) -> &mut InputLane {
        &mut self.lanes[usize::from(lane)]
    }

    /// Adds a flit that is available from `now` on, the instant of `tick`.
    pub(crate) fn enter(&mut self, lane: u8, flit: Flit, tick: Tick, now: Time) {
        self.settle_occupancy(now);
        self.lane_mut(lane).buffer.push_back(BufferedFlit { flit, since: tick });
    }

    pub(crate) fn leave(&mut self, lane: u8, now: Time) -> Flit {
        self.settle_occupancy(now);
        self.lane_mut(lane).buffer.pop_front().expect("a flit stands first").flit
    }

    /// Releases the output lane of a packet whose tail has crossed.
    pub(crate) fn release(&mut self, lane: u8, tick: Tick) {
        let lane = self.lane_mut(lane);
        lane.holds = None;
        lane.tail_crossed = tick;
    }

    /// Returns the number of flits in all lanes.
    pub(crate) fn fill(&self) -> usize {
        self.lanes.iter().map(InputLane::fill).sum()
    }

    /// Returns fill times time, from the start of the run to `now`, in flit ps.
    pub(crate) fn occupancy_flit_ps(&self, now: Time) -> u128 {
        self.occupancy_flit_ps + self.fill() as u128 * u128::from(now.since(self.changed).as_ps())
    }

    fn settle_occupancy(&mut self, now: Time) {
        self.occupancy_flit_ps = self.occupancy_flit_ps(now);
        self.changed = now;
    }
}

/// The start of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// Earliest start of the next flit.
    pub(crate) free: Time,
    pub(crate) lanes: Vec<OutputLane>,
    /// Arbiter among the lanes for the link: that of the link output, or of the adapter port.
    pub(crate) chooser: Chooser,
    /// Virtual-channel allocation: round-robin pointer over heads (input port and lane), by level.
    pub(crate) head_pointers: Vec<RoundRobin>,
    /// Virtual-channel allocation: round-robin pointer over lanes.
    pub(crate) lane_pointer: RoundRobin,
    /// Switch allocation: arbitration of each crossbar output to this channel.
    pub(crate) crossbar_ports: Vec<Granting>,
    /// Whether VC allocation left a head without a lane only for lack of credits.
    pub(crate) is_short: bool,
    /// Whether only a lack of credits kept flits from crossing, if credits are consumed at the
    /// crossbar.
    pub(crate) is_unpaid: bool,
    /// Time spent waiting for credits.
    pub(crate) wait: CreditWait,
}

/// Arbitration of a crossbar output.
#[derive(Clone, Debug)]
pub(crate) enum Granting {
    /// Among crossbar inputs, in round robin.
    Inputs(RoundRobin),
    /// Among output lanes, by an arbiter.
    Lanes(Chooser),
}

impl Granting {
    /// Returns whether it could grant the holder of an output lane.
    pub(crate) fn is_open_to(&self, lane: u8) -> bool {
        match self {
            Self::Inputs(_) => true,
            Self::Lanes(chooser) => chooser.is_open_to(lane),
        }
    }
}

/// An output lane, and the credits of the lane buffer at the other end.
#[derive(Clone, Debug)]
pub(crate) struct OutputLane {
    pub(crate) buffer: VecDeque<BufferedFlit>,
    /// Input lane that holds this output lane.
    pub(crate) holder: Option<(ChannelId, u8)>,
    /// VC allocation by iSLIP, by level: round-robin pointer after the last accepted grant.
    pub(crate) head_pointers: Vec<RoundRobin>,
    /// Tick of the last tail that crossed into it.
    pub(crate) released: Option<Tick>,
    /// Credits; `None` if the other end accepts everything.
    pub(crate) credits: Option<Credits>,
}

/// Free places of the lane buffer at the other end, in flits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credits {
    /// Total size of the buffer.
    pub(crate) depth: u64,
    /// Credits available here.
    pub(crate) here: u64,
    /// Part of `here` that is promised to packets.
    pub(crate) promised: u64,
    /// Credits returned but not yet available here.
    pub(crate) on_their_way: u64,
}

impl OutputLane {
    /// Returns whether the output lane is empty and all credits are back; always without a lane
    /// buffer at the other end.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.credits.is_none_or(|credits| credits.here == credits.depth && self.buffer.is_empty())
    }

    /// Returns whether there are credits for `flits` flits that are not promised.
    pub(crate) fn has_credits(&self, flits: u64) -> bool {
        self.credits.is_none_or(|credits| credits.here - credits.promised >= flits)
    }

    /// Returns whether there will be fewer than `flits` credits even after those under way arrive.
    pub(crate) fn stays_short_of(&self, flits: u64) -> bool {
        self.credits
            .is_some_and(|credits| credits.here + credits.on_their_way - credits.promised < flits)
    }

    pub(crate) fn has_credit(&self) -> bool {
        self.credits.is_none_or(|credits| credits.here > 0)
    }

    /// Promises the credits of a whole packet.
    pub(crate) fn promise(&mut self, flits: u64) {
        if let Some(credits) = &mut self.credits {
            credits.promised += flits;
        }
    }

    /// Uses one promised credit.
    pub(crate) fn keep_promise(&mut self) {
        if let Some(credits) = &mut self.credits {
            credits.promised -= 1;
        }
    }
}

impl Output {
    /// Creates the start of a channel. `crossbar` is the arbiter of its crossbar outputs, if they
    /// arbitrate by lane; `depths` are the sizes of the lane buffers at the other end, if it has
    /// any.
    pub(crate) fn new(
        (lanes, crossbar_ports): (&LanePlan, u8),
        levels: usize,
        (arbiter, crossbar): (&Scheduler, Option<&Scheduler>),
        depths: Option<&[u32]>,
    ) -> Self {
        let by_lane = |crossbar| Granting::Lanes(Chooser::new(crossbar, lanes));
        let credits = |lane: u8| {
            let depth = u64::from(depths?[usize::from(lane)]);
            Some(Credits { depth, here: depth, promised: 0, on_their_way: 0 })
        };
        let lane = |lane| OutputLane {
            buffer: VecDeque::new(),
            holder: None,
            head_pointers: vec![RoundRobin::default(); levels],
            released: None,
            credits: credits(lane),
        };
        Self {
            free: Time::ZERO,
            lanes: (0..lanes.count).map(lane).collect(),
            chooser: Chooser::new(arbiter, lanes),
            head_pointers: vec![RoundRobin::default(); levels],
            lane_pointer: RoundRobin::default(),
            crossbar_ports: vec![
                crossbar.map_or(Granting::Inputs(RoundRobin::default()), by_lane);
                crossbar_ports.into()
            ],
            is_short: false,
            is_unpaid: false,
            wait: CreditWait::default(),
        }
    }

    pub(crate) fn lane(&self, lane: u8) -> &OutputLane {
        &self.lanes[usize::from(lane)]
    }

    pub(crate) fn lane_mut(&mut self, lane: u8) -> &mut OutputLane {
        &mut self.lanes[usize::from(lane)]
    }

    pub(crate) fn crossbar_port_of(&mut self, lane: u8) -> &mut Granting {
        let crossbar_ports = self.crossbar_ports.len();
        &mut self.crossbar_ports[usize::from(lane) % crossbar_ports]
    }

    /// Returns the number of flits in the output lanes.
    pub(crate) fn fill(&self) -> usize {
        self.lanes.iter().map(|lane| lane.buffer.len()).sum()
    }
}

/// An arbiter among the lanes of one port. With arbitration per packet, it stays with a lane until
/// the tail has left.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    arbiter: LaneArbiter,
    granularity: Granularity,
    /// With arbitration per packet: lane of the current packet.
    in_packet: Option<u8>,
}

impl Chooser {
    fn new(scheduler: &Scheduler, lanes: &LanePlan) -> Self {
        let arbiter = LaneArbiter::over(scheduler, lanes);
        Self { arbiter, granularity: scheduler.facts().by, in_packet: None }
    }

    pub(crate) fn weigh(&mut self, lane: u8, weight: NonZeroU16) {
        self.arbiter.weigh(lane, weight);
    }

    pub(crate) fn is_by_packet(&self) -> bool {
        self.granularity == Granularity::Packet
    }

    /// Returns whether the chooser is between packets; always true with arbitration per flit.
    pub(crate) fn is_open(&self) -> bool {
        self.in_packet.is_none()
    }

    /// Returns whether the chooser could choose a lane.
    pub(crate) fn is_open_to(&self, lane: u8) -> bool {
        self.in_packet.is_none_or(|in_packet| in_packet == lane)
    }

    /// Chooses a lane; `candidates` are the heads of the lanes that may be chosen.
    pub(crate) fn choose(&mut self, candidates: &[Option<Head>]) -> Option<u8> {
        if let Some(lane) = self.in_packet {
            return candidates[usize::from(lane)].map(|_| lane);
        }
        let bit = |(lane, head): (usize, &Option<Head>)| u16::from(head.is_some()) << lane;
        let eligible = candidates.iter().enumerate().map(bit).sum();
        let heads: Vec<Head> = candidates.iter().map(|head| head.unwrap_or_default()).collect();
        self.arbiter.serve(eligible, &heads)
    }

    pub(crate) fn sent(&mut self, lane: u8, is_tail: bool) {
        if self.is_by_packet() {
            self.in_packet = (!is_tail).then_some(lane);
        }
    }
}
