//! Both ends of a channel: lane buffers where it ends, output lanes and credits where it begins.
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

/// A flit in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BufferedFlit {
    pub(crate) flit: Flit,
    /// The tick at which it was there, or crossed.
    pub(crate) since: Tick,
}

/// Where a channel ends: its lane buffers.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) lanes: Vec<InputLane>,
    /// Its ways into a multiplexed crossbar.
    pub(crate) ways: Vec<WayIn>,
    /// Fill of all lanes times time, from the start of the run to the last change of it.
    occupancy_flit_ps: u128,
    changed: Time,
}

/// A way of an input port into a multiplexed crossbar.
#[derive(Clone, Debug)]
pub(crate) struct WayIn {
    /// Which of its lanes crosses.
    pub(crate) chooser: Chooser,
    /// The way out that it was matched with last, where these are taken in turn.
    pub(crate) outputs: RoundRobin,
}

/// A lane buffer, and what its first packet has been granted.
#[derive(Clone, Debug, Default)]
pub(crate) struct InputLane {
    buffer: VecDeque<BufferedFlit>,
    /// The output lane that it holds.
    pub(crate) holds: Option<Hold>,
    /// The output that its head chose for good.
    pub(crate) chosen: Option<ChannelId>,
    /// VC allocation by iSLIP: the output lane of the switch that a head accepted last.
    pub(crate) lane_pointer: RoundRobin,
    /// When the tail before what stands first crossed; 0 if there was none.
    tail_crossed: Tick,
}

/// An output lane that an input lane holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hold {
    pub(crate) output: ChannelId,
    pub(crate) lane: u8,
    /// When it was granted.
    pub(crate) since: Tick,
}

impl InputLane {
    /// What stands first.
    pub(crate) fn first(&self) -> Option<BufferedFlit> {
        self.buffer.front().copied()
    }

    pub(crate) fn fill(&self) -> usize {
        self.buffer.len()
    }

    /// What is in it, the first first.
    pub(crate) fn flits(&self) -> impl Iterator<Item = Flit> {
        self.buffer.iter().map(|buffered| buffered.flit)
    }

    /// The head that stands first and holds nothing yet, and the tick at which stages 2 and 3 begin
    /// with it: it was there then, and no packet before it.
    pub(crate) fn head(&self) -> Option<(Flit, Tick)> {
        let first = self.first().filter(|_| self.holds.is_none())?;
        assert_eq!(first.flit.index, 0, "what holds no output lane is a head");
        Some((first.flit, first.since.max(self.tail_crossed)))
    }
}

impl Input {
    pub(crate) fn new(lanes: &LanePlan, ways: u8, arbiter: &Scheduler) -> Self {
        let way = WayIn { chooser: Chooser::new(arbiter, lanes), outputs: RoundRobin::default() };
        Self {
            lanes: vec![InputLane::default(); lanes.count.into()],
            ways: vec![way; ways.into()],
            occupancy_flit_ps: 0,
            changed: Time::ZERO,
        }
    }

    pub(crate) fn lane(&self, lane: u8) -> &InputLane {
        &self.lanes[usize::from(lane)]
    }

    /// The way of a lane into the crossbar.
    pub(crate) fn way_of(&mut self, lane: u8) -> &mut WayIn {
        let ways = self.ways.len();
        &mut self.ways[usize::from(lane) % ways]
    }

    pub(crate) fn lane_mut(&mut self, lane: u8) -> &mut InputLane {
        &mut self.lanes[usize::from(lane)]
    }

    /// A flit is there from `now` on, the instant of this tick.
    pub(crate) fn enter(&mut self, lane: u8, flit: Flit, tick: Tick, now: Time) {
        self.settle_occupancy(now);
        self.lane_mut(lane).buffer.push_back(BufferedFlit { flit, since: tick });
    }

    /// The first flit of a lane leaves.
    pub(crate) fn leave(&mut self, lane: u8, now: Time) -> Flit {
        self.settle_occupancy(now);
        self.lane_mut(lane).buffer.pop_front().expect("a flit stands first").flit
    }

    /// A tail has crossed, and what it held is free.
    pub(crate) fn release(&mut self, lane: u8, tick: Tick) {
        let lane = self.lane_mut(lane);
        lane.holds = None;
        lane.tail_crossed = tick;
    }

    /// Flits of all lanes.
    pub(crate) fn fill(&self) -> usize {
        self.lanes.iter().map(InputLane::fill).sum()
    }

    /// Fill times time, from the start of the run to `now`.
    pub(crate) fn occupancy_flit_ps(&self, now: Time) -> u128 {
        self.occupancy_flit_ps + self.fill() as u128 * u128::from(now.since(self.changed).as_ps())
    }

    fn settle_occupancy(&mut self, now: Time) {
        self.occupancy_flit_ps = self.occupancy_flit_ps(now);
        self.changed = now;
    }
}

/// Where a channel begins.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// A flit may begin from then on.
    pub(crate) free: Time,
    pub(crate) lanes: Vec<OutputLane>,
    /// Which lane the link takes a flit of: the arbiter of the link output, or of the adapter port.
    pub(crate) chooser: Chooser,
    /// Virtual-channel allocation, by level: which head is granted a lane, among input ports and
    /// their lanes.
    pub(crate) head_pointers: Vec<RoundRobin>,
    /// Virtual-channel allocation: which lane is granted.
    pub(crate) lane_pointer: RoundRobin,
    /// Switch allocation: whom each way out of a multiplexed crossbar to it grants.
    pub(crate) ways: Vec<Granting>,
    /// Whether VC allocation left a head without a lane for want of credits alone.
    pub(crate) is_short: bool,
    /// Whether flits could have crossed but for credits, where these are taken at the crossbar.
    pub(crate) is_unpaid: bool,
    /// Time that it waited for credits.
    pub(crate) wait: CreditWait,
}

/// How a way out of a multiplexed crossbar grants.
#[derive(Clone, Debug)]
pub(crate) enum Granting {
    /// Ways in, in turn: the last that was matched.
    Inputs(RoundRobin),
    /// Output lanes, by an arbiter.
    Lanes(Chooser),
}

impl Granting {
    /// Whether it could grant the holder of an output lane.
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
    /// The input lane that holds it.
    pub(crate) holder: Option<(ChannelId, u8)>,
    /// VC allocation by iSLIP, by level: whose grant was accepted last.
    pub(crate) head_pointers: Vec<RoundRobin>,
    /// When a tail crossed into it last.
    pub(crate) released: Option<Tick>,
    /// None where the other end takes in all that comes.
    pub(crate) credits: Option<Credits>,
}

/// Free places of the lane buffer at the other end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credits {
    /// All of them.
    pub(crate) depth: u64,
    /// Those that count.
    pub(crate) here: u64,
    /// Of these, those that are promised to packets.
    pub(crate) promised: u64,
    /// Those that went back and do not count yet.
    pub(crate) on_their_way: u64,
}

impl OutputLane {
    /// Whether all that was sent has left the lane buffer at the other end, as far as is known
    /// here, and nothing is to be sent: always where there is none.
    pub(crate) fn is_at_rest(&self) -> bool {
        self.credits.is_none_or(|credits| credits.here == credits.depth && self.buffer.is_empty())
    }

    /// Whether there is a credit for so many flits, promised to nobody.
    pub(crate) fn has_credits(&self, flits: u64) -> bool {
        self.credits.is_none_or(|credits| credits.here - credits.promised >= flits)
    }

    /// Whether there will be fewer credits than that even when those on their way count.
    pub(crate) fn stays_short_of(&self, flits: u64) -> bool {
        self.credits
            .is_some_and(|credits| credits.here + credits.on_their_way - credits.promised < flits)
    }

    /// Whether a flit may go.
    pub(crate) fn has_credit(&self) -> bool {
        self.credits.is_none_or(|credits| credits.here > 0)
    }

    /// Credits of a whole packet are promised.
    pub(crate) fn promise(&mut self, flits: u64) {
        if let Some(credits) = &mut self.credits {
            credits.promised += flits;
        }
    }

    /// A flit to which a credit was promised goes.
    pub(crate) fn keep_promise(&mut self) {
        if let Some(credits) = &mut self.credits {
            credits.promised -= 1;
        }
    }
}

impl Output {
    /// `crossbar` is how it grants, if by lane; `depths` are those of the lane buffers at the other
    /// end, if it has any.
    pub(crate) fn new(
        (lanes, ways): (&LanePlan, u8),
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
            ways: vec![
                crossbar.map_or(Granting::Inputs(RoundRobin::default()), by_lane);
                ways.into()
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

    /// The way out of the crossbar to an output lane.
    pub(crate) fn way_of(&mut self, lane: u8) -> &mut Granting {
        let ways = self.ways.len();
        &mut self.ways[usize::from(lane) % ways]
    }

    /// Flits in the output lanes.
    pub(crate) fn fill(&self) -> usize {
        self.lanes.iter().map(|lane| lane.buffer.len()).sum()
    }
}

/// An arbiter of lanes at one port: by the packet it keeps to a lane until the tail has gone.
#[derive(Clone, Debug)]
pub(crate) struct Chooser {
    arbiter: LaneArbiter,
    granularity: Granularity,
    /// By the packet: the lane whose packet has begun and not ended.
    in_packet: Option<u8>,
}

impl Chooser {
    fn new(scheduler: &Scheduler, lanes: &LanePlan) -> Self {
        let arbiter = LaneArbiter::over(scheduler, lanes);
        Self { arbiter, granularity: scheduler.facts().by, in_packet: None }
    }

    /// A lane has another weight.
    pub(crate) fn weigh(&mut self, lane: u8, weight: NonZeroU16) {
        self.arbiter.weigh(lane, weight);
    }

    pub(crate) fn is_by_packet(&self) -> bool {
        self.granularity == Granularity::Packet
    }

    /// Whether it is between packets: always, by the flit.
    pub(crate) fn is_open(&self) -> bool {
        self.in_packet.is_none()
    }

    /// Whether it could choose a lane.
    pub(crate) fn is_open_to(&self, lane: u8) -> bool {
        self.in_packet.is_none_or(|in_packet| in_packet == lane)
    }

    /// Chooses among the lanes that can be chosen: by lane, what stands first there.
    pub(crate) fn choose(&mut self, candidates: &[Option<Head>]) -> Option<u8> {
        if let Some(lane) = self.in_packet {
            return candidates[usize::from(lane)].map(|_| lane);
        }
        let bit = |(lane, head): (usize, &Option<Head>)| u16::from(head.is_some()) << lane;
        let eligible = candidates.iter().enumerate().map(bit).sum();
        let heads: Vec<Head> = candidates.iter().map(|head| head.unwrap_or_default()).collect();
        self.arbiter.serve(eligible, &heads)
    }

    /// A flit of the lane that was chosen goes.
    pub(crate) fn sent(&mut self, lane: u8, is_tail: bool) {
        if self.is_by_packet() {
            self.in_packet = (!is_tail).then_some(lane);
        }
    }
}
