//! Stages 2 and 3: routing, and virtual-channel (VC) allocation.
//!
//! ```text
//!   head there at h ── routing ──► request at h + 1 + R ──► output: the first head, round robin, that a free lane would do for,
//!                                      is granted the first, round robin, of those lanes ──► holds it, may cross next tick
//! ```
//!
//! An output allocates when something changed for it: a head makes a request, a lane of it is
//! released, or credits came where a whole packet needs them. What it grants, and to whom, depends
//! on no other output, for a head requests one output alone: that of its path, or one that it chooses
//! (`adaptive`).
//!
//! The worm goes into the queue of the next input lane as the lane is granted: worms come out of an
//! output lane in the order in which it was held.

use crate::bits::Bits;
use crate::lanes::arbiters::Arbiters;
use crate::lanes::context::Context;
use crate::lanes::layout::{LANES, Layout, NONE, SHIFT, bit_of, lanes_of, number_of, round_robin};
use crate::lanes::links::TO_HOST;
use crate::lanes::matching::{LaneMatching, OutputLanes};
use crate::lanes::network::Network;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{HeadPlace, OutputChoice, PipelinePlan, Plan, Reallocation, Selector};
use gingham_topology::{ChannelId, PortRef};

/// What a head requests: any of some lanes of an output, by its port.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub(crate) output: usize,
    pub(crate) lanes: u16,
    pub(crate) level: usize,
}

impl Network {
    /// Heads whose routing is over make their requests.
    pub(crate) fn route(&mut self, context: &mut Context, tick: u64) {
        let mut due = self.switches.heads.take(tick);
        if context.endpoints.wanted().read {
            self.tell_read(&mut due, tick, context);
        }
        if self.adaptive.is_some() {
            self.choose_outputs(&due, context, tick);
        } else {
            for &lane in &due {
                self.request(lane as usize, context);
            }
        }
        context.clock.count(due.len() as u64);
        self.switches.heads.give_back(tick, due);
    }

    /// Tells the endpoints of the heads whose routing is over, in the order of switch, port and
    /// lane.
    #[inline(never)]
    fn tell_read(&self, due: &mut [u32], tick: u64, context: &mut Context) {
        let (plan, layout) = (&context.plan, &context.layout);
        due.sort_unstable_by_key(|lane| {
            let lane = *lane as usize;
            let target = plan.ends(layout.channel_into(lane >> SHIFT)).target;
            (target.node, target.port, number_of(lane))
        });
        let arriving = self.links.arriving(tick);
        for lane in due.iter().map(|lane| *lane as usize) {
            let input = context.layout.channel_into(lane >> SHIFT);
            // A channel brings one flit a tick at the most.
            let comes = arriving.binary_search_by_key(&lane, |to| *to as usize).is_ok();
            let waiting_flits = u64::from(self.buffers.lane(lane).present) + u64::from(comes);
            let worm = context.worms.get_mut(self.buffers.worm(lane));
            let lane = u8::try_from(number_of(lane)).expect("lanes are few");
            let (now, packet) = (Time::from_ps(context.clock.now()), &mut worm.packet);
            let diverted = context.endpoints.read(now, (input, lane), waiting_flits, packet);
            if let Some(into_end) = diverted {
                worm.divert(plan, into_end);
            }
        }
    }

    /// The head of an input lane requests the output on its way.
    fn request(&mut self, lane: usize, context: &mut Context) {
        let Wanted { output, lanes, level } = self.wanted(lane, context);
        let input = lane - self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(output, input, lane, lanes, level);
        self.switches.allocating.insert(output);
    }

    /// What the head of an input lane, whose routing is over, is to request: the output on its way.
    pub(crate) fn wanted(&self, lane: usize, context: &mut Context) -> Wanted {
        let Context { plan, lanes: lane_plan, layout, worms, .. } = context;
        let incoming = layout.channel(self.links.port(lane >> SHIFT).peer as usize);
        let worm = worms.get_mut(self.buffers.worm(lane));
        let outgoing = worm.output(plan, || plan.ends(incoming).target.node);
        worm.position += 1;
        let (lanes, dateline_class) = worm.lanes_onward(plan, incoming, outgoing);
        worm.dateline_class = dateline_class;
        debug_assert!(!lanes.is_empty(), "a packet has a lane wherever it goes");
        let level = lane_plan.arbitration.level(worm.packet.priority);
        Wanted { output: layout.port(outgoing), lanes: lanes.bits(), level }
    }

    /// Outputs for which something changed grant what they can.
    pub(crate) fn allocate_lanes(&mut self, context: &Context) {
        if self.lane_matching.is_some() {
            return self.allocate_lanes_by_islip(context);
        }
        let is_short_noted = context.lanes.counts_credits() && self.adaptive.is_none();
        for word in 0..context.layout.first_host / 64 {
            let mut ports = self.switches.allocating.take(word) & self.requests.requested(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                while self.grant_lane(port, &context.lanes) {}
                if is_short_noted {
                    self.note_short(port, &context.lanes);
                }
            }
        }
        self.end_allocation(context);
    }

    /// Finishes VC allocation after all outputs have granted their lanes.
    pub(crate) fn end_allocation(&mut self, context: &Context) {
        if self.adaptive.is_some() && context.lanes.counts_credits() {
            self.note_short_choices(context);
        }
        self.links.end_release(&mut self.switches.allocating);
    }

    /// An output grants a lane to a head, if it can.
    fn grant_lane(&mut self, port: usize, plan: &PipelinePlan) -> bool {
        let switch = self.switches.port(port);
        let base = switch.base as usize;
        if self.all_lanes & !self.links.port(port).held == 0 {
            return false;
        }
        let grantable = |input: usize| self.grantable_lanes(port, base + input, plan);
        let winner = self.requests.winner(port, base, grantable);
        let Some((input, lanes)) = winner else { return false };
        self.requests.grant(port, input, switch);
        if let Some(heads) = &mut self.adaptive {
            heads.on_granted(base + input);
        }
        let lane = round_robin(lanes, &mut self.requests.lane_pointers[port]);
        self.connect(base + input, port << SHIFT | lane, plan);
        true
    }

    /// The lanes of an output that could be granted to the head of an input lane which requests it.
    #[inline]
    pub(crate) fn grantable_lanes(&self, port: usize, from: usize, plan: &PipelinePlan) -> u16 {
        self.could_grant(port, self.requests.lanes_of(from), self.buffers.lane(from).left, plan)
    }

    /// Those of some lanes of an output that could be granted to a packet of so many flits.
    #[inline]
    pub(crate) fn could_grant(
        &self,
        port: usize,
        lanes: u16,
        flits: u32,
        plan: &PipelinePlan,
    ) -> u16 {
        let lanes = lanes & !self.links.port(port).held;
        if self.gives_at_once {
            return lanes;
        }
        self.ready_lanes(port, lanes, flits, plan)
    }

    /// Of some lanes of an output that nobody holds, those that could be given to a packet of so many
    /// flits.
    fn ready_lanes(&self, port: usize, lanes: u16, flits: u32, plan: &PipelinePlan) -> u16 {
        let takes_all = self.links.port(port).is(TO_HOST);
        let is_ready = |lane: &usize| {
            let (place, cut) = (port << SHIFT | lane, plan.cut_through.bits() >> lane & 1 == 1);
            let has_room =
                !cut || takes_all || u32::from(self.links.lane(place).unpromised) >= flits;
            let is_free = match plan.reallocation {
                Reallocation::Tail => true,
                Reallocation::AfterTail => self.links.is_released(port, *lane),
                Reallocation::TailCredit => self.links.is_at_rest(place, plan.depths_flits[*lane]),
            };
            has_room && is_free
        };
        lanes_of(lanes).filter(is_ready).fold(0, |lanes, lane| lanes | 1 << lane)
    }

    /// An input lane holds a lane of an output from now on.
    pub(crate) fn connect(&mut self, from: usize, to: usize, plan: &PipelinePlan) {
        let base = self.switches.port(from >> SHIFT).base as usize;
        let local =
            |lane: usize| u16::try_from(lane - base).expect("lanes of a switch have 16 bits");
        let flits = self.buffers.lane(from).left;
        let link = self.links.port(to >> SHIFT);
        let is_promised = plan.cut_through.bits() & bit_of(to) != 0 && !link.is(TO_HOST);
        let promised = if is_promised { flits } else { 0 };
        let next = link.peer_lane(number_of(to));
        self.links.hold(to, local(from), u16::try_from(promised).expect("a packet fits its lane"));
        debug_assert_eq!(self.buffers.lane(from).out, NONE, "a head that requests holds nothing");
        self.buffers.hold(from, local(to));
        self.switches.connect(from, self.links.is_full(to));
        self.buffers.expect_worm(next, self.buffers.first(from));
        if self.is_tracked {
            self.links.track_packet(to, flits);
        }
    }
}

// Crossbar outputs that choose among their lanes, each by an arbiter: the allocator of
// [`super::crossbar`], where an output grants the holder of an output lane instead of the next
// input port.
//
// ```text
//   output 4   lane 0   held by input 1, lane 2, which can send    ┐
//              lane 1   held by input 3, lane 2, whose flit is not there
//              lane 2   held by input 3, lane 0, which can send    ┴► arbiter ─► lane 2: input 3, lane 0 is granted
// ```
//
// An arbiter is looked at when its output grants, and served when the grant is taken, among the
// same lanes. By the packet it keeps to an output lane until a tail has crossed into it.
//
// Source: Yum et al. 2002, section 3.3, for what is arbitrated; the allocator is ours
// (`docs/concepts/timing.md`). Switches of any number of ports are matched the same way: who asks
// for weights here does not ask for speed.

/// The arbiters of all crossbar outputs.
#[derive(Clone, Debug)]
pub(crate) struct OutputArbiters {
    pub(crate) arbiters: Arbiters,
    /// By port: output lanes into which may be sent: all, or that of the packet that is passing.
    open: Vec<u16>,
}

impl OutputArbiters {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Option<Self> {
        let of = lanes.crossbar_output.as_ref()?;
        let arbiters = Arbiters::of(of, plan, lanes, ports);
        Some(Self { arbiters, open: vec![u16::MAX; ports] })
    }

    /// The lane that a port would grant, of some.
    fn peek(&self, port: usize, lanes: u16, heads: &[Head; LANES]) -> Option<usize> {
        if self.open[port] == u16::MAX {
            return self.arbiters.peek(port, lanes, heads);
        }
        // It is in the middle of a packet.
        Some(lanes.trailing_zeros() as usize)
    }

    /// A grant is taken: a flit crosses into that lane, which was chosen among some.
    fn take(&mut self, to: usize, among: u16, heads: &[Head; LANES], is_tail: bool) {
        let port = to >> SHIFT;
        if self.open[port] == u16::MAX {
            let lane = self.arbiters.serve(port, among, heads);
            debug_assert_eq!(lane, Some(number_of(to)), "an arbiter serves what it granted");
        }
        if self.arbiters.are_by_packet {
            self.open[port] = if is_tail { u16::MAX } else { bit_of(to) };
        }
    }
}

impl Network {
    /// The multiplexed crossbars of all switches where a lane may be able to cross, whose outputs
    /// choose among their lanes.
    pub(crate) fn allocate_by_lane(&mut self, layout: &Layout, tick: u64) {
        let narrow = |network: &mut Self, first: usize, inputs: u64, tick: u64| {
            network.matching.by_lane.inputs.extend(ports_of(first, inputs));
            network.match_lanes(first, tick);
        };
        let wide = |network: &mut Self, word: usize, span: usize, tick: u64| {
            for place in word..word + span.div_ceil(64) {
                let ports = network.switches.crossing.take(place);
                network.matching.by_lane.inputs.extend(ports_of(place * 64, ports));
            }
            network.match_lanes(word * 64, tick);
        };
        self.each_switch(layout, tick, narrow, wide);
    }

    /// The switch whose first port is given, of whose input ports some were gathered.
    fn match_lanes(&mut self, first: usize, tick: u64) {
        let mut matching = std::mem::take(&mut self.matching.by_lane);
        matching.inputs.retain(|port| self.switches.port(*port).can_cross() != 0);
        self.gather_lanes(first, &mut matching);
        while self.grant_lanes(first, &mut matching) {
            let mut inputs = std::mem::take(&mut matching.inputs);
            inputs.retain(|port| match std::mem::take(&mut matching.granted[port - first]) {
                0 => true,
                granted => {
                    self.accept_lane(first, *port, granted, &mut matching, tick);
                    false
                }
            });
            matching.inputs = inputs;
        }
        matching.inputs.clear();
        for output in matching.requested.drain(..) {
            matching.outputs[output] = OutputLanes::default();
        }
        self.matching.by_lane = matching;
    }

    /// Turns round which input lanes can send to which output lanes.
    fn gather_lanes(&mut self, first: usize, matching: &mut LaneMatching) {
        for &port in &matching.inputs {
            // Who is not matched is there again in the next tick.
            self.switches.crossing.insert(port);
            for lane in lanes_of(self.switches.port(port).can_cross()) {
                let to = usize::from(self.buffers.lane(port << SHIFT | lane).out);
                let output = &mut matching.outputs[to >> SHIFT];
                if output.able == 0 {
                    matching.requested.push(to >> SHIFT);
                }
                output.able |= bit_of(to);
            }
        }
        let outputs = self.switches.outputs.as_ref().expect("outputs choose among lanes");
        for &output in &matching.requested {
            matching.outputs[output].able &= outputs.open[first + output];
        }
    }

    /// Every output that is not matched grants an input lane. Returns whether any does.
    fn grant_lanes(&self, first: usize, matching: &mut LaneMatching) -> bool {
        let outputs = self.switches.outputs.as_ref().expect("outputs choose among lanes");
        let mut any = false;
        for &output in &matching.requested {
            let able = matching.outputs[output].able;
            if able == 0 {
                continue;
            }
            let heads = self.heads_for(first, output, able);
            let Some(lane) = outputs.peek(first + output, able, &heads) else { continue };
            matching.outputs[output].among = able;
            let from = self.holder(first, (first + output) << SHIFT | lane);
            matching.granted[(from >> SHIFT) - first] |= bit_of(from);
            any = true;
        }
        any
    }

    /// An input port sends one of its lanes that were granted.
    fn accept_lane(
        &mut self,
        first: usize,
        port: usize,
        granted: u16,
        matching: &mut LaneMatching,
        tick: u64,
    ) {
        // It is matched, so that no output chooses any other lane of it.
        for lane in lanes_of(self.switches.port(port).can_cross()) {
            let to = usize::from(self.buffers.lane(port << SHIFT | lane).out);
            matching.outputs[to >> SHIFT].able &= !bit_of(to);
        }
        let Some(lane) = self.switches.serve(port, granted, &self.buffers) else { return };
        let input = self.buffers.lane(port << SHIFT | lane);
        let (to, is_tail) = (usize::from(input.out), input.left == 1);
        let output = &mut matching.outputs[to >> SHIFT];
        output.able = 0;
        let heads = self.heads_for(first, to >> SHIFT, output.among);
        let outputs = self.switches.outputs.as_mut().expect("outputs choose among lanes");
        outputs.take((first << SHIFT) + to, output.among, &heads, is_tail);
        self.traverse_switch(port, lane, tick);
    }

    /// Heads of the lanes that hold some lanes of an output, as its arbiter sees them.
    fn heads_for(&self, first: usize, output: usize, lanes: u16) -> [Head; LANES] {
        let arbiters =
            &self.switches.outputs.as_ref().expect("outputs choose among lanes").arbiters;
        let mut heads = [Head::default(); LANES];
        for lane in lanes_of(lanes) {
            let from = self.holder(first, (first + output) << SHIFT | lane);
            let flits = self.buffers.lane(from).left;
            heads[lane] = arbiters.head(flits, arbiters.arrival_ps(from));
        }
        heads
    }

    /// The input lane that holds an output lane.
    fn holder(&self, first: usize, lane: usize) -> usize {
        (first << SHIFT) + usize::from(self.links.lane(lane).holder)
    }
}

/// The ports of a set, the first of which has this number.
fn ports_of(first: usize, ports: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |port| ports >> port & 1 == 1).map(move |port| first + port)
}

// Routing where heads may take any of several outputs ([`gingham_net::Select`]).
//
// ```text
//   head there at h ── routing ──► from h + 1 + R on, each tick: withdraw, choose among what could be granted now, request
//                                                                     └► granted: it waits no longer
// ```
//
// What a head chooses changes with every lane that is released and every credit that comes, so that
// all heads that wait choose anew in every tick, against the state at the start of VC allocation. A
// head for which no output could do requests none. While heads wait no tick is skipped. Where heads
// choose for good, that is what is left to them: what they chose, or else the escape lanes on their path.

/// Heads that choose.
#[derive(Clone, Debug)]
pub(crate) struct AdaptiveHeads {
    selector: Selector,
    /// Input lanes whose heads were granted no lane so far.
    waiting: Bits,
    /// By input lane: the port that its head requests, if it does.
    requested: Vec<Option<u32>>,
    /// By input lane: the output that its head chose for good.
    chosen: Vec<Option<ChannelId>>,
    open: Open,
}

/// The outputs among which a head chooses.
#[derive(Clone, Debug, Default)]
struct Open {
    /// Each with the lanes that the head may take there.
    ports: Vec<(usize, u16)>,
    /// Credits of each output, on the lanes that indicate its load.
    credits: Vec<u64>,
}

impl AdaptiveHeads {
    /// Those of a run, if heads choose in it, among so many lanes.
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, lane_count: usize) -> Option<Box<Self>> {
        let selector = Selector::new(plan, lanes)?;
        let waiting = Bits::new(lane_count);
        let requested = vec![None; lane_count];
        let chosen = vec![None; lane_count];
        Some(Box::new(Self { selector, waiting, requested, chosen, open: Open::default() }))
    }

    /// The head of an input lane was granted a lane.
    pub(crate) fn on_granted(&mut self, lane: usize) {
        self.waiting.words[lane / 64] &= !(1 << (lane % 64));
        self.requested[lane] = None;
        self.chosen[lane] = None;
    }

    /// The output that the head of an input lane chose for good.
    pub(crate) fn chosen(&self, lane: usize) -> Option<ChannelId> {
        self.chosen[lane]
    }

    /// Whether no head waits.
    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The input lanes whose heads wait, in ascending order.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter()
    }
}

impl Network {
    /// Heads whose routing is over at a tick choose, and those that wait do so anew.
    pub(crate) fn choose_outputs(&mut self, due: &[u32], context: &mut Context, tick: u64) {
        let Some(mut heads) = self.adaptive.take() else { return };
        for lane in due.iter().map(|lane| *lane as usize) {
            context.worms.get_mut(self.buffers.worm(lane)).position += 1;
            heads.waiting.insert(lane);
        }
        for lane in heads.waiting.iter() {
            if let Some(port) = heads.requested[lane].take() {
                let base = self.switches.port(lane >> SHIFT).base as usize;
                self.requests.withdraw(port as usize, lane - base);
            }
        }
        let AdaptiveHeads { selector, waiting, requested, chosen, open } = &mut *heads;
        if selector.is_for_good() {
            for lane in due.iter().map(|lane| *lane as usize) {
                self.gather(open, lane, None, |_, _| true, context);
                let place = selector.choose(Self::place_of(lane, context), tick, &open.credits);
                chosen[lane] = Some(context.layout.channel(open.ports[place].0));
            }
        }
        for lane in waiting.iter() {
            requested[lane] =
                self.choose_output(lane, (selector, chosen[lane], open), context, tick);
        }
        self.adaptive = Some(heads);
    }

    /// The outputs that the head of an input lane may take, those of them that are open.
    fn gather(
        &self,
        open: &mut Open,
        lane: usize,
        chosen: Option<ChannelId>,
        is_open: impl Fn(usize, u16) -> bool,
        context: &Context,
    ) {
        open.ports.clear();
        open.credits.clear();
        for OutputChoice { output, lanes, judged } in self.choices(lane, chosen, context) {
            let port = context.layout.port(output);
            if is_open(port, lanes.bits()) {
                open.ports.push((port, lanes.bits()));
                open.credits.push(self.credits_of(port, judged.bits(), &context.lanes));
            }
        }
    }

    /// Where the head of an input lane stands.
    fn place_of(lane: usize, context: &Context) -> HeadPlace {
        let input = context.layout.channel_into(lane >> SHIFT);
        let PortRef { node: switch, port } = context.plan.ends(input).target;
        let lane = u8::try_from(number_of(lane)).expect("lanes are few");
        HeadPlace { switch, port, lane }
    }

    /// The head of an input lane requests an output that could grant it a lane, if one could: which
    /// port.
    fn choose_output(
        &mut self,
        lane: usize,
        (selector, chosen, open): (&Selector, Option<ChannelId>, &mut Open),
        context: &Context,
        tick: u64,
    ) -> Option<u32> {
        let flits = self.buffers.lane(lane).left;
        let could_grant = |port, lanes| self.could_grant(port, lanes, flits, &context.lanes) != 0;
        self.gather(open, lane, chosen, could_grant, context);
        if open.ports.is_empty() {
            return None;
        }
        let place = if let Some(chosen) = chosen {
            // Else the escape lanes on its path.
            let chosen = context.layout.port(chosen);
            open.ports.iter().position(|(port, _)| *port == chosen).unwrap_or(0)
        } else {
            selector.choose(Self::place_of(lane, context), tick, &open.credits)
        };
        let (port, lanes) = open.ports[place];
        let packet = &context.worms.get(self.buffers.worm(lane)).packet;
        let level = context.lanes.arbitration.level(packet.priority);
        let base = self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(port, lane - base, lane, lanes, level);
        self.switches.allocating.insert(port);
        Some(u32::try_from(port).expect("ports have 32 bits"))
    }

    /// The outputs that the head of an input lane may take, with its lanes there: what is left to it, if
    /// it chose for good.
    pub(crate) fn choices<'a>(
        &self,
        lane: usize,
        chosen: Option<ChannelId>,
        context: &'a Context,
    ) -> impl Iterator<Item = OutputChoice> + use<'a> {
        debug_assert_eq!(self.buffers.lane(lane).out, NONE, "a head that waits holds nothing");
        let Context { plan, layout, worms, .. } = context;
        let packet = &worms.get(self.buffers.worm(lane)).packet;
        let switch = plan.ends(layout.channel_into(lane >> SHIFT)).target.node;
        plan.outputs(switch, packet.destination, packet.vc_class, chosen)
    }

    /// The credits on some lanes of an output that no packet was promised.
    fn credits_of(&self, port: usize, lanes: u16, plan: &PipelinePlan) -> u64 {
        if self.links.port(port).is(TO_HOST) {
            return 0;
        }
        let of = |lane: usize| {
            let state = self.links.lane(port << SHIFT | lane);
            let is_cut_through = plan.cut_through.bits() >> lane & 1 == 1;
            u64::from(if is_cut_through { state.unpromised } else { state.credit })
        };
        lanes_of(lanes).map(of).sum()
    }
}
