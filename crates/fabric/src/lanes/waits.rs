//! Who waits for whom: what a search for a deadlock looks at, and what must always hold.
//!
//! An input lane whose head asks waits for any of the lanes that it may take; one that holds an output lane without room for the
//! full buffer at its end. All others go on.

use crate::lanes::simulation::Simulation;
use crate::lanes::state::{InputLane, NONE, SHIFT, TO_HOST, number_of};
use crate::lanes::transit::Reading;
use gingham_model::{Wait, WaitCycle};
use gingham_topology::Fabric;
use gingham_topology::routing::Buffer;

impl Simulation {
    /// A circle of waits, if there is one.
    pub(crate) fn find_cycle(&self) -> Option<WaitCycle> {
        let mut returning = vec![0; self.outputs.len()];
        self.credits.iter().for_each(|output| returning[output] += 1);
        let mut waits = Vec::new();
        let in_use = |lane: &usize| number_of(*lane) < usize::from(self.plan.lanes.count);
        for lane in (0..self.inputs.len()).filter(in_use) {
            let wait = if lane >> SHIFT < self.layout.first_host {
                self.wait_at_switch(lane, &returning)
            } else if self.transits.stops {
                self.wait_at_host(lane, &returning)
            } else {
                None
            };
            waits.extend(wait.map(|wait| (self.buffer(lane), wait)));
        }
        waits.sort_unstable_by_key(|(buffer, _)| *buffer);
        WaitCycle::find(&waits)
    }

    /// The buffer of an input lane.
    fn buffer(&self, lane: usize) -> Buffer {
        let outgoing = self.layout.channel_of[lane >> SHIFT];
        let channel = Fabric::reverse(outgoing.expect("a lane has a port"));
        let lane = lane & ((1 << SHIFT) - 1);
        Buffer { channel, lane: u8::try_from(lane).expect("lanes are few") }
    }

    /// The input lane at the end of an output lane.
    fn opposite(&self, lane: usize) -> usize {
        let peer = self.ports[lane >> SHIFT].peer as usize;
        peer << SHIFT | lane & ((1 << SHIFT) - 1)
    }

    fn wait_at_switch(&self, lane: usize, returning: &[u32]) -> Option<Wait> {
        let base = self.ports[lane >> SHIFT].base as usize;
        if self.inputs[lane].out != NONE {
            let output = base + usize::from(self.inputs[lane].out);
            let is_full = self.outputs[output].fill == self.output_depths[number_of(output)];
            return (is_full && self.is_full_behind(output))
                .then(|| Wait::one(self.buffer(self.opposite(output))));
        }
        if self.inputs[lane].present == 0 {
            return None;
        }
        let ports = usize::from(self.ports[lane >> SHIFT].span);
        let first = base >> SHIFT;
        let asked = (first..first + ports).find(|port| self.asks.asks(*port, lane - base))?;
        let flits = self.inputs[lane].left;
        let wait = |choice: usize| {
            let output = asked << SHIFT | choice;
            if self.ports[asked].held >> choice & 1 == 1 {
                return Some(self.buffer(base + usize::from(self.outputs[output].holder)));
            }
            let unpromised = u32::from(self.outputs[output].unpromised) + returning[output];
            let is_short = self.lanes.cut_through.bits() >> choice & 1 == 1
                && !self.ports[asked].is(TO_HOST)
                && unpromised < flits;
            is_short.then(|| self.buffer(self.opposite(output)))
        };
        let waits: Option<Vec<_>> = lanes_of(self.asks.lanes_of(lane)).map(wait).collect();
        waits.map(Wait::Any)
    }

    /// A packet that waits at a host for room in the pool waits for any packet of the pool to leave: for the input lanes at the
    /// ends of the lanes that these are on, or may take. What comes soon is no wait.
    fn wait_at_host(&self, lane: usize, returning: &[u32]) -> Option<Wait> {
        let port = lane >> SHIFT;
        let number = port - self.layout.first_host;
        let transit = &self.transits.hosts[number];
        let Some(Reading::Waiting(_)) = transit.readings.get(number_of(lane)) else {
            return None;
        };
        let worm = self.queues.first(lane).expect("a head has a worm") as usize;
        if self.pool_has_room(port, self.lanes.wire_bytes(self.worms.get(worm).flits.into())) {
            return None;
        }
        let mut waits = Vec::new();
        for &place in &transit.passing {
            let passing = &self.transits.passings[place];
            let on = self.lane_sending(port, place);
            if on.is_none() && passing.has_begun {
                // Its tail is about to have left.
                return None;
            }
            let flits = self.worms.get(passing.worm).flits;
            for choice in
                lanes_of(on.map_or(self.lanes_of_group(port, passing.group), |on| 1 << on))
            {
                let output = port << SHIFT | choice;
                let cuts_through = self.lanes.cut_through.bits() >> choice & 1 == 1;
                let needs_all = on.is_none() && (cuts_through || self.choice.adapter_is_by_packet);
                let credit = u32::from(self.outputs[output].credit) + returning[output];
                let is_short = needs_all && !self.ports[port].is(TO_HOST) && credit < flits;
                if !is_short && !self.is_full_behind(output) {
                    return None;
                }
                waits.push(self.buffer(self.opposite(output)));
            }
        }
        waits.sort_unstable();
        waits.dedup();
        Some(Wait::Any(waits))
    }

    /// Whether the buffer at the end of an output lane is full.
    fn is_full_behind(&self, output: usize) -> bool {
        !self.ports[output >> SHIFT].is(TO_HOST)
            && u32::from(self.inputs[self.opposite(output)].present)
                == self.lanes.depths_flits[number_of(output)]
    }

    /// Checks that the credits of every lane are somewhere, and that its sets say what is so; for tests. Slow.
    pub fn assert_invariants(&self) {
        let mut elsewhere = vec![0_u32; self.outputs.len()];
        self.credits.iter().for_each(|output| elsewhere[output] += 1);
        self.arrivals.iter().for_each(|input| elsewhere[self.opposite(input)] += 1);
        if self.transits.stops {
            self.transits.due.iter().for_each(|input| elsewhere[self.opposite(input)] += 1);
        }
        for (output, elsewhere) in elsewhere.into_iter().enumerate() {
            let (port, lane) = (output >> SHIFT, output & ((1 << SHIFT) - 1));
            if self.layout.channel_of[port].is_none() || lane >= usize::from(self.plan.lanes.count)
            {
                continue;
            }
            self.assert_output(output, elsewhere);
            self.assert_input(output);
        }
    }

    fn assert_output(&self, output: usize, elsewhere: u32) {
        let (port, lane) = (output >> SHIFT, output & ((1 << SHIFT) - 1));
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
        let (port, lane) = (input >> SHIFT, input & ((1 << SHIFT) - 1));
        if port >= self.layout.first_host {
            return;
        }
        let state = &self.ports[port];
        let InputLane { present, out, .. } = self.inputs[input];
        let can_send = out != NONE && present > 0;
        assert_eq!(state.sendable >> lane & 1 == 1, can_send, "`sendable` says what is so");
        if out != NONE {
            let output = state.base as usize + usize::from(out);
            let (port, lane_held) = (output >> SHIFT, output & ((1 << SHIFT) - 1));
            let is_full = self.outputs[output].fill == self.output_depths[lane_held];
            assert_eq!(state.full >> lane & 1 == 1, is_full, "`full` says what is so");
            assert!(self.ports[port].held >> lane_held & 1 == 1, "what is held is known as held");
        }
    }
}

/// The lanes of a set in order.
fn lanes_of(lanes: u16) -> impl Iterator<Item = usize> {
    (0..16).filter(move |lane| lanes >> lane & 1 == 1)
}
