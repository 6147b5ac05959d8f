//! Who waits for whom: what a search for a deadlock looks at, and what must always hold.
//!
//! An input lane whose head asks waits for any of the lanes that it may take; one that holds an output lane without room for the
//! full buffer at its end. All others go on.

use crate::lanes::simulation::Simulation;
use crate::lanes::state::{InputLane, NONE, TO_HOST};
use gingham_model::{Wait, WaitCycle};
use gingham_topology::Fabric;
use gingham_topology::routing::Buffer;

impl Simulation {
    /// A circle of waits, if there is one.
    pub(crate) fn find_cycle(&self) -> Option<WaitCycle> {
        let mut waits = Vec::new();
        for lane in 0..self.layout.first_host << self.shift {
            if let Some(wait) = self.wait_of(lane) {
                waits.push((self.buffer(lane), wait));
            }
        }
        waits.sort_unstable_by_key(|(buffer, _)| *buffer);
        WaitCycle::find(&waits)
    }

    /// The buffer of an input lane.
    fn buffer(&self, lane: usize) -> Buffer {
        let outgoing = self.layout.channel_of[lane >> self.shift];
        let channel = Fabric::reverse(outgoing.expect("a lane has a port"));
        let lane = lane & ((1 << self.shift) - 1);
        Buffer { channel, lane: u8::try_from(lane).expect("lanes are few") }
    }

    /// The input lane at the end of an output lane.
    fn opposite(&self, lane: usize) -> usize {
        let peer = self.ports[lane >> self.shift].peer as usize;
        peer << self.shift | lane & ((1 << self.shift) - 1)
    }

    fn wait_of(&self, lane: usize) -> Option<Wait> {
        let input = self.inputs[lane];
        if input.present == 0 {
            return None;
        }
        let base = self.ports[lane >> self.shift].base as usize;
        if input.out != NONE {
            let output = base + usize::from(input.out);
            return self.is_blocked(output).then(|| Wait::one(self.buffer(self.opposite(output))));
        }
        let ports = usize::from(self.ports[lane >> self.shift].span);
        let first = base >> self.shift;
        let asked = (first..first + ports).find(|port| self.asks.asks(*port, lane - base))?;
        let lanes = self.asks.lanes_of(lane);
        let wait = |choice: usize| {
            let output = asked << self.shift | choice;
            if self.ports[asked].held >> choice & 1 == 1 {
                self.buffer(base + usize::from(self.outputs[output].holder))
            } else {
                self.buffer(self.opposite(output))
            }
        };
        Some(Wait::Any((0..16).filter(|lane| lanes >> lane & 1 == 1).map(wait).collect()))
    }

    /// Whether an output lane has no room, and the buffer at its end neither.
    fn is_blocked(&self, output: usize) -> bool {
        let lane = output & ((1 << self.shift) - 1);
        let depth = self.lanes.depths_flits[lane];
        self.outputs[output].fill == self.output_depths[lane]
            && !self.ports[output >> self.shift].is(TO_HOST)
            && u32::from(self.inputs[self.opposite(output)].present) == depth
    }

    /// Checks that the credits of every lane are somewhere, and that its sets say what is so; for tests. Slow.
    pub fn assert_invariants(&self) {
        let mut elsewhere = vec![0_u32; self.outputs.len()];
        self.credits.iter().for_each(|output| elsewhere[output] += 1);
        self.arrivals.iter().for_each(|input| elsewhere[self.opposite(input)] += 1);
        for (output, elsewhere) in elsewhere.into_iter().enumerate() {
            let (port, lane) = (output >> self.shift, output & ((1 << self.shift) - 1));
            if self.layout.channel_of[port].is_none() || lane >= usize::from(self.lanes.count) {
                continue;
            }
            self.assert_output(output, elsewhere);
            self.assert_input(output);
        }
    }

    fn assert_output(&self, output: usize, elsewhere: u32) {
        let (port, lane) = (output >> self.shift, output & ((1 << self.shift) - 1));
        let (state, fill) = (&self.ports[port], self.outputs[output].fill);
        assert!(fill <= self.output_depths[lane], "an output lane holds {fill} flits");
        if !state.is(TO_HOST) {
            let credit = self.outputs[output].credit;
            let there = self.inputs[self.opposite(output)].present;
            let sum = u32::from(credit) + u32::from(there) + elsewhere;
            assert_eq!(sum, self.lanes.depths_flits[lane], "credits of a lane are conserved");
            assert_eq!(state.credited >> lane & 1 == 1, credit > 0, "`credited` says what is so");
        }
        if port < self.layout.first_host {
            assert_eq!(state.filled >> lane & 1 == 1, fill > 0, "`filled` says what is so");
        }
    }

    fn assert_input(&self, input: usize) {
        let (port, lane) = (input >> self.shift, input & ((1 << self.shift) - 1));
        if port >= self.layout.first_host {
            return;
        }
        let state = &self.ports[port];
        let InputLane { present, out, .. } = self.inputs[input];
        let can_send = out != NONE && present > 0;
        assert_eq!(state.sendable >> lane & 1 == 1, can_send, "`sendable` says what is so");
        if out != NONE {
            let output = state.base as usize + usize::from(out);
            let (port, lane_held) = (output >> self.shift, output & ((1 << self.shift) - 1));
            let is_full = self.outputs[output].fill == self.output_depths[lane_held];
            assert_eq!(state.full >> lane & 1 == 1, is_full, "`full` says what is so");
            assert!(self.ports[port].held >> lane_held & 1 == 1, "what is held is known as held");
        }
    }
}
