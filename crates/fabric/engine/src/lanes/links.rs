//! Output lanes at the sending ends of channels, credits for the far ends, and flits on the wire.
//!
//! ```text
//!   input lane  ──(crossbar)──► output lane   fill, credit ──(wire)──► input lane of the next switch
//! ```
//!
//! Invariants: `filled` marks output lanes with flits (at a host, lanes with a packet in progress),
//! `credited` lanes with credits, and `held` lanes held by an input lane. For each lane, the
//! credits here, the credits and flits on the wire, and the flits in the buffer at the far end add
//! up to the depth of that buffer.

use crate::bits::Bits;
use crate::lanes::arbiters::Arbiters;
use crate::lanes::clock::Clock;
use crate::lanes::context::Context;
use crate::lanes::layout::{LANES, Layout, NONE, SHIFT, bit_of, lanes_of, number_of, round_robin};
use crate::lanes::network::Watched;
use crate::lanes::ring::Ring;
use crate::lanes::switches::Switches;
use gingham_fairq::Head;
use gingham_net::{OutputLoad, PipelinePlan, Plan, Reallocation, Scheduler};
use gingham_topology::EndpointId;
use std::collections::VecDeque;

/// Flag: the channel leads to a host that accepts every flit.
pub(crate) const TO_HOST: u8 = 1;
pub(crate) const SLOW: u8 = 2;
/// Flag: the channel leads to a host that stops its senders.
const BACKPRESSURED_EJECTION: u8 = 4;
/// Flag: the port has an arbiter other than flit-level round robin.
const NON_DEFAULT_ARBITER: u8 = 8;

#[derive(Clone, Debug)]
pub(crate) struct Links {
    ports: Vec<LinkPort>,
    lanes: Vec<OutputLane>,
    depths: [u16; LANES],
    pub(crate) ready: Bits,
    /// Ports whose channel counts may change in the current section: ports that may have sent a flit
    /// or waited for credits in it, and ports with flits or credits in flight since its start.
    pub(crate) active: Bits,
    /// Flits on their way to switches and to hosts that stop their senders.
    pub(crate) arrivals: Ring,
    pub(crate) ejections: Ring,
    credits: Ring,
    /// Whether flits take their credits at the crossbar, so that an output lane contains only the
    /// flit that the link sends in the next tick.
    pays_at_crossing: bool,
    /// Whether a packet may have to wait for more than one credit of a lane.
    counts_credits: bool,
    /// Lanes released in this tick that can be granted only from the next tick on.
    released: Option<Released>,
    /// End of the busy time of each port's channel, in ps; empty if no channel is slow.
    free_ps: Vec<u64>,
    pub(crate) arbiters: Arbiters,
    /// Number of unsent flits of each packet, in order, for each output lane with a non-default
    /// arbiter.
    packets: Vec<VecDeque<u32>>,
    pub(crate) watched: Option<Box<Watched>>,
    credit_waits: Vec<CreditWait>,
    /// Switch ports that flits may cross to in this tick, if credits are taken at the crossbar.
    pub(crate) unpaid: Bits,
    cycle_ps: u64,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LinkPort {
    pub(crate) flits: u64,
    pub(crate) peer: u32,
    /// Ticks from sending a flit to its arrival, unless the channel is slow.
    pub(crate) latency: u32,
    /// Ticks from the departure of a flit from its buffer to the receipt of its credit.
    pub(crate) credit_latency: u32,
    pub(crate) filled: u16,
    pub(crate) credited: u16,
    /// Lanes that may send: all lanes, or only the lane of the packet in progress.
    open: u16,
    /// Round-robin state: bit mask of the lanes above the last served lane.
    after: u16,
    pub(crate) held: u16,
    flags: u8,
    wait: u8,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct OutputLane {
    pub(crate) fill: u16,
    pub(crate) credit: u16,
    /// Number of credits not promised to a packet, at most `credit`; used for cut-through.
    pub(crate) unpromised: u16,
    /// Input lane that holds the output lane, numbered within the switch.
    pub(crate) holder: u16,
}

const _: () = assert!(
    size_of::<LinkPort>() == 32 && size_of::<OutputLane>() == 8,
    "two ports fit a cache line, and lanes are small"
);

impl LinkPort {
    #[inline]
    fn take(&mut self, output: &mut OutputLane, lane: usize, depth: u16) -> bool {
        let was_full = output.fill == depth;
        output.fill -= 1;
        self.filled &= !(u16::from(output.fill == 0) << lane);
        was_full && self.held >> lane & 1 == 1
    }

    #[inline]
    fn spend_credit(&mut self, output: &mut OutputLane, lane: usize) {
        output.credit -= 1;
        self.credited &= !(u16::from(output.credit == 0) << lane);
        self.flits += 1;
    }

    fn new(plan: &Plan, lanes: &PipelinePlan, layout: &Layout, port: usize) -> Self {
        let empty = Self { open: u16::MAX, after: u16::MAX, ..Self::default() };
        let Some(channel) = layout.channels()[port] else { return empty };
        let (ends, timing) = (plan.ends(channel), plan.channel(channel));
        let is_switch = plan.is_switch(ends.target.node);
        let to_host = !plan.has_buffer(channel);
        let to_lanes = !to_host && !is_switch;
        let has_arbiter =
            plan.is_switch(ends.source.node) && plan.lanes.link_output != Scheduler::default();
        let pipeline_cycles = if is_switch { lanes.pipeline_cycles } else { 0 };
        let ticks = |cycles| u32::try_from(cycles).expect("a delay has fewer than 2^32 cycles");
        let peer = layout.port(gingham_topology::Fabric::reverse(channel));
        let count = gingham_topology::routing::LaneSet::first_n(plan.lanes.count);
        let flag = |flag: u8, is_set: bool| if is_set { flag } else { 0 };
        Self {
            peer: u32::try_from(peer).expect("ports have 32 bits"),
            latency: ticks(1 + timing.delay.div_ceil(lanes.cycle)) + pipeline_cycles,
            credit_latency: ticks(lanes.credit_cycles(timing)),
            credited: if to_host { u16::MAX } else { count.bits() },
            flags: flag(TO_HOST, to_host)
                | flag(SLOW, timing.flit > lanes.cycle)
                | flag(BACKPRESSURED_EJECTION, to_lanes)
                | flag(NON_DEFAULT_ARBITER, has_arbiter),
            ..empty
        }
    }

    #[inline]
    pub(crate) const fn can_send(&self) -> u16 {
        self.filled & self.credited & self.open
    }

    pub(crate) const fn idle(&self) -> u16 {
        !self.filled & self.credited
    }

    /// Returns whether no packet is in progress; always true with flit-level arbitration.
    pub(crate) const fn is_open(&self) -> bool {
        self.open == u16::MAX
    }

    #[inline]
    pub(crate) const fn is(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    #[inline]
    pub(crate) const fn is_plain(&self) -> bool {
        self.flags == 0
    }

    #[inline]
    pub(crate) const fn is_common(&self) -> bool {
        self.flags & !TO_HOST == 0
    }

    pub(crate) const fn ends_at_switch(&self) -> bool {
        self.flags & (TO_HOST | BACKPRESSURED_EJECTION) == 0
    }

    #[inline]
    pub(crate) const fn peer_lane(&self, lane: usize) -> usize {
        (self.peer as usize) << SHIFT | lane
    }
}

impl Links {
    pub(crate) fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        layout: &Layout,
        ticks_ahead: u64,
    ) -> Self {
        let count = layout.channels().len();
        let lane = |index: usize| {
            let credit = narrow(lanes.depths_flits[number_of(index)]);
            OutputLane { fill: 0, credit, unpromised: credit, holder: NONE }
        };
        let slow = plan.channels.iter().any(|channel| channel.flit > lanes.cycle);
        let arbiters = Arbiters::new(&plan.lanes.link_output, plan, lanes, layout.first_host);
        let tracked = if arbiters.are_default { 0 } else { layout.first_host << SHIFT };
        Self {
            ports: (0..count).map(|port| LinkPort::new(plan, lanes, layout, port)).collect(),
            lanes: (0..count << SHIFT).map(lane).collect(),
            depths: lanes.output_depths_flits.map(|depth| narrow(depth.max(1))),
            pays_at_crossing: lanes.pays_at_crossing(),
            ready: Bits::new(count),
            active: Bits::new(count),
            arrivals: Ring::new(ticks_ahead),
            ejections: Ring::new(ticks_ahead),
            credits: Ring::new(ticks_ahead),
            counts_credits: lanes.counts_credits(),
            released: (lanes.reallocation == Reallocation::AfterTail)
                .then(|| Released::new(layout.first_host)),
            free_ps: vec![0; if slow { count } else { 0 }],
            arbiters,
            packets: vec![VecDeque::new(); tracked],
            watched: Watched::new(plan, layout).map(Box::new),
            credit_waits: vec![CreditWait::NONE; count],
            unpaid: Bits::new(layout.first_host),
            cycle_ps: lanes.cycle.as_ps(),
        }
    }

    #[inline]
    pub(crate) fn port(&self, port: usize) -> &LinkPort {
        &self.ports[port]
    }

    #[inline]
    pub(crate) fn lane(&self, lane: usize) -> &OutputLane {
        &self.lanes[lane]
    }

    pub(crate) fn lane_count(&self) -> usize {
        self.lanes.len()
    }

    /// Returns the loads of the outputs at an endpoint's first switch, in port order.
    pub(crate) fn output_loads(&self, endpoint: EndpointId, context: &Context) -> Vec<OutputLoad> {
        let depths = &context.lanes.depths_flits[..usize::from(context.plan.lanes.count)];
        let credits_out = |channel| {
            let port = context.layout.port(channel);
            if self.ports[port].flags & TO_HOST != 0 {
                return 0;
            }
            let lanes = &self.lanes[port << SHIFT..];
            depths
                .iter()
                .zip(lanes)
                .map(|(depth, lane)| u64::from(*depth) - u64::from(lane.credit))
                .sum()
        };
        let outputs = context.plan.first_outputs(endpoint);
        outputs
            .map(|channel| OutputLoad { credits_out: credits_out(channel), waiting_bytes: 0 })
            .collect()
    }

    pub(crate) fn opposite(&self, lane: usize) -> usize {
        self.ports[lane >> SHIFT].peer_lane(number_of(lane))
    }

    pub(crate) fn are_tracked(&self) -> bool {
        !self.arbiters.are_default
    }

    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        let rings = [&self.arrivals, &self.ejections, &self.credits];
        rings.iter().filter_map(|ring| ring.next_due(tick)).min()
    }

    pub(crate) fn arriving(&self, tick: u64) -> Vec<u32> {
        let mut lanes = self.arrivals.due(tick).to_vec();
        lanes.sort_unstable();
        lanes
    }

    /// Receives the credits that arrive at `tick`. Requests VC allocation if heads may wait for
    /// several credits.
    pub(crate) fn receive_credits(&mut self, tick: u64, switches: &mut Switches) {
        let due = self.credits.take(tick);
        for &lane in &due {
            let lane = lane as usize;
            let was_unpaid = self.is_unpaid(lane);
            self.receive_credit(lane);
            if was_unpaid && self.ports[lane >> SHIFT].held & bit_of(lane) != 0 {
                switches.make_room(lane >> SHIFT, self.lanes[lane].holder);
            }
            if self.counts_credits && lane >> SHIFT < switches.ports().len() {
                switches.allocating.insert(lane >> SHIFT);
            }
        }
        self.credits.give_back(tick, due);
    }

    #[inline]
    pub(crate) fn receive_credit(&mut self, lane: usize) {
        let output = &mut self.lanes[lane];
        output.credit += 1;
        if self.counts_credits {
            // Adapters and wormhole lanes promise no credits.
            output.unpromised = output.unpromised.saturating_add(1);
        }
        if output.credit == 1 || self.counts_credits {
            self.ports[lane >> SHIFT].credited |= bit_of(lane);
            self.ready.insert(lane >> SHIFT);
        }
    }

    pub(crate) fn hold(&mut self, lane: usize, holder: u16, promised: u16) {
        self.lanes[lane].holder = holder;
        self.lanes[lane].unpromised -= promised;
        self.ports[lane >> SHIFT].held |= bit_of(lane);
        if let Some(watched) = &mut self.watched {
            watched.note(lane >> SHIFT);
        }
    }

    #[inline]
    pub(crate) fn are_watched(&self) -> bool {
        self.watched.is_some()
    }

    #[inline]
    pub(crate) fn release(&mut self, lane: usize) {
        self.ports[lane >> SHIFT].held &= !bit_of(lane);
        if let Some(released) = &mut self.released {
            released.insert(lane);
        }
        if let Some(watched) = &mut self.watched {
            watched.note(lane >> SHIFT);
        }
    }

    #[inline]
    pub(crate) fn is_full(&self, lane: usize) -> bool {
        self.lanes[lane].fill == self.depths[number_of(lane)] || self.is_unpaid(lane)
    }

    pub(crate) fn is_unpaid(&self, lane: usize) -> bool {
        self.pays_at_crossing && self.ports[lane >> SHIFT].credited & bit_of(lane) == 0
    }

    #[inline]
    pub(crate) fn put(&mut self, lane: usize) -> bool {
        let output = &mut self.lanes[lane];
        output.fill += 1;
        self.ports[lane >> SHIFT].filled |= bit_of(lane);
        self.ready.insert(lane >> SHIFT);
        output.fill == self.depths[number_of(lane)]
    }

    /// Removes a flit. Returns whether an input lane waits for the space.
    #[inline]
    pub(crate) fn take(&mut self, port: usize, lane: usize) -> bool {
        self.ports[port].take(&mut self.lanes[port << SHIFT | lane], lane, self.depths[lane])
    }

    #[inline]
    pub(crate) fn take_ready(&mut self, word: usize) -> u64 {
        let ports = self.ready.take(word);
        self.active.words[word] |= ports;
        ports
    }

    #[must_use]
    #[inline]
    pub(crate) fn spend_credit(&mut self, port: usize, lane: usize) -> bool {
        let state = &mut self.ports[port];
        state.spend_credit(&mut self.lanes[port << SHIFT | lane], lane);
        state.can_send() != 0
    }

    #[must_use]
    #[inline]
    pub(crate) fn launch(&mut self, port: usize, lane: usize, there: u64) -> bool {
        let can_send = self.spend_credit(port, lane);
        let state = &self.ports[port];
        let to = state.peer_lane(lane);
        if state.is(BACKPRESSURED_EJECTION) {
            self.ejections.push(there, to);
        } else {
            self.arrivals.push(there, to);
        }
        can_send
    }

    /// Sends a flit of the next lane in round-robin order, on an ordinary channel. Returns the
    /// lane, and whether an input lane waits for the space. If the channel ends at a host that
    /// accepts every flit, the caller must call [`Self::eject`] next.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(crate) fn traverse(&mut self, port: usize, tick: u64) -> Option<(usize, bool)> {
        let state = &mut self.ports[port];
        let lanes = state.can_send();
        if lanes == 0 {
            self.note_not_sent(port, tick);
            return None;
        }
        let lane = round_robin(lanes, &mut state.after);
        let output = &mut self.lanes[port << SHIFT | lane];
        let is_waited_for = state.take(output, lane, self.depths[lane]);
        if !state.is(TO_HOST) {
            state.spend_credit(output, lane);
            let (there, to) = (tick + u64::from(state.latency), state.peer_lane(lane));
            if state.can_send() != 0 {
                self.ready.insert(port);
            }
            self.arrivals.push(there, to);
            self.note_sent(port, tick);
        }
        Some((lane, is_waited_for))
    }

    /// Sends a flit to a host that accepts every flit. Returns the input lane at the host.
    pub(crate) fn eject(&mut self, port: usize, lane: usize) -> usize {
        let state = &mut self.ports[port];
        state.flits += 1;
        if state.can_send() != 0 {
            self.ready.insert(port);
        }
        state.peer_lane(lane)
    }

    /// Returns the start time, in ps, of a flit taken at `tick`; `None` if the channel is busy.
    #[inline]
    pub(crate) fn begin_flit(&self, port: usize, tick: u64, clock: &Clock) -> Option<u64> {
        if !self.ports[port].is(SLOW) {
            return Some(clock.now());
        }
        let free = self.free_ps[port];
        (free < (tick + 1) * clock.cycle_ps()).then(|| free.max(clock.now()))
    }

    pub(crate) fn occupy(&mut self, port: usize, until_ps: u64) {
        self.free_ps[port] = until_ps;
    }

    pub(crate) fn free_ps(&self, port: usize) -> u64 {
        self.free_ps[port]
    }

    pub(crate) fn returning_credits(&self) -> impl Iterator<Item = usize> {
        self.credits.iter()
    }

    pub(crate) fn arriving_flits(&self) -> impl Iterator<Item = usize> {
        self.arrivals.iter().chain(self.ejections.iter())
    }

    #[inline]
    pub(crate) fn send_credit(&mut self, lane: usize, tick: u64) {
        self.credits.push(tick, lane);
    }

    pub(crate) fn forget_released(&mut self) {
        self.released = None;
    }

    pub(crate) fn keep_to(&mut self, port: usize, lane: usize) {
        self.ports[port].open = 1 << lane;
    }

    pub(crate) fn begin_packet(&mut self, port: usize, lane: usize) {
        self.ports[port].filled |= 1 << lane;
    }

    pub(crate) fn end_packet(&mut self, port: usize, lane: usize) {
        self.ports[port].filled &= !(1 << lane);
        self.ports[port].open = u16::MAX;
    }
}

fn narrow(depth_flits: u32) -> u16 {
    u16::try_from(depth_flits).expect("a lane is of fewer than 2^16 flits")
}

impl Links {
    #[inline]
    pub(crate) fn serve_round_robin(&mut self, port: usize, lanes: u16) -> usize {
        round_robin(lanes, &mut self.ports[port].after)
    }

    /// Sends a flit from the next lane in round-robin order if `suits` accepts the lane. Returns
    /// the lane, and whether the channel can send another flit.
    #[expect(clippy::inline_always, reason = "who asks has the port at hand: 2 % on trees")]
    #[inline(always)]
    pub(crate) fn spend_round_robin_if(
        &mut self,
        port: usize,
        lanes: u16,
        suits: impl FnOnce(usize) -> bool,
    ) -> Option<(usize, bool)> {
        let state = &mut self.ports[port];
        let mut after = state.after;
        let lane = round_robin(lanes, &mut after);
        suits(lane).then(|| {
            state.after = after;
            state.spend_credit(&mut self.lanes[port << SHIFT | lane], lane);
            (lane, state.can_send() != 0)
        })
    }

    pub(crate) fn serve(&mut self, port: usize, lanes: u16) -> Option<usize> {
        if self.arbiters.are_default {
            return Some(self.serve_round_robin(port, lanes));
        }
        let is_by_packet = self.arbiters.are_by_packet;
        if is_by_packet && !self.ports[port].is_open() {
            return Some(lanes.trailing_zeros() as usize);
        }
        let mut heads = [Head::default(); LANES];
        let mut able = 0;
        for lane in lanes_of(lanes) {
            let place = port << SHIFT | lane;
            let flits = *self.packets[place].front().expect("a flit is of a packet");
            let is_short = is_by_packet && u32::from(self.lanes[place].credit) < flits;
            if !is_short || self.ports[port].is(TO_HOST) {
                able |= 1 << lane;
            }
            heads[lane] = self.arbiters.head(flits, self.arbiters.arrival_ps(place));
        }
        let lane = self.arbiters.serve(port, able, &heads)?;
        if is_by_packet {
            self.keep_to(port, lane);
        }
        Some(lane)
    }
}

// Late reallocation: a lane is granted again only some time after the previous tail has crossed.
//
// ```text
//   after-tail     released in this tick ─► can be granted from the next tick on
//   tail-credit    can be granted when the output lane is empty and has all its credits
// ```

#[derive(Clone, Debug)]
struct Released {
    lanes: Vec<u16>,
    ports: Vec<usize>,
}

impl Released {
    fn new(ports: usize) -> Self {
        Self { lanes: vec![0; ports], ports: Vec::new() }
    }

    fn insert(&mut self, lane: usize) {
        let lanes = &mut self.lanes[lane >> SHIFT];
        if *lanes == 0 {
            self.ports.push(lane >> SHIFT);
        }
        *lanes |= bit_of(lane);
    }
}

impl Links {
    /// Returns whether the reallocation rule permits granting a free lane, apart from credits.
    #[inline]
    pub(crate) fn is_released(&self, port: usize, lane: usize) -> bool {
        self.released.as_ref().is_none_or(|released| released.lanes[port] >> lane & 1 == 0)
    }

    pub(crate) fn end_release(&mut self, allocating: &mut Bits) {
        let Some(released) = &mut self.released else { return };
        for port in released.ports.drain(..) {
            released.lanes[port] = 0;
            allocating.insert(port);
        }
    }

    /// Returns whether the output lane, the channel and the buffer at its end contain no flits of a
    /// lane. Always true if the channel ends at a host that accepts every flit.
    pub(crate) fn is_at_rest(&self, lane: usize, depth: u32) -> bool {
        let output = &self.lanes[lane];
        self.ports[lane >> SHIFT].is(TO_HOST)
            || output.fill == 0 && u32::from(output.credit) == depth
    }
}

// Credit waits: periods when a channel sent no flit but could have sent one with more credits.
//
// ```text
//   filled and open, not credited    flits in output lanes, or of packets in progress at a host
//   SHORT                            a head without a lane, for lack of credits alone
//   UNPAID                           flits at the crossbar, if they take their credits there
// ```
//
// Any change of a credit wait either marks its port for a visit or is recorded directly, so the
// wait of an unvisited port is unchanged.

const WAITS: u8 = 1;
const SHORT: u8 = 2;
const UNPAID: u8 = 4;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct CreditWait {
    /// Start of the current wait, in ps, possibly in the future, or `NOT_WAITING`.
    since_ps: u64,
    past_ps: u64,
}

const NOT_WAITING: u64 = u64::MAX;

impl CreditWait {
    const NONE: Self = Self { since_ps: NOT_WAITING, past_ps: 0 };
}

impl LinkPort {
    #[inline]
    pub(crate) const fn waits(&self) -> bool {
        self.wait & WAITS != 0
    }

    #[inline]
    const fn lacks_credits(&self) -> bool {
        self.can_send() == 0 && (self.unsent() != 0 || self.wait & (SHORT | UNPAID) != 0)
    }

    #[inline]
    pub(crate) const fn unsent(&self) -> u16 {
        self.filled & self.open
    }
}

impl Links {
    #[inline]
    pub(crate) fn note_not_sent(&mut self, port: usize, tick: u64) {
        self.set_wait(port, self.ports[port].lacks_credits(), tick);
    }

    #[inline]
    pub(crate) fn note_sent(&mut self, port: usize, tick: u64) {
        let state = &self.ports[port];
        if state.waits() || state.lacks_credits() {
            self.note_wait_after(port, tick);
        }
    }

    #[inline(never)]
    fn note_wait_after(&mut self, port: usize, tick: u64) {
        self.set_wait(port, false, tick);
        self.note_not_sent(port, tick + 1);
    }

    #[inline]
    pub(crate) fn set_wait(&mut self, port: usize, waits: bool, tick: u64) {
        if self.ports[port].waits() != waits {
            self.change_wait(port, tick);
        }
    }

    #[inline(never)]
    fn change_wait(&mut self, port: usize, tick: u64) {
        let (state, wait) = (&mut self.ports[port], &mut self.credit_waits[port]);
        state.wait ^= WAITS;
        self.active.insert(port);
        let now = tick * self.cycle_ps;
        if state.waits() {
            wait.since_ps = if state.is(SLOW) { now.max(self.free_ps[port]) } else { now };
        } else {
            wait.past_ps = wait.past_ps.wrapping_add(now.saturating_sub(wait.since_ps));
            wait.since_ps = NOT_WAITING;
        }
    }

    pub(crate) fn waited_ps(&self, port: usize, end_ps: u64) -> u64 {
        let CreditWait { since_ps, past_ps } = self.credit_waits[port];
        past_ps.wrapping_add(end_ps.saturating_sub(since_ps))
    }

    pub(crate) fn ticks_ps(&self, ticks: u64) -> u64 {
        ticks.wrapping_mul(self.cycle_ps)
    }

    pub(crate) fn gather_unpaid(&mut self) {
        for (unpaid, ready) in self.unpaid.words.iter_mut().zip(&self.ready.words) {
            *unpaid |= ready;
        }
    }

    #[inline]
    pub(crate) fn set_short(&mut self, port: usize, is_short: bool) {
        self.set_cause(port, SHORT, is_short);
    }

    pub(crate) fn set_unpaid(&mut self, port: usize, is_unpaid: bool) {
        self.set_cause(port, UNPAID, is_unpaid);
    }

    #[inline]
    fn set_cause(&mut self, port: usize, cause: u8, is_so: bool) {
        let state = &mut self.ports[port];
        if (state.wait & cause != 0) != is_so {
            state.wait ^= cause;
            self.ready.insert(port);
        }
    }
}

impl Links {
    pub(crate) fn track_packet(&mut self, lane: usize, flits: u32) {
        if let Some(packets) = self.packets.get_mut(lane) {
            packets.push_back(flits);
        }
    }

    pub(crate) fn track_arrival(&mut self, lane: usize, tick: u64) {
        self.arbiters.track_arrival(lane, tick);
    }

    pub(crate) fn track_departure(&mut self, port: usize, lane: usize) {
        let place = port << SHIFT | lane;
        self.arbiters.track_departure(place);
        let Some(packets) = self.packets.get_mut(place) else { return };
        let left = packets.front_mut().expect("a flit is of a packet");
        *left -= 1;
        if *left == 0 {
            packets.pop_front();
            self.ports[port].open = u16::MAX;
        }
    }
}
