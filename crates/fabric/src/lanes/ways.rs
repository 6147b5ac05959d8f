//! Multiplexed crossbars that take ways in and ways out in turn: ports with several ways, and
//! allocators other than the maximal one ([`Allocator`]).
//!
//! ```text
//!   port p   way 0 ◄ lanes 0 2 4 ...    way p s      ┐ propose    a way out keeps the nearest to its
//!            way 1 ◄ lanes 1 3 5 ...    way p s + 1  ┴─────────►  pointer; again, if the allocator does
//! ```
//!
//! Ways are numbered in a switch, from its first port on. Switches of any number of ports are
//! matched the same way: who asks for another allocator here does not ask for speed.
//!
//! Source: McKeown 1999, section III; `docs/concepts/routers.md` says what is matched when.

use crate::bits::members;
use crate::lanes::layout::{LANES, Layout, SHIFT, lanes_of, number_of, round_robin};
use crate::lanes::network::Network;
use gingham_model::{Allocator, PipelinePlan};

/// The ways of all switches, where they are taken in turn.
#[derive(Clone, Debug)]
pub(crate) struct Ways {
    allocator: Allocator,
    /// Ways of a port into the crossbar, and out of it.
    speedups: [usize; 2],
    /// By way of a port into the crossbar: its lanes.
    lanes: Vec<u16>,
    /// By way in of all switches.
    inputs: Vec<WayIn>,
    /// By way out of all switches: the way in of its switch after the last that was matched.
    pointers: Vec<u16>,
    matching: WayMatching,
}

/// A way into a crossbar.
#[derive(Clone, Copy, Debug)]
struct WayIn {
    /// Lanes after the last that was sent.
    after: u16,
    /// The way out of its switch after the last that was matched.
    pointer: u16,
}

/// Of the switch that is being matched.
#[derive(Clone, Debug, Default)]
struct WayMatching {
    /// Ways in that are not matched yet and can send, in order.
    inputs: Vec<Able>,
    /// By way out.
    outputs: Vec<WayOut>,
}

/// A way in with lanes that can send.
#[derive(Clone, Copy, Debug)]
struct Able {
    way: usize,
    lanes: u16,
    /// The way out to which it proposes itself, input first.
    proposed: Option<usize>,
}

/// A way out of the crossbar that is being matched.
#[derive(Clone, Copy, Debug, Default)]
struct WayOut {
    is_matched: bool,
    /// What it grants, or takes of the ways in that proposed themselves, in this iteration.
    granted: Option<Grant>,
}

/// What a way out grants: of two the nearer to its pointer is less.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Grant {
    /// How far the way in is from the pointer.
    distance: usize,
    /// The way in.
    way: usize,
}

impl WayOut {
    /// The way in that is granted in this iteration.
    fn granted_way(&self) -> Option<usize> {
        self.granted.map(|granted| granted.way)
    }
}

impl Ways {
    /// Those of so many ports, if they are taken in turn.
    pub(crate) fn new(lanes: &PipelinePlan, ports: usize) -> Option<Self> {
        if !lanes.takes_turns() {
            return None;
        }
        let speedups = [lanes.input_speedup, lanes.output_speedup].map(usize::from);
        let [into, out] = speedups;
        let of_way =
            |way: usize| (way..LANES).step_by(into).fold(0, |lanes, lane| lanes | 1 << lane);
        Some(Self {
            allocator: lanes.allocator,
            speedups,
            lanes: (0..into).map(of_way).collect(),
            inputs: vec![WayIn { after: u16::MAX, pointer: 0 }; ports * into],
            pointers: vec![0; ports * out],
            matching: WayMatching::default(),
        })
    }
}

/// How far a way is from a pointer, round robin among so many.
const fn distance(way: usize, pointer: u16, count: usize) -> usize {
    let pointer = pointer as usize;
    if way < pointer { way + count - pointer } else { way - pointer }
}

impl Network {
    /// The multiplexed crossbars of all switches where a lane may be able to cross.
    pub(crate) fn allocate_by_ways(&mut self, layout: &Layout, tick: u64) {
        let narrow = |network: &mut Self, first: usize, inputs: u64, tick: u64| {
            let mut ways = network.switches.ways.take().expect("ways are taken in turn");
            ways.matching.inputs.clear();
            network.gather_ways(first, first, inputs, &mut ways);
            network.match_ways(first, &mut ways, tick);
            network.switches.ways = Some(ways);
        };
        let wide = |network: &mut Self, word: usize, span: usize, tick: u64| {
            let mut ways = network.switches.ways.take().expect("ways are taken in turn");
            ways.matching.inputs.clear();
            for place in word..word + span.div_ceil(64) {
                let ports = network.switches.crossing.take(place);
                network.gather_ways(word * 64, place * 64, ports, &mut ways);
            }
            network.match_ways(word * 64, &mut ways, tick);
            network.switches.ways = Some(ways);
        };
        self.each_switch(layout, tick, narrow, wide);
    }

    /// Adds the ways of a set of ports of a switch, whose first is given, that can send: from port
    /// `base` on, as bits.
    fn gather_ways(&mut self, first: usize, base: usize, ports: u64, ways: &mut Ways) {
        for port in members(ports).map(|port| base + port) {
            let able = self.switches.port(port).can_cross();
            if able == 0 {
                continue;
            }
            // Who is not matched is there again in the next tick.
            self.switches.crossing.insert(port);
            for (number, of_way) in ways.lanes.iter().enumerate() {
                let (way, lanes) = ((port - first) * ways.speedups[0] + number, able & of_way);
                if lanes != 0 {
                    ways.matching.inputs.push(Able { way, lanes, proposed: None });
                }
            }
        }
    }

    /// The switch whose first port is given, with the ways in that can send.
    fn match_ways(&mut self, first: usize, ways: &mut Ways, tick: u64) {
        let [_, out] = ways.speedups;
        let span = usize::from(self.switches.port(first).span);
        ways.matching.outputs.clear();
        ways.matching.outputs.resize(span * out, WayOut::default());
        let mut iteration = 0;
        while iteration < ways.allocator.iterations() && !ways.matching.inputs.is_empty() {
            self.propose(first, ways);
            if !self.accept_ways(first, ways, iteration, tick) {
                break;
            }
            iteration += 1;
        }
    }

    /// Every way out that is not matched grants the nearest way in to its pointer, of those that can
    /// send to it, or that propose themselves to it alone.
    fn propose(&self, first: usize, ways: &mut Ways) {
        let [into, out] = ways.speedups;
        let WayMatching { inputs, outputs } = &mut ways.matching;
        let inputs_of_switch = outputs.len() / out * into;
        for able in inputs.iter_mut() {
            let to = |lane| self.way_out(first + able.way / into, lane, out);
            if ways.allocator.is_input_first() {
                let pointer = ways.inputs[first * into + able.way].pointer;
                let open = lanes_of(able.lanes).map(to).filter(|way| !outputs[*way].is_matched);
                able.proposed = open.min_by_key(|way| distance(*way, pointer, outputs.len()));
            }
            for lane in lanes_of(able.lanes) {
                let output = to(lane);
                if outputs[output].is_matched || able.proposed.is_some_and(|way| way != output) {
                    continue;
                }
                let pointer = ways.pointers[first * out + output];
                let distance = distance(able.way, pointer, inputs_of_switch);
                let granted = &mut outputs[output].granted;
                let grant = Grant { distance, way: able.way };
                *granted = Some(granted.map_or(grant, |other| grant.min(other)));
            }
        }
    }

    /// Every way in that is granted is matched, with one of the ways out that grant it. Returns whether
    /// any is.
    fn accept_ways(&mut self, first: usize, ways: &mut Ways, iteration: u32, tick: u64) -> bool {
        let [into, out] = ways.speedups;
        let mut inputs = std::mem::take(&mut ways.matching.inputs);
        let before = inputs.len();
        inputs.retain(|able| {
            let port = first + able.way / into;
            let outputs = &mut ways.matching.outputs;
            let state = &mut ways.inputs[first * into + able.way];
            let grants = |lane: &usize| {
                let to = self.way_out(port, *lane, out);
                outputs[to].granted_way() == Some(able.way)
                    && able.proposed.is_none_or(|way| way == to)
            };
            let mut granted = set_of(lanes_of(able.lanes).filter(grants));
            if granted == 0 {
                return true;
            }
            if ways.allocator.takes_outputs_in_turn() {
                let to = |lane: usize| self.way_out(port, lane, out);
                let from_pointer = |way: &usize| distance(*way, state.pointer, outputs.len());
                let next = lanes_of(granted).map(to).min_by_key(from_pointer);
                granted = set_of(lanes_of(granted).filter(|lane| Some(to(*lane)) == next));
            }
            let lane = round_robin(granted, &mut state.after);
            let output = self.way_out(port, lane, out);
            outputs[output].is_matched = true;
            if ways.allocator.moves_in(iteration) {
                let after = |way: usize| u16::try_from(way + 1).expect("ways have 16 bits");
                state.pointer = after(output);
                ways.pointers[first * out + output] = after(able.way);
            }
            self.traverse_switch(port, lane, tick);
            false
        });
        for output in &mut ways.matching.outputs {
            output.granted = None;
        }
        let any = inputs.len() < before;
        ways.matching.inputs = inputs;
        any
    }

    /// The way out, by its number in the switch, to which a lane of a port can send.
    fn way_out(&self, port: usize, lane: usize, speedup: usize) -> usize {
        let to = usize::from(self.buffers.lane(port << SHIFT | lane).out);
        (to >> SHIFT) * speedup + number_of(to) % speedup
    }
}

fn set_of(lanes: impl Iterator<Item = usize>) -> u16 {
    lanes.fold(0, |lanes, lane| lanes | 1 << lane)
}
