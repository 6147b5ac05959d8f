//! Routing and allocation (stages 2 and 3): heads ask for outputs, and outputs give lanes to them.
//!
//! ```text
//!   head there at h ── routing ──► h + 1 + R asks ──► output: first in turn among heads that a free lane would do for,
//!                                                     first in turn among those lanes ──► holds it, may cross next tick
//! ```
//!
//! An output is looked at when something changed for it: a head asks, a lane of it was let go, or credits came where a whole
//! packet needs them. What it gives, and to whom, depends on no other output, for a head asks one output alone.
//!
//! The worm goes into the queue of the next input lane as the lane is given: worms come out of an output lane
//! in the order in which it was held.

use crate::lanes::simulation::Simulation;
use crate::lanes::state::{NONE, Port, SHIFT, TO_HOST, bit_of, in_turn};
use gingham_model::{PipelinePlan, Plan};

/// Which heads ask for what.
#[derive(Clone, Debug)]
pub(crate) struct Asks {
    /// By port: where the words of those that ask for it begin; input lanes by their number in the switch.
    base: Vec<u32>,
    words: Vec<u64>,
    /// By input lane: the lanes that its head may take.
    lanes: Vec<u16>,
    /// By input lane: the level of its head.
    levels: Vec<u8>,
    level_count: usize,
    /// By output port and level: the input lane after the last winner.
    turns: Vec<u16>,
}

impl Asks {
    pub(crate) fn new(plan: &Plan, lanes: &PipelinePlan, ports: &[Port], shift: u32) -> Self {
        let level_count = lanes.arbitration.level(plan.highest_priority()) + 1;
        let mut base = Vec::with_capacity(ports.len());
        let mut count = 0;
        for port in ports {
            base.push(u32::try_from(count).expect("words of a switch are few"));
            count += (usize::from(port.span) << shift).div_ceil(64);
        }
        Self {
            base,
            words: vec![0; count],
            lanes: vec![0; ports.len() << shift],
            levels: vec![0; ports.len() << shift],
            level_count,
            turns: vec![0; ports.len() * level_count],
        }
    }

    /// Whether anybody asks for a port.
    fn any(&self, port: usize) -> bool {
        self.words_of(port).iter().any(|word| *word != 0)
    }

    fn words_of(&self, port: usize) -> &[u64] {
        let end = self.base.get(port + 1).map_or(self.words.len(), |end| *end as usize);
        &self.words[self.base[port] as usize..end]
    }

    fn flip(&mut self, port: usize, input: usize) {
        self.words[self.base[port] as usize + input / 64] ^= 1 << (input % 64);
    }

    /// Whether an input lane, by its number in the switch, asks for a port.
    pub(crate) fn asks(&self, port: usize, input: usize) -> bool {
        self.words_of(port)[input / 64] >> (input % 64) & 1 == 1
    }

    /// The lanes that the head of an input lane may take.
    pub(crate) fn lanes_of(&self, input: usize) -> u16 {
        self.lanes[input]
    }
}

impl Simulation {
    /// Heads whose routing is over ask.
    pub(crate) fn route(&mut self, tick: u64) {
        let due = self.heads.take(tick);
        for &lane in &due {
            self.ask(lane as usize);
        }
        self.events += due.len() as u64;
        self.heads.give_back(tick, due);
    }

    /// The head of an input lane asks for the output on its way.
    fn ask(&mut self, lane: usize) {
        let input_port = lane >> SHIFT;
        let peer = self.ports[input_port].peer as usize;
        let incoming = self.layout.channel_of[peer].expect("a cable has two ends");
        let worm = self.queues.first(lane).expect("a head has a worm") as usize;
        let worm = self.worms.get_mut(worm);
        let outgoing = worm.output(&self.plan, || self.plan.ends(incoming).target.node);
        worm.position += 1;
        let fabric = &self.plan.fabric;
        let vc_class = worm.packet.vc_class;
        let (lanes, dateline_class) = self.plan.lanes.allowed.onward(
            fabric,
            vc_class,
            worm.dateline_class,
            incoming,
            outgoing,
        );
        worm.dateline_class = dateline_class;
        debug_assert!(!lanes.is_empty(), "a packet has a lane wherever it goes");
        let level = self.lanes.arbitration.level(worm.packet.priority);
        self.asks.levels[lane] = u8::try_from(level).expect("levels are few");
        self.asks.lanes[lane] = lanes.bits();
        let output = self.layout.port_of[outgoing.index()] as usize;
        self.asks.flip(output, lane - self.ports[input_port].base as usize);
        self.giving.insert(output);
    }

    /// Outputs for which something changed give what they can.
    pub(crate) fn give(&mut self) {
        for word in 0..self.layout.first_host / 64 {
            let mut ports = self.giving.take(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                while self.asks.any(port) && self.give_one(port) {}
            }
        }
    }

    /// An output gives a lane to a head, if it can.
    fn give_one(&mut self, port: usize) -> bool {
        let free = !self.ports[port].held;
        let Some(input) = self.winner(port, free) else { return false };
        let from = self.ports[port].base as usize + input;
        let lanes = self.lanes_to_give(port, from, free);
        let lane = in_turn(lanes, &mut self.ports[port].given_after);
        let turn = port * self.asks.level_count + usize::from(self.asks.levels[from]);
        let next = (input + 1) % (usize::from(self.ports[port].span) << SHIFT);
        self.asks.turns[turn] = u16::try_from(next).expect("lanes of a switch have 16 bits");
        self.asks.flip(port, input);
        self.connect(port, lane, from);
        true
    }

    /// The lanes of an output that could be given to the head of an input lane, which asks, if these are free.
    #[inline]
    fn lanes_to_give(&self, port: usize, from: usize, free: u16) -> u16 {
        let lanes = self.asks.lanes[from] & free;
        if self.lanes.cut_through.is_empty() || self.ports[port].is(TO_HOST) {
            return lanes;
        }
        let flits = self.inputs[from].left;
        let cut_through = lanes & self.lanes.cut_through.bits();
        let is_short = |lane: &u32| {
            let output = &self.outputs[port << SHIFT | *lane as usize];
            cut_through >> lane & 1 == 1 && u32::from(output.unpromised) < flits
        };
        let short = (0..16).filter(is_short).fold(0, |lanes, lane| lanes | 1 << lane);
        lanes & !short
    }

    /// Who is given a lane of an output next, by its number in the switch, if these are free.
    fn winner(&self, port: usize, free: u16) -> Option<usize> {
        let base = self.ports[port].base as usize;
        let could = |input: &usize| self.lanes_to_give(port, base + input, free) != 0;
        let level = match self.asks.level_count {
            1 => 0,
            _ => self
                .asking(port, 0)
                .filter(could)
                .map(|input| self.asks.levels[base + input])
                .max()?,
        };
        let turn = self.asks.turns[port * self.asks.level_count + usize::from(level)];
        let is_of_level = |input: &usize| self.asks.levels[base + input] == level && could(input);
        self.asking(port, turn.into()).find(is_of_level)
    }

    /// The input lanes that ask for an output, by their number in the switch, in turn from `first` on.
    fn asking(&self, port: usize, first: usize) -> impl Iterator<Item = usize> {
        let words = self.asks.words_of(port);
        let (at, bit) = (first / 64, first % 64);
        let onward = u64::MAX << bit;
        // The word in which the turn lies comes first with what is from there on, and last with the rest.
        let word = move |place: usize| match place {
            0 => words.get(at).map_or(0, |word| word & onward),
            place if place == words.len() => words.get(at).map_or(0, |word| word & !onward),
            place => words[(at + place) % words.len()],
        };
        (0..=words.len()).flat_map(move |place| {
            let number = (at + place) % words.len();
            members(word(place)).map(move |bit| number * 64 + bit)
        })
    }

    /// An input lane holds a lane of an output from now on.
    fn connect(&mut self, port: usize, lane: usize, from: usize) {
        let to = port << SHIFT | lane;
        let (input_port, bit) = (from >> SHIFT, bit_of(from));
        let base = self.ports[port].base as usize;
        let local =
            |lane: usize| u16::try_from(lane - base).expect("lanes of a switch have 16 bits");
        debug_assert_eq!(self.inputs[from].out, NONE, "a head that asks holds nothing");
        self.inputs[from].out = local(to);
        let flits = self.inputs[from].left;
        let output = &mut self.outputs[to];
        output.holder = local(from);
        let is_full = output.fill == self.output_depths[lane];
        let state = &mut self.ports[port];
        state.held |= 1 << lane;
        let next = (state.peer as usize) << SHIFT | lane;
        if self.lanes.cut_through.bits() >> lane & 1 == 1 && !state.is(TO_HOST) {
            output.unpromised -= u16::try_from(flits).expect("a packet fits its lane");
        }
        let input_state = &mut self.ports[input_port];
        input_state.sendable |= bit;
        input_state.full |= if is_full { bit } else { 0 };
        self.crossing.insert(input_port);
        let worm = self.queues.first(from).expect("a head has a worm");
        self.await_worm(next, worm, flits);
        if self.choice.tracks {
            self.choice.track_packet(to, flits);
        }
    }

    /// A worm of so many flits is on its way to an input lane.
    pub(crate) fn await_worm(&mut self, lane: usize, worm: u32, flits: u32) {
        if self.queues.push(lane, worm) {
            self.inputs[lane].left = flits;
        }
    }
}

/// The bits of a word, the lowest first.
fn members(mut word: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let bit = word.trailing_zeros() as usize;
        (word != 0).then(|| {
            word &= word - 1;
            bit
        })
    })
}
