//! Stages 2 and 3: routing and virtual-channel (VC) allocation.
//!
//! ```text
//!   head arrives at h ─ routing, R cycles ─► request at h + 1 + R ─► grant by output ─► may cross next tick
//! ```
//!
//! An output allocates lanes after each change: a new request, a released lane, or a credit that a
//! grant needs. Round robin selects both a head that can use a free lane and the lane that is
//! granted. Outputs are independent because a head requests only one output.
//!
//! A worm enters the queue of the next input lane when it is granted that lane, so worms leave an
//! output lane in grant order.

use crate::bits::Bits;
use crate::lanes::arbiters::Arbiters;
use crate::lanes::context::Context;
use crate::lanes::layout::{LANES, Layout, NONE, SHIFT, bit_of, lanes_of, number_of, round_robin};
use crate::lanes::links::TO_HOST;
use crate::lanes::matching::{LaneMatching, OutputLanes};
use crate::lanes::network::Network;
use crate::lanes::worms::Worm;
use gingham_fairq::Head;
use gingham_kernel::Time;
use gingham_net::{HeadPlace, OutputChoice, PipelinePlan, Plan, Reallocation, SwitchChooser};
use gingham_topology::{ChannelId, PortRef};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wanted {
    pub(crate) output: usize,
    pub(crate) lanes: u16,
    pub(crate) level: usize,
}

impl Network {
    pub(crate) fn route(&mut self, context: &mut Context, tick: u64) {
        let mut due = self.switches.heads.take(tick);
        if context.endpoints.wanted().read {
            self.notify_read(&mut due, tick, context);
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

    /// Reports routed heads to the endpoints, in order of switch, port and lane.
    #[inline(never)]
    fn notify_read(&self, due: &mut [u32], tick: u64, context: &mut Context) {
        let (plan, layout) = (&context.plan, &context.layout);
        due.sort_unstable_by_key(|lane| {
            let lane = *lane as usize;
            let target = plan.ends(layout.channel_into(lane >> SHIFT)).target;
            (target.node, target.port, number_of(lane))
        });
        let arriving = self.links.arriving(tick);
        for lane in due.iter().map(|lane| *lane as usize) {
            let input = context.layout.channel_into(lane >> SHIFT);
            // A channel delivers at most one flit per tick.
            let comes = arriving.binary_search_by_key(&lane, |to| *to as usize).is_ok();
            let waiting_flits = u64::from(self.buffers.lane(lane).present) + u64::from(comes);
            let worm = context.worms.get_mut(self.buffers.worm(lane));
            let lane = u8::try_from(number_of(lane)).expect("lanes are few");
            let (now, packet) = (Time::from_ps(context.clock.now()), &mut worm.packet);
            let diverted = context.endpoints.read(now, (input, lane), waiting_flits, packet);
            if let Some(into_end) = diverted {
                worm.route.divert(plan, &worm.packet, into_end);
            }
        }
    }

    fn request(&mut self, lane: usize, context: &mut Context) {
        let Wanted { output, lanes, level } = self.wanted(lane, context);
        let input = lane - self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(output, input, lane, lanes, level);
        self.switches.allocating.insert(output);
    }

    pub(crate) fn wanted(&self, lane: usize, context: &mut Context) -> Wanted {
        let Context { plan, lanes: lane_plan, layout, worms, .. } = context;
        let incoming = layout.channel(self.links.port(lane >> SHIFT).peer as usize);
        let worm = worms.get_mut(self.buffers.worm(lane));
        let Worm { packet, route, .. } = worm;
        let outgoing = route.output(plan, packet, || plan.ends(incoming).target.node);
        let lanes = route.enter(plan, packet, incoming, outgoing);
        let level = lane_plan.arbitration.level(packet.priority);
        Wanted { output: layout.port(outgoing), lanes: lanes.bits(), level }
    }

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

    pub(crate) fn end_allocation(&mut self, context: &Context) {
        if self.adaptive.is_some() && context.lanes.counts_credits() {
            self.note_short_choices(context);
        }
        self.links.end_release(&mut self.switches.allocating);
    }

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

    #[inline]
    pub(crate) fn grantable_lanes(&self, port: usize, from: usize, plan: &PipelinePlan) -> u16 {
        self.could_grant(port, self.requests.lanes_of(from), self.buffers.lane(from).left, plan)
    }

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

// Arbiters at crossbar outputs. Unlike the allocator of [`super::crossbar`], an output selects one
// of its lanes and grants the input that holds the lane, instead of granting the next input port.
//
// ```text
//   output 4   lane 0   held by input 1, lane 2, which can send    ┐
//              lane 1   held by input 3, lane 2, still without a flit
//              lane 2   held by input 3, lane 0, which can send    ┴► arbiter ─► lane 2: input 3, lane 0
// ```
//
// An arbiter is updated only when the input accepts its grant. With packet-level arbitration, an
// output keeps its lane until a tail has crossed.
//
// Source: Yum et al. 2002, section 3.3, for the arbitrated resources; the allocator is our own
// (`docs/concepts/timing.md`).

#[derive(Clone, Debug)]
pub(crate) struct OutputArbiters {
    pub(crate) arbiters: Arbiters,
    /// Output lanes of each port that accept flits: all lanes, or only the lane of the packet in
    /// progress.
    open: Vec<u16>,
}

impl OutputArbiters {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, ports: usize) -> Option<Self> {
        let of = lanes.crossbar_output.as_ref()?;
        let arbiters = Arbiters::of(of, plan, lanes, ports);
        Some(Self { arbiters, open: vec![u16::MAX; ports] })
    }

    fn peek(&self, port: usize, lanes: u16, heads: &[Head; LANES]) -> Option<usize> {
        if self.open[port] == u16::MAX {
            return self.arbiters.peek(port, lanes, heads);
        }
        Some(lanes.trailing_zeros() as usize)
    }

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

    fn gather_lanes(&mut self, first: usize, matching: &mut LaneMatching) {
        for &port in &matching.inputs {
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

    fn accept_lane(
        &mut self,
        first: usize,
        port: usize,
        granted: u16,
        matching: &mut LaneMatching,
        tick: u64,
    ) {
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

    fn holder(&self, first: usize, lane: usize) -> usize {
        (first << SHIFT) + usize::from(self.links.lane(lane).holder)
    }
}

fn ports_of(first: usize, ports: u64) -> impl Iterator<Item = usize> {
    (0..64).filter(move |port| ports >> port & 1 == 1).map(move |port| first + port)
}

// Adaptive routing: heads select among several outputs ([`gingham_net::Select`]).
//
// ```text
//   head arrives at h ─ routing, R cycles ─► in each tick from h + 1 + R on, until a lane is granted:
//                                            withdraw the request, select a grantable output, request it
// ```
//
// The selection depends on every released lane and every credit, so all waiting heads select again
// in every tick, and no tick is skipped. A head that may select only once may then use only the
// selected output and the escape lanes on its path.

#[derive(Clone, Debug)]
pub(crate) struct AdaptiveHeads {
    switch_chooser: SwitchChooser,
    waiting: Bits,
    requested: Vec<Option<u32>>,
    chosen: Vec<Option<ChannelId>>,
    open: Open,
}

#[derive(Clone, Debug, Default)]
struct Open {
    /// Ports with a grantable lane, and the lanes that the head may use at each of these ports.
    ports: Vec<(usize, u16)>,
    credits: Vec<u64>,
}

impl AdaptiveHeads {
    pub(crate) fn new(plan: &Plan, lane_count: usize) -> Option<Box<Self>> {
        let switch_chooser = SwitchChooser::new(plan)?;
        let waiting = Bits::new(lane_count);
        let requested = vec![None; lane_count];
        let chosen = vec![None; lane_count];
        Some(Box::new(Self { switch_chooser, waiting, requested, chosen, open: Open::default() }))
    }

    pub(crate) fn on_granted(&mut self, lane: usize) {
        self.waiting.words[lane / 64] &= !(1 << (lane % 64));
        self.requested[lane] = None;
        self.chosen[lane] = None;
    }

    pub(crate) fn chosen(&self, lane: usize) -> Option<ChannelId> {
        self.chosen[lane]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    pub(crate) fn waiting(&self) -> impl Iterator<Item = usize> {
        self.waiting.iter()
    }
}

impl Network {
    pub(crate) fn choose_outputs(&mut self, due: &[u32], context: &mut Context, tick: u64) {
        let Some(mut heads) = self.adaptive.take() else { return };
        for lane in due.iter().map(|lane| *lane as usize) {
            context.worms.get_mut(self.buffers.worm(lane)).route.pass_adaptive_switch();
            heads.waiting.insert(lane);
        }
        for lane in heads.waiting.iter() {
            if let Some(port) = heads.requested[lane].take() {
                let base = self.switches.port(lane >> SHIFT).base as usize;
                self.requests.withdraw(port as usize, lane - base);
            }
        }
        let AdaptiveHeads { switch_chooser, waiting, requested, chosen, open } = &mut *heads;
        if switch_chooser.is_for_good() {
            for lane in due.iter().map(|lane| *lane as usize) {
                self.gather(open, lane, None, |_, _| true, context);
                let place =
                    switch_chooser.choose(Self::place_of(lane, context), tick, &open.credits);
                chosen[lane] = Some(context.layout.channel(open.ports[place].0));
            }
        }
        for lane in waiting.iter() {
            requested[lane] =
                self.choose_output(lane, (switch_chooser, chosen[lane], open), context, tick);
        }
        self.adaptive = Some(heads);
    }

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

    fn place_of(lane: usize, context: &Context) -> HeadPlace {
        let input = context.layout.channel_into(lane >> SHIFT);
        let PortRef { node: switch, port } = context.plan.ends(input).target;
        let lane = u8::try_from(number_of(lane)).expect("lanes are few");
        HeadPlace { switch, port, lane }
    }

    fn choose_output(
        &mut self,
        lane: usize,
        (switch_chooser, chosen, open): (&SwitchChooser, Option<ChannelId>, &mut Open),
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
            // If no lane of the selected output is grantable, only the escape lanes on the path
            // remain.
            let chosen = context.layout.port(chosen);
            open.ports.iter().position(|(port, _)| *port == chosen).unwrap_or(0)
        } else {
            switch_chooser.choose(Self::place_of(lane, context), tick, &open.credits)
        };
        let (port, lanes) = open.ports[place];
        let packet = &context.worms.get(self.buffers.worm(lane)).packet;
        let level = context.lanes.arbitration.level(packet.priority);
        let base = self.switches.port(lane >> SHIFT).base as usize;
        self.requests.insert(port, lane - base, lane, lanes, level);
        self.switches.allocating.insert(port);
        Some(u32::try_from(port).expect("ports have 32 bits"))
    }

    /// Returns the candidate outputs and their lanes. A head that selects only once may use only
    /// the output `chosen`.
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
