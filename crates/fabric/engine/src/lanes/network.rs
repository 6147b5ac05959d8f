//! Network between the host adapters: links, buffers and switches.

use crate::bits::{Bits, members};
use crate::lanes::allocation::AdaptiveHeads;
use crate::lanes::buffers::Buffers;
use crate::lanes::context::Context;
use crate::lanes::in_transit::InTransit;
use crate::lanes::lane_matching::LaneMatching;
use crate::lanes::layout::{LANES, Layout, NONE, SHIFT, lanes_of, number_of, round_robin};
use crate::lanes::links::{Links, TO_HOST};
use crate::lanes::matching::{Matching, WideMatching, WideOutput};
use crate::lanes::requests::Requests;
use crate::lanes::stepper::Stepper;
use crate::lanes::switches::Switches;
use gingham_net::{Allocator, Endpoints, Notice, OutputChoice, PipelinePlan, Plan};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, Fabric};

#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) links: Links,
    pub(crate) buffers: Buffers,
    pub(crate) switches: Switches,
    pub(crate) requests: Requests,
    pub(crate) lane_matching: Option<Box<LaneMatching>>,
    pub(crate) adaptive: Option<Box<AdaptiveHeads>>,
    pub(crate) all_lanes: u16,
    pub(crate) gives_at_once: bool,
    pub(crate) matching: Matching,
    /// Whether `launched` collects the lanes of flits sent by hosts, for the stepper.
    launches: bool,
    pub(crate) launched: Vec<usize>,
    pub(crate) in_transit: InTransit,
    /// Whether any arbiter uses packet lengths and arrival times.
    pub(crate) is_tracked: bool,
}

impl Network {
    pub(crate) fn new(
        plan: &Plan,
        lanes: &PipelinePlan,
        layout: &Layout,
        endpoints: &Endpoints,
    ) -> Self {
        let ticks_ahead = ticks_ahead(plan, lanes);
        let links = Links::new(plan, lanes, layout, ticks_ahead);
        let switches = Switches::new(plan, lanes, layout, &links);
        let requests = Requests::new(plan, lanes, switches.ports());
        Self {
            lane_matching: LaneMatching::new(lanes, &requests, links.lane_count()),
            launches: false,
            launched: Vec::new(),
            all_lanes: LaneSet::first_n(plan.lanes.count).bits(),
            gives_at_once: lanes.gives_at_once(),
            adaptive: AdaptiveHeads::new(plan, layout.first_host << SHIFT),
            buffers: Buffers::new(links.lane_count()),
            requests,
            matching: Matching::new(switches.ports(), layout),
            in_transit: InTransit::new(plan, layout, endpoints, ticks_ahead),
            is_tracked: links.are_tracked() || switches.are_tracked(),
            links,
            switches,
        }
    }

    pub(crate) fn hand_over(&mut self) {
        self.launches = true;
        self.links.forget_released();
    }

    /// Launches a host's flit, whose credit is already taken, on an ordinary channel.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(crate) fn carry(&mut self, port: usize, lane: usize, tick: u64) {
        if self.launches {
            self.launched.push(port << SHIFT | lane);
        } else {
            let link = self.links.port(port);
            let (there, to) = (tick + u64::from(link.latency), link.peer_lane(lane));
            self.links.arrivals.push(there, to);
        }
    }

    pub(crate) fn receive_flits(&mut self, tick: u64) -> u64 {
        let due = self.links.arrivals.take(tick);
        self.switches.receive(&due, &mut self.buffers, tick);
        let count = due.len() as u64;
        self.links.arrivals.give_back(tick, due);
        count
    }

    /// Checks the sets of ports from `first` on. Slow; for tests.
    pub(crate) fn assert_sets(&self, context: &Context, first: usize) {
        let Self { links, buffers, switches, .. } = self;
        let is_in = |lanes: u16, lane: usize| lanes >> number_of(lane) & 1 == 1;
        for lane in context.layout.lanes_from(first, context.plan.lanes.count) {
            let (output, input) = (links.lane(lane), buffers.lane(lane));
            let sender = links.port(lane >> SHIFT);
            if !sender.is(TO_HOST) {
                assert_eq!(is_in(sender.credited, lane), output.credit > 0, "`credited` is right");
            }
            if lane >> SHIFT >= context.layout.first_host {
                continue;
            }
            assert_eq!(is_in(sender.filled, lane), output.fill > 0, "`filled` is right");
            let port = switches.port(lane >> SHIFT);
            let can_send = input.out != NONE && input.present > 0;
            assert_eq!(is_in(port.sendable, lane), can_send, "`sendable` is right");
            if input.out != NONE {
                let held = port.base as usize + usize::from(input.out);
                assert_eq!(is_in(port.full, lane), links.is_full(held), "`full` is right");
                assert!(is_in(links.port(held >> SHIFT).held, held), "`held` has a held lane");
            }
        }
    }

    /// Returns the first tick from `tick` on with a change; `None` if there may be a change at
    /// `tick` itself.
    pub(crate) fn idle_until(&self, tick: u64, stepper: &dyn Stepper) -> Option<u64> {
        let Switches { crossing, allocating, heads, .. } = &self.switches;
        if ![&self.links.ready, crossing, allocating].iter().all(|ports| ports.is_empty()) {
            return None;
        }
        if self.adaptive.as_ref().is_some_and(|heads| !heads.is_empty()) {
            return None;
        }
        let due = [
            self.links.next_due(tick),
            heads.next_due(tick),
            self.in_transit.next_due(tick),
            stepper.next_due(tick),
        ];
        Some(due.into_iter().flatten().min().unwrap_or(u64::MAX))
    }
}

pub(crate) fn ticks_ahead(plan: &Plan, lanes: &PipelinePlan) -> u64 {
    let cycle = lanes.cycle.as_ps();
    let ahead = plan.channels.iter().map(|channel| {
        // A slow channel may start a flit up to one cycle after the tick.
        2 + (channel.flit.as_ps() + channel.delay.as_ps()).div_ceil(cycle)
    });
    let flits = ahead.max().unwrap_or(1) + u64::from(lanes.pipeline_cycles);
    let credits = plan.channels.iter().map(|channel| lanes.credit_cycles(channel)).max();
    flits.max(credits.unwrap_or(1))
}

#[derive(Clone, Debug)]
pub(crate) struct Watched {
    ports: Bits,
    changed: Bits,
    all: LaneSet,
}

impl Watched {
    pub(crate) fn new(plan: &Plan, layout: &Layout) -> Option<Self> {
        let watched = plan.watched_outputs();
        let mut ports = Bits::new(layout.channels().len());
        for (index, _) in watched.iter().enumerate().filter(|(_, is_watched)| **is_watched) {
            ports.insert(layout.port(ChannelId::new(index)));
        }
        let changed = Bits::new(layout.channels().len());
        let all = LaneSet::first_n(plan.lanes.count);
        (!watched.is_empty()).then_some(Self { ports, changed, all })
    }

    #[inline]
    pub(crate) fn note(&mut self, port: usize) {
        self.changed.insert(port);
    }
}

impl Network {
    #[inline(never)]
    pub(crate) fn hold_lane(&mut self, from: usize, to: usize) {
        let base = self.switches.port(from >> SHIFT).base as usize;
        let holder = u16::try_from(from - base).expect("lanes of a switch have 16 bits");
        self.links.hold(to, holder, 0);
    }

    pub(crate) fn notify_lanes(&mut self, context: &mut Context) {
        let Some(mut watched) = self.links.watched.take() else { return };
        for word in 0..watched.changed.words.len() {
            let changed = watched.changed.take(word) & watched.ports.words[word];
            for port in members(changed).map(|bit| word * 64 + bit) {
                let held = LaneSet::from_bits(self.links.port(port).held);
                let free = LaneSet::from_bits(watched.all.bits() & !held.bits());
                let output = context.layout.channel(port);
                context.notify(Notice::Lanes { output, free });
            }
        }
        self.links.watched = Some(watched);
    }

    #[inline(never)]
    pub(crate) fn notify_gathered(&self, gathered: &[ChannelId], context: &mut Context) {
        let depths = &context.lanes.depths_flits[..context.plan.lanes.count.into()];
        let of_channel = |channel: &ChannelId| {
            let port = context.layout.port(Fabric::reverse(*channel));
            let buffers = &self.buffers.lanes()[port << SHIFT..];
            let lanes = buffers.iter().zip(depths);
            lanes.filter(|(buffer, depth)| u32::from(buffer.present) == **depth).count() as u64
        };
        let full = gathered.iter().map(of_channel).sum();
        context.notify(Notice::Gathered { full });
    }
}

// Crossbar of switches with more than 64 ports: the allocator of [`super::crossbar`], output by
// output.

impl Network {
    pub(crate) fn allocate_wide(&mut self, word: usize, span: usize, tick: u64) {
        let mut matching = std::mem::replace(&mut self.matching.wide, WideMatching::new(0));
        let (inputs, outputs) = (&mut matching.inputs, &mut matching.outputs);
        for place in word..word + span.div_ceil(64) {
            let mut ports = self.switches.crossing.take(place);
            while ports != 0 {
                let port = place * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                if self.switches.port(port).can_cross() != 0 {
                    inputs.push(port);
                }
            }
        }
        for port in inputs.iter() {
            self.switches.crossing.insert(*port);
        }
        outputs.fill(WideOutput::default());
        while !inputs.is_empty() {
            for port in inputs.iter() {
                self.grant_wide(word * 64, span, *port, outputs);
            }
            inputs.retain(|port| self.accept_wide(*port, outputs, tick));
            for output in outputs.iter_mut() {
                output.granted = None;
            }
        }
        self.matching.wide = matching;
    }

    fn grant_wide(&self, first: usize, span: usize, port: usize, outputs: &mut [WideOutput]) {
        for lane in lanes_of(self.switches.port(port).can_cross()) {
            let output = self.output_of(port, lane);
            let pointer = usize::from(self.switches.port(first + output).pointer);
            let distance = |port: usize| (port - first + span - pointer) % span;
            let output = &mut outputs[output];
            let is_nearer = |other| distance(port) < distance(other);
            if !output.is_matched && output.granted.is_none_or(is_nearer) {
                output.granted = Some(port);
            }
        }
    }

    /// Accepts a grant. Returns whether the input port may still be matched because it received no
    /// grant but requests an unmatched output.
    fn accept_wide(&mut self, port: usize, outputs: &mut [WideOutput], tick: u64) -> bool {
        let lanes = || lanes_of(self.switches.port(port).can_cross());
        let granted =
            lanes().filter(|lane| outputs[self.output_of(port, *lane)].granted == Some(port));
        let granted = granted.fold(0_u16, |lanes, lane| lanes | 1 << lane);
        if granted == 0 {
            return lanes().any(|lane| !outputs[self.output_of(port, lane)].is_matched);
        }
        if let Some(lane) = self.switches.serve(port, granted, &self.buffers) {
            outputs[self.output_of(port, lane)].is_matched = true;
            self.traverse_switch(port, lane, tick);
        }
        false
    }

    fn output_of(&self, port: usize, lane: usize) -> usize {
        usize::from(self.buffers.lane(port << SHIFT | lane).out) >> SHIFT
    }
}

// Credit waits in front of a switch's output lanes: of heads at VC allocation, and of flits at the
// crossbar if they take their credits there.

impl Network {
    pub(crate) fn note_short(&mut self, port: usize, plan: &PipelinePlan) {
        let base = self.switches.port(port).base as usize;
        let is_short = self.requests.of_port(port).any(|input| {
            let lanes = self.requests.lanes_of(base + input);
            self.is_short(port, lanes, self.buffers.lane(base + input).left, plan)
        });
        self.links.set_short(port, is_short);
    }

    #[inline(never)]
    pub(crate) fn note_short_choices(&mut self, context: &Context) {
        let Some(heads) = &self.adaptive else { return };
        let mut short = Bits::new(context.layout.first_host);
        for lane in heads.waiting() {
            let flits = self.buffers.lane(lane).left;
            for choice in self.choices(lane, heads.chosen(lane), context) {
                let OutputChoice { output, lanes, .. } = choice;
                let port = context.layout.port(output);
                if self.is_short(port, lanes.bits(), flits, &context.lanes) {
                    short.insert(port);
                }
            }
        }
        for port in 0..context.layout.first_host {
            let is_short = short.words[port / 64] >> (port % 64) & 1 == 1;
            self.links.set_short(port, is_short);
        }
    }

    /// Returns whether a packet of `flits` flits could be granted one of `lanes` if there were more
    /// credits.
    fn is_short(&self, port: usize, lanes: u16, flits: u32, plan: &PipelinePlan) -> bool {
        let free = lanes & !self.links.port(port).held;
        lanes_of(free).any(|lane| self.links.is_released(port, lane))
            && self.could_grant(port, lanes, flits, plan) == 0
    }

    #[inline(never)]
    pub(crate) fn gather_unpaid(&mut self) {
        let Self { links, switches, buffers, .. } = self;
        for port in switches.crossing.iter() {
            let state = switches.port(port);
            for lane in lanes_of(state.sendable) {
                let to = state.base as usize + usize::from(buffers.lane(port << SHIFT | lane).out);
                links.unpaid.insert(to >> SHIFT);
            }
        }
    }

    #[inline(never)]
    pub(crate) fn note_unpaid(&mut self) {
        for word in 0..self.links.unpaid.words.len() {
            for bit in members(self.links.unpaid.take(word)) {
                let port = word * 64 + bit;
                let is_unpaid = self.is_port_unpaid(port);
                self.links.set_unpaid(port, is_unpaid);
            }
        }
    }

    fn is_port_unpaid(&self, port: usize) -> bool {
        let link = self.links.port(port);
        let base = self.switches.port(port).base as usize;
        let is_ready = |lane: &usize| {
            let holder = base + usize::from(self.links.lane(port << SHIFT | lane).holder);
            self.switches.port(holder >> SHIFT).sendable >> (holder % (1 << SHIFT)) & 1 == 1
        };
        let ready = lanes_of(link.held).filter(is_ready).fold(0, |lanes, lane| lanes | 1 << lane);
        link.filled == 0 && ready != 0 && ready & link.credited == 0
    }
}

// Multiplexed crossbars with round-robin allocation of crossbar ports: switches with speedup, and
// allocators other than the maximal allocator ([`Allocator`]). With speedup, a switch port has
// several crossbar ports.
//
// ```text
//   port p   input 0 ◄ lanes 0 2 4 ...  input p s      ┐ propose    an output accepts the input nearest to
//            input 1 ◄ lanes 1 3 5 ...  input p s + 1  ┴─────────►  its pointer; the allocator may iterate
// ```
//
// Crossbar ports are numbered within a switch, from its first port on.
//
// Source: McKeown 1999, section III; `docs/concepts/routers.md` defines the matching.

#[derive(Clone, Debug)]
pub(crate) struct CrossbarPorts {
    allocator: Allocator,
    /// Number of crossbar inputs, and of crossbar outputs, per port.
    speedups: [usize; 2],
    lanes: Vec<u16>,
    inputs: Vec<CrossbarInput>,
    /// Round-robin pointer of each crossbar output of all switches: the crossbar input after the
    /// last match.
    pointers: Vec<u16>,
    matching: CrossbarMatching,
}

#[derive(Clone, Copy, Debug)]
struct CrossbarInput {
    after: u16,
    pointer: u16,
}

#[derive(Clone, Debug, Default)]
struct CrossbarMatching {
    inputs: Vec<Able>,
    outputs: Vec<CrossbarOutput>,
}

#[derive(Clone, Copy, Debug)]
struct Able {
    crossbar_port: usize,
    lanes: u16,
    /// The only output that the input requests, if the allocator is input-first.
    proposed: Option<usize>,
}

#[derive(Clone, Copy, Debug, Default)]
struct CrossbarOutput {
    is_matched: bool,
    granted: Option<Grant>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Grant {
    /// Round-robin distance of the crossbar input from the pointer; compared first.
    distance: usize,
    crossbar_port: usize,
}

impl CrossbarOutput {
    fn granted_input(&self) -> Option<usize> {
        self.granted.map(|granted| granted.crossbar_port)
    }
}

impl CrossbarPorts {
    pub(crate) fn new(lanes: &PipelinePlan, ports: usize) -> Option<Self> {
        if !lanes.takes_turns() {
            return None;
        }
        let speedups = [lanes.input_speedup, lanes.output_speedup].map(usize::from);
        let [into, out] = speedups;
        let of_crossbar_port = |crossbar_port: usize| {
            (crossbar_port..LANES).step_by(into).fold(0, |lanes, lane| lanes | 1 << lane)
        };
        Some(Self {
            allocator: lanes.allocator,
            speedups,
            lanes: (0..into).map(of_crossbar_port).collect(),
            inputs: vec![CrossbarInput { after: u16::MAX, pointer: 0 }; ports * into],
            pointers: vec![0; ports * out],
            matching: CrossbarMatching::default(),
        })
    }
}

const fn distance(crossbar_port: usize, pointer: u16, count: usize) -> usize {
    let pointer = pointer as usize;
    if crossbar_port < pointer { crossbar_port + count - pointer } else { crossbar_port - pointer }
}

impl Network {
    pub(crate) fn allocate_crossbar_ports(&mut self, layout: &Layout, tick: u64) {
        let narrow = |network: &mut Self, first: usize, inputs: u64, tick: u64| {
            let mut crossbar_ports =
                network.switches.crossbar_ports.take().expect("ways are taken in turn");
            crossbar_ports.matching.inputs.clear();
            network.gather_crossbar_inputs(first, first, inputs, &mut crossbar_ports);
            network.match_crossbar_ports(first, &mut crossbar_ports, tick);
            network.switches.crossbar_ports = Some(crossbar_ports);
        };
        let wide = |network: &mut Self, word: usize, span: usize, tick: u64| {
            let mut crossbar_ports =
                network.switches.crossbar_ports.take().expect("ways are taken in turn");
            crossbar_ports.matching.inputs.clear();
            for place in word..word + span.div_ceil(64) {
                let ports = network.switches.crossing.take(place);
                network.gather_crossbar_inputs(word * 64, place * 64, ports, &mut crossbar_ports);
            }
            network.match_crossbar_ports(word * 64, &mut crossbar_ports, tick);
            network.switches.crossbar_ports = Some(crossbar_ports);
        };
        self.each_switch(layout, tick, narrow, wide);
    }

    /// Collects crossbar inputs from `ports`, a word of ports starting at `base`; `first` is the
    /// first port of the switch.
    fn gather_crossbar_inputs(
        &mut self,
        first: usize,
        base: usize,
        ports: u64,
        crossbar_ports: &mut CrossbarPorts,
    ) {
        for port in members(ports).map(|port| base + port) {
            let able = self.switches.port(port).can_cross();
            if able == 0 {
                continue;
            }
            self.switches.crossing.insert(port);
            for (number, of_crossbar_port) in crossbar_ports.lanes.iter().enumerate() {
                let (crossbar_port, lanes) =
                    ((port - first) * crossbar_ports.speedups[0] + number, able & of_crossbar_port);
                if lanes != 0 {
                    crossbar_ports.matching.inputs.push(Able {
                        crossbar_port,
                        lanes,
                        proposed: None,
                    });
                }
            }
        }
    }

    fn match_crossbar_ports(
        &mut self,
        first: usize,
        crossbar_ports: &mut CrossbarPorts,
        tick: u64,
    ) {
        let [_, out] = crossbar_ports.speedups;
        let span = usize::from(self.switches.port(first).span);
        crossbar_ports.matching.outputs.clear();
        crossbar_ports.matching.outputs.resize(span * out, CrossbarOutput::default());
        let mut iteration = 0;
        while iteration < crossbar_ports.allocator.iterations()
            && !crossbar_ports.matching.inputs.is_empty()
        {
            self.propose(first, crossbar_ports);
            if !self.accept_grants(first, crossbar_ports, iteration, tick) {
                break;
            }
            iteration += 1;
        }
    }

    /// Grants each unmatched output to the requesting input nearest to the pointer. With
    /// input-first allocators, each input requests only one output.
    fn propose(&self, first: usize, crossbar_ports: &mut CrossbarPorts) {
        let [into, out] = crossbar_ports.speedups;
        let CrossbarMatching { inputs, outputs } = &mut crossbar_ports.matching;
        let inputs_of_switch = outputs.len() / out * into;
        for able in inputs.iter_mut() {
            let to = |lane| self.crossbar_output(first + able.crossbar_port / into, lane, out);
            if crossbar_ports.allocator.is_input_first() {
                let pointer = crossbar_ports.inputs[first * into + able.crossbar_port].pointer;
                let open = lanes_of(able.lanes)
                    .map(to)
                    .filter(|crossbar_port| !outputs[*crossbar_port].is_matched);
                able.proposed = open
                    .min_by_key(|crossbar_port| distance(*crossbar_port, pointer, outputs.len()));
            }
            for lane in lanes_of(able.lanes) {
                let output = to(lane);
                if outputs[output].is_matched
                    || able.proposed.is_some_and(|crossbar_port| crossbar_port != output)
                {
                    continue;
                }
                let pointer = crossbar_ports.pointers[first * out + output];
                let distance = distance(able.crossbar_port, pointer, inputs_of_switch);
                let granted = &mut outputs[output].granted;
                let grant = Grant { distance, crossbar_port: able.crossbar_port };
                *granted = Some(granted.map_or(grant, |other| grant.min(other)));
            }
        }
    }

    fn accept_grants(
        &mut self,
        first: usize,
        crossbar_ports: &mut CrossbarPorts,
        iteration: u32,
        tick: u64,
    ) -> bool {
        let [into, out] = crossbar_ports.speedups;
        let mut inputs = std::mem::take(&mut crossbar_ports.matching.inputs);
        let before = inputs.len();
        inputs.retain(|able| {
            let port = first + able.crossbar_port / into;
            let outputs = &mut crossbar_ports.matching.outputs;
            let state = &mut crossbar_ports.inputs[first * into + able.crossbar_port];
            let grants = |lane: &usize| {
                let to = self.crossbar_output(port, *lane, out);
                outputs[to].granted_input() == Some(able.crossbar_port)
                    && able.proposed.is_none_or(|crossbar_port| crossbar_port == to)
            };
            let mut granted = set_of(lanes_of(able.lanes).filter(grants));
            if granted == 0 {
                return true;
            }
            if crossbar_ports.allocator.takes_outputs_in_turn() {
                let to = |lane: usize| self.crossbar_output(port, lane, out);
                let from_pointer =
                    |crossbar_port: &usize| distance(*crossbar_port, state.pointer, outputs.len());
                let next = lanes_of(granted).map(to).min_by_key(from_pointer);
                granted = set_of(lanes_of(granted).filter(|lane| Some(to(*lane)) == next));
            }
            let lane = round_robin(granted, &mut state.after);
            let output = self.crossbar_output(port, lane, out);
            outputs[output].is_matched = true;
            if crossbar_ports.allocator.moves_in(iteration) {
                let after = |crossbar_port: usize| {
                    u16::try_from(crossbar_port + 1).expect("ways have 16 bits")
                };
                state.pointer = after(output);
                crossbar_ports.pointers[first * out + output] = after(able.crossbar_port);
            }
            self.traverse_switch(port, lane, tick);
            false
        });
        for output in &mut crossbar_ports.matching.outputs {
            output.granted = None;
        }
        let any = inputs.len() < before;
        crossbar_ports.matching.inputs = inputs;
        any
    }

    fn crossbar_output(&self, port: usize, lane: usize, speedup: usize) -> usize {
        let to = usize::from(self.buffers.lane(port << SHIFT | lane).out);
        (to >> SHIFT) * speedup + number_of(to) % speedup
    }
}

fn set_of(lanes: impl Iterator<Item = usize>) -> u16 {
    lanes.fold(0, |lanes, lane| lanes | 1 << lane)
}
