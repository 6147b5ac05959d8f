//! The crossbar (stage 4): flits go from input lanes to the output lanes that these hold.
//!
//! ```text
//!   input port 0   lanes 1, 3 ─► outputs 2, 4        output 4 grants one of its input ports, in turn;
//!   input port 1   lane 0     ─► output 4            input 0 serves one lane of those granted; again, until
//!   input port 3   lane 2     ─► output 0            nobody more can be matched
//! ```
//!
//! Where no two input ports want the same output everybody is granted, so that each input port serves one of its
//! lanes and all is done: most ticks of most switches are so.
//!
//! Source: Yum et al. 2002, section 3.1; the matching is ours (`docs/concepts/timing.md`).

use crate::lanes::simulation::Simulation;
use crate::lanes::state::{NONE, Port, SHIFT, bit_of, in_turn, number_of};
use crate::lanes::wide::WideMatching;

/// Memory of the matching of a switch.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// By port of a narrow switch: the ports of its switch, as bits of their word.
    switches: Vec<u64>,
    /// By input port of the switch: the outputs that its lanes can send to. For narrow switches.
    wanted: Vec<u64>,
    /// By output port of the switch: the input ports that can send to it.
    wanting: Vec<u64>,
    /// By input port of the switch: the outputs that granted it.
    granted: Vec<u64>,
    /// The same for wide switches.
    pub(crate) wide: WideMatching,
}

impl Matching {
    pub(crate) fn new(ports: &[Port]) -> Self {
        let span = ports.iter().map(|port| usize::from(port.span)).max().unwrap_or(0);
        let switch = |port: &Port| match port.span {
            1..=64 => (u64::MAX >> (64 - port.span)) << ((port.base >> SHIFT) % 64),
            _ => 0,
        };
        Self {
            switches: ports.iter().map(switch).collect(),
            wanted: vec![0; 64],
            wanting: vec![0; 64],
            granted: vec![0; 64],
            wide: WideMatching::new(span),
        }
    }
}

impl Simulation {
    /// The crossbars of all switches where a lane may be able to send.
    pub(crate) fn cross(&mut self, tick: u64) {
        if self.is_full_crossbar {
            return self.cross_fully(tick);
        }
        for word in 0..self.layout.first_wide {
            let mut ports = self.crossing.take(word);
            while ports != 0 {
                let port = ports.trailing_zeros() as usize;
                let mask = self.matching.switches[word * 64 + port];
                let first = mask.trailing_zeros();
                self.match_switch(word * 64 + first as usize, (ports & mask) >> first, tick);
                ports &= !mask;
            }
        }
        let mut word = self.layout.first_wide;
        while word * 64 < self.layout.first_host {
            let span = usize::from(self.ports[word * 64].span);
            self.match_wide(word, span, tick);
            word += span.div_ceil(64);
        }
    }

    /// Every lane that can send does.
    fn cross_fully(&mut self, tick: u64) {
        for word in 0..self.layout.first_host / 64 {
            let mut ports = self.crossing.take(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                let mut lanes = self.ports[port].can_cross();
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    self.cross_flit(port, lane, tick);
                }
            }
        }
    }

    /// A switch of at most 64 ports, from `first` on, of which these may have a lane that can send.
    #[inline]
    fn match_switch(&mut self, first: usize, inputs: u64, tick: u64) {
        if inputs.is_power_of_two() {
            let input = inputs.trailing_zeros() as usize;
            return self.serve_alone(first, input, tick);
        }
        let (mut seen, mut disputed) = (0, 0);
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            let wanted = self.wanted(first + input);
            self.matching.wanted[input] = wanted;
            disputed |= seen & wanted;
            seen |= wanted;
        }
        if disputed != 0 {
            return self.settle(first, inputs, seen, disputed, tick);
        }
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            self.serve_alone(first, input, tick);
        }
    }

    /// The same where several input ports want some outputs.
    #[inline(never)]
    fn settle(&mut self, first: usize, inputs: u64, outputs: u64, disputed: u64, tick: u64) {
        let (mut entangled, mut is_simple) = (0_u64, true);
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            if self.matching.wanted[input] & disputed == 0 {
                self.serve_alone(first, input, tick);
            } else {
                entangled |= 1 << input;
                is_simple &= self.matching.wanted[input].is_power_of_two();
            }
        }
        if is_simple {
            self.match_by_output(first, entangled, tick);
        } else {
            self.match_disputed(first, entangled, outputs, tick);
        }
    }

    /// The outputs to which lanes of an input port can send.
    #[inline]
    fn wanted(&self, port: usize) -> u64 {
        let mut lanes = self.ports[port].can_cross();
        let mut wanted = 0;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            wanted |= 1 << (self.inputs[port << SHIFT | lane].out >> SHIFT);
        }
        wanted
    }

    /// An input port that every output it wants has granted sends a flit.
    #[inline(never)] // One copy of what crosses, for all that lead here.
    fn serve_alone(&mut self, first: usize, input: usize, tick: u64) {
        let port = first + input;
        let lanes = self.ports[port].can_cross();
        if lanes == 0 {
            return;
        }
        let Some(lane) = self.choose_input(port, lanes) else { return };
        self.cross_flit(port, lane, tick);
    }

    /// The same where each of some input ports wants one output alone: the first in turn of those that want the same is served.
    #[inline]
    fn match_by_output(&mut self, first: usize, mut inputs: u64, tick: u64) {
        while inputs != 0 {
            let wanted = self.matching.wanted[inputs.trailing_zeros() as usize];
            let mut wanting = 0;
            let mut left = inputs;
            while left != 0 {
                let input = left.trailing_zeros() as usize;
                left &= left - 1;
                wanting |= u64::from(self.matching.wanted[input] == wanted) << input;
            }
            inputs ^= wanting;
            // Who is not matched is there again in the next tick.
            self.crossing.words[first / 64] |= wanting << (first % 64);
            let output = wanted.trailing_zeros() as usize;
            let winner = first_from(wanting, self.ports[first + output].turn);
            self.serve_alone(first, winner, tick);
        }
    }

    /// The same where several input ports want an output.
    #[inline(never)]
    fn match_disputed(&mut self, first: usize, inputs: u64, outputs: u64, tick: u64) {
        self.gather_wanting(inputs, outputs);
        // Who is not matched is there again in the next tick.
        self.crossing.words[first / 64] |= inputs << (first % 64);
        let (mut inputs, mut outputs) = (inputs, outputs);
        loop {
            let mut granted = 0_u64;
            let mut left = outputs;
            while left != 0 {
                let output = left.trailing_zeros() as usize;
                left &= left - 1;
                let wanting = self.matching.wanting[output] & inputs;
                if wanting == 0 {
                    outputs ^= 1 << output;
                    continue;
                }
                let turn = self.ports[first + output].turn;
                let input = first_from(wanting, turn);
                if granted >> input & 1 == 0 {
                    granted |= 1 << input;
                    self.matching.granted[input] = 0;
                }
                self.matching.granted[input] |= 1 << output;
            }
            if granted == 0 {
                return;
            }
            let mut left = granted;
            while left != 0 {
                let input = left.trailing_zeros() as usize;
                left &= left - 1;
                inputs ^= 1 << input;
                if let Some(output) = self.serve_granted(first, input, tick) {
                    outputs &= !(1 << output);
                }
            }
        }
    }

    fn gather_wanting(&mut self, inputs: u64, outputs: u64) {
        let matching = &mut self.matching;
        let mut left = outputs;
        while left != 0 {
            matching.wanting[left.trailing_zeros() as usize] = 0;
            left &= left - 1;
        }
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            let mut wanted = matching.wanted[input];
            while wanted != 0 {
                matching.wanting[wanted.trailing_zeros() as usize] |= 1 << input;
                wanted &= wanted - 1;
            }
        }
    }

    /// An input port sends a flit to one of the outputs that granted it, which is returned.
    fn serve_granted(&mut self, first: usize, input: usize, tick: u64) -> Option<usize> {
        let (port, granted) = (first + input, self.matching.granted[input]);
        let mut lanes = self.ports[port].can_cross();
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let output = self.inputs[port << SHIFT | lane].out >> SHIFT;
            lanes ^= u16::from(granted >> output & 1 == 0) << lane;
        }
        let lane = self.choose_input(port, lanes)?;
        let output = usize::from(self.inputs[port << SHIFT | lane].out) >> SHIFT;
        self.cross_flit(port, lane, tick);
        Some(output)
    }

    #[inline]
    pub(crate) fn choose_input(&mut self, port: usize, lanes: u16) -> Option<usize> {
        if self.choice.input_is_plain {
            return Some(in_turn(lanes, &mut self.ports[port].input_after));
        }
        self.choose_input_specially(port, lanes)
    }

    /// The first flit of an input lane crosses into the output lane that it holds.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(crate) fn cross_flit(&mut self, port: usize, lane: usize, tick: u64) {
        let from = port << SHIFT | lane;
        let ports = &mut self.ports[..];
        let input = &mut self.inputs[from];
        let state = &mut ports[port];
        input.present -= 1;
        input.left -= 1;
        let left = input.left;
        let to = state.base as usize + usize::from(input.out);
        let output = &mut self.outputs[to];
        output.fill += 1;
        state.occupancy = state.occupancy.wrapping_add(tick);
        state.sendable &= !(u16::from(input.present == 0) << lane);
        state.full |= u16::from(output.fill == self.output_depths[number_of(to)]) << lane;
        if state.can_cross() != 0 {
            self.crossing.insert(port);
        }
        let (due, peer) = (tick + u64::from(state.latency), state.peer as usize);
        let base = state.base as usize >> SHIFT;
        let receiver = &mut ports[to >> SHIFT];
        receiver.filled |= bit_of(to);
        #[expect(clippy::cast_possible_truncation, reason = "a switch has fewer than 2^16 ports")]
        let turn = (port - base) as u16 + 1;
        receiver.turn = turn;
        self.leaving.insert(to >> SHIFT);
        self.credits.push(due, peer << SHIFT | lane);
        if left == 0 || self.choice.tracks {
            self.note_crossing(from, to, tick, left == 0);
        }
    }

    #[inline(never)] // Most flits are no tails.
    fn note_crossing(&mut self, from: usize, to: usize, tick: u64, is_tail: bool) {
        if self.choice.tracks {
            self.choice.track_crossing(from, to, tick);
        }
        if is_tail {
            self.let_go(from, to, tick);
        }
    }

    /// A tail has crossed: the output lane may be given to another, and the next worm comes to the head of the input lane.
    fn let_go(&mut self, from: usize, to: usize, tick: u64) {
        let (port, bit) = (from >> SHIFT, bit_of(from));
        let (output_port, output_bit) = (to >> SHIFT, bit_of(to));
        self.inputs[from].out = NONE;
        let state = &mut self.ports[port];
        state.sendable &= !bit;
        state.full &= !bit;
        if state.input_open != u16::MAX {
            state.input_open = u16::MAX;
            self.crossing.insert(port);
        }
        self.ports[output_port].held &= !output_bit;
        self.giving.insert(output_port);
        if let Some(next) = self.queues.pop(from) {
            self.inputs[from].left = self.worms.get(next as usize).flits;
            if self.inputs[from].present > 0 {
                self.read(from, tick);
            }
        }
    }
}

/// The first input port in turn from one on, of some; there is one.
#[inline]
fn first_from(inputs: u64, turn: u16) -> usize {
    let onward = if turn < 64 { inputs & (u64::MAX << turn) } else { 0 };
    if onward == 0 { inputs } else { onward }.trailing_zeros() as usize
}
