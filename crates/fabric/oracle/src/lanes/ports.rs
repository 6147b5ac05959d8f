//! Both ends of a channel: output lanes and credits at its start, lane buffers at its end.
//!
//! ```text
//!   Output: output lanes ─► link ───── channel ─────► Input: lane buffers
//!           credits    ◄───────────────────────────── a flit has left its lane buffer
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
    pub(crate) since: Tick,
}

#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) lanes: Vec<InputLane>,
    pub(crate) crossbar_ports: Vec<CrossbarInput>,
    /// Time integral of the total fill level of all lanes, up to the last change, in flit-ps.
    occupancy_flit_ps: u128,
    changed: Time,
}

#[derive(Clone, Debug)]
pub(crate) struct CrossbarInput {
    pub(crate) chooser: Chooser,
    /// Round-robin pointer over crossbar outputs, if the allocator selects outputs by round robin.
    pub(crate) outputs: RoundRobin,
}

#[derive(Clone, Debug, Default)]
pub(crate) struct InputLane {
    buffer: VecDeque<BufferedFlit>,
    pub(crate) holds: Option<Hold>,
    /// Output chosen for the head, if heads choose only once.
    pub(crate) chosen: Option<ChannelId>,
    /// Round-robin pointer of iSLIP, after the output lane last accepted by a head.
    pub(crate) lane_pointer: RoundRobin,
    /// Tick when the previous tail crossed; 0 before the first tail.
    tail_crossed: Tick,
}

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

    /// Returns a head without an output lane, and the tick when stages 2 and 3 start for it: when
    /// it arrived or when the previous tail crossed, whichever is later.
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

    pub(crate) fn enter(&mut self, lane: u8, flit: Flit, tick: Tick, now: Time) {
        self.settle_occupancy(now);
        self.lane_mut(lane).buffer.push_back(BufferedFlit { flit, since: tick });
    }

    pub(crate) fn leave(&mut self, lane: u8, now: Time) -> Flit {
        self.settle_occupancy(now);
        self.lane_mut(lane).buffer.pop_front().expect("a flit stands first").flit
    }

    pub(crate) fn release(&mut self, lane: u8, tick: Tick) {
        let lane = self.lane_mut(lane);
        lane.holds = None;
        lane.tail_crossed = tick;
    }

    pub(crate) fn fill(&self) -> usize {
        self.lanes.iter().map(InputLane::fill).sum()
    }

    pub(crate) fn occupancy_flit_ps(&self, now: Time) -> u128 {
        self.occupancy_flit_ps + self.fill() as u128 * u128::from(now.since(self.changed).as_ps())
    }

    fn settle_occupancy(&mut self, now: Time) {
        self.occupancy_flit_ps = self.occupancy_flit_ps(now);
        self.changed = now;
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) free: Time,
    pub(crate) lanes: Vec<OutputLane>,
    pub(crate) chooser: Chooser,
    /// Round-robin pointer of VC allocation for each level, over heads (input port and lane).
    pub(crate) head_pointers: Vec<RoundRobin>,
    pub(crate) lane_pointer: RoundRobin,
    pub(crate) crossbar_ports: Vec<Granting>,
    /// Whether VC allocation left a head without a lane only for lack of credits.
    pub(crate) is_short: bool,
    /// Whether only a lack of credits prevented flits at the crossbar from crossing.
    pub(crate) is_unpaid: bool,
    pub(crate) wait: CreditWait,
}

#[derive(Clone, Debug)]
pub(crate) enum Granting {
    Inputs(RoundRobin),
    Lanes(Chooser),
}

impl Granting {
    pub(crate) fn is_open_to(&self, lane: u8) -> bool {
        match self {
            Self::Inputs(_) => true,
            Self::Lanes(chooser) => chooser.is_open_to(lane),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct OutputLane {
    pub(crate) buffer: VecDeque<BufferedFlit>,
    pub(crate) holder: Option<(ChannelId, u8)>,
    /// Round-robin pointer of iSLIP for each level, after the last accepted grant.
    pub(crate) head_pointers: Vec<RoundRobin>,
    /// Tick when the last tail crossed into the lane.
    pub(crate) released: Option<Tick>,
    /// Credits of the lane; `None` if the receiver accepts every flit.
    pub(crate) credits: Option<Credits>,
}

/// Credits for the lane buffer at the other end, in flits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credits {
    pub(crate) depth: u64,
    pub(crate) here: u64,
    pub(crate) promised: u64,
    pub(crate) on_their_way: u64,
}

impl OutputLane {
    pub(crate) fn is_at_rest(&self) -> bool {
        self.credits.is_none_or(|credits| credits.here == credits.depth && self.buffer.is_empty())
    }

    pub(crate) fn has_credits(&self, flits: u64) -> bool {
        self.credits.is_none_or(|credits| credits.here - credits.promised >= flits)
    }

    /// Returns whether fewer than `flits` unpromised credits will be available once all credits on
    /// their way have arrived.
    pub(crate) fn stays_short_of(&self, flits: u64) -> bool {
        self.credits
            .is_some_and(|credits| credits.here + credits.on_their_way - credits.promised < flits)
    }

    pub(crate) fn has_credit(&self) -> bool {
        self.credits.is_none_or(|credits| credits.here > 0)
    }

    pub(crate) fn promise(&mut self, flits: u64) {
        if let Some(credits) = &mut self.credits {
            credits.promised += flits;
        }
    }

    pub(crate) fn keep_promise(&mut self) {
        if let Some(credits) = &mut self.credits {
            credits.promised -= 1;
        }
    }
}

impl Output {
    /// Creates an output. `crossbar` is the arbiter of crossbar outputs that arbitrate by lane;
    /// `depths` are the depths, in flits, of the buffers at the end of the channel.
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

    pub(crate) fn fill(&self) -> usize {
        self.lanes.iter().map(|lane| lane.buffer.len()).sum()
    }
}

/// Arbiter among the lanes of a port. With packet-level arbitration, it keeps serving a lane until
/// the packet's tail has left.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    arbiter: LaneArbiter,
    granularity: Granularity,
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

    /// Returns whether no packet is in progress; always true with flit-level arbitration.
    pub(crate) fn is_open(&self) -> bool {
        self.in_packet.is_none()
    }

    pub(crate) fn is_open_to(&self, lane: u8) -> bool {
        self.in_packet.is_none_or(|in_packet| in_packet == lane)
    }

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
