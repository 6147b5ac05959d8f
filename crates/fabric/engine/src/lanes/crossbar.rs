//! Stage 4: switch allocation, and traversal from input lanes to the output lanes that they hold.
//! Stage 5: link traversal.
//!
//! ```text
//!   input port 0   lanes 1, 3 ─► outputs 2, 4        output 4 grants one input port by round robin;
//!   input port 1   lane 0     ─► output 4            input 0 accepts one granted lane; this is repeated
//!   input port 3   lane 2     ─► output 0            until no more ports can be matched
//! ```
//!
//! The allocator is separable, output-first and iterative. The pointer of an output moves when the
//! output is matched, in any iteration. Usually no two input ports request the same output, and all
//! requests are granted.
//!
//! Source: Yum et al. 2002, section 3.1; the allocator is our own (`docs/concepts/timing.md`).

use crate::lanes::buffers::Ends;
use crate::lanes::context::Context;
use crate::lanes::layout::{Layout, NONE, SHIFT};
use crate::lanes::links::{SLOW, TO_HOST};
use crate::lanes::network::Network;
use gingham_net::Crossbar;

impl Network {
    pub(crate) fn traverse_switches(&mut self, context: &Context, tick: u64) {
        let (layout, pays) = (&context.layout, context.lanes.pays_at_crossing());
        if pays {
            self.gather_unpaid();
        }
        match context.lanes.crossbar {
            Crossbar::Multiplexed if self.switches.outputs.is_some() => {
                self.allocate_by_lane(layout, tick);
            }
            Crossbar::Multiplexed if self.switches.crossbar_ports.is_some() => {
                self.allocate_crossbar_ports(layout, tick);
            }
            Crossbar::Multiplexed => self.allocate_switches(layout, tick),
            Crossbar::Full => self.traverse_all(layout, tick),
        }
        if pays {
            self.note_unpaid();
        }
    }

    pub(crate) fn allocate_switches(&mut self, layout: &Layout, tick: u64) {
        self.each_switch(layout, tick, Self::allocate_switch, Self::allocate_wide);
    }

    /// Visits switches with lanes that may cross. `narrow` receives the first port and the inputs
    /// of a switch with at most 64 ports, `wide` the first word and the number of ports of a larger
    /// switch.
    #[inline]
    pub(crate) fn each_switch(
        &mut self,
        layout: &Layout,
        tick: u64,
        narrow: impl Fn(&mut Self, usize, u64, u64),
        wide: impl Fn(&mut Self, usize, usize, u64),
    ) {
        for word in 0..layout.first_wide {
            let mut ports = self.switches.crossing.take(word);
            while ports != 0 {
                let port = ports.trailing_zeros() as usize;
                let mask = self.matching.switches[word * 64 + port];
                let first = mask.trailing_zeros();
                narrow(self, word * 64 + first as usize, (ports & mask) >> first, tick);
                ports &= !mask;
            }
        }
        let mut word = layout.first_wide;
        while word * 64 < layout.first_host {
            let span = usize::from(self.switches.port(word * 64).span);
            wide(self, word, span, tick);
            word += span.div_ceil(64);
        }
    }

    pub(crate) fn traverse_all(&mut self, layout: &Layout, tick: u64) {
        for word in 0..layout.first_host / 64 {
            let mut ports = self.switches.crossing.take(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                let mut lanes = self.switches.port(port).can_cross();
                while lanes != 0 {
                    let lane = lanes.trailing_zeros() as usize;
                    lanes &= lanes - 1;
                    self.traverse_switch(port, lane, tick);
                }
            }
        }
    }

    /// Allocates the crossbar of a switch with at most 64 ports. Only `inputs` may have lanes that
    /// can cross.
    #[inline]
    fn allocate_switch(&mut self, first: usize, inputs: u64, tick: u64) {
        if inputs.is_power_of_two() {
            let input = inputs.trailing_zeros() as usize;
            return self.serve_alone(first, input, tick);
        }
        let (mut seen, mut disputed) = (0, 0);
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            let requested = self.requested(first + input);
            self.matching.requested[input] = requested;
            disputed |= seen & requested;
            seen |= requested;
        }
        if disputed != 0 {
            return self.allocate_disputed(first, inputs, seen, disputed, tick);
        }
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            self.serve_alone(first, input, tick);
        }
    }

    #[inline(never)]
    fn allocate_disputed(
        &mut self,
        first: usize,
        inputs: u64,
        outputs: u64,
        disputed: u64,
        tick: u64,
    ) {
        let (mut entangled, mut is_simple) = (0_u64, true);
        let mut left = inputs;
        while left != 0 {
            let input = left.trailing_zeros() as usize;
            left &= left - 1;
            if self.matching.requested[input] & disputed == 0 {
                self.serve_alone(first, input, tick);
            } else {
                entangled |= 1 << input;
                is_simple &= self.matching.requested[input].is_power_of_two();
            }
        }
        if is_simple {
            self.match_by_output(first, entangled, tick);
        } else {
            self.iterate(first, entangled, outputs, tick);
        }
    }

    #[inline]
    fn requested(&self, port: usize) -> u64 {
        let mut lanes = self.switches.port(port).can_cross();
        let mut requested = 0;
        while lanes != 0 {
            let lane = lanes.trailing_zeros() as usize;
            lanes &= lanes - 1;
            requested |= 1 << (self.buffers.lane(port << SHIFT | lane).out >> SHIFT);
        }
        requested
    }

    #[inline(never)] // Out of line so that all callers share one copy.
    fn serve_alone(&mut self, first: usize, input: usize, tick: u64) {
        let port = first + input;
        let lanes = self.switches.port(port).can_cross();
        if lanes == 0 {
            return;
        }
        let Some(lane) = self.switches.serve(port, lanes, &self.buffers) else { return };
        self.traverse_switch(port, lane, tick);
    }

    /// Matches input ports that request one output each, which takes a single iteration.
    #[inline]
    fn match_by_output(&mut self, first: usize, mut inputs: u64, tick: u64) {
        while inputs != 0 {
            let requested = self.matching.requested[inputs.trailing_zeros() as usize];
            let mut requesting = 0;
            let mut left = inputs;
            while left != 0 {
                let input = left.trailing_zeros() as usize;
                left &= left - 1;
                requesting |= u64::from(self.matching.requested[input] == requested) << input;
            }
            inputs ^= requesting;
            self.switches.crossing.words[first / 64] |= requesting << (first % 64);
            let output = requested.trailing_zeros() as usize;
            let winner = first_from(requesting, self.switches.port(first + output).pointer);
            self.serve_alone(first, winner, tick);
        }
    }

    #[inline(never)]
    fn iterate(&mut self, first: usize, inputs: u64, outputs: u64, tick: u64) {
        self.matching.gather_requests(inputs, outputs);
        self.switches.crossing.words[first / 64] |= inputs << (first % 64);
        let (mut inputs, mut outputs) = (inputs, outputs);
        loop {
            let mut granted = 0_u64;
            let mut left = outputs;
            while left != 0 {
                let output = left.trailing_zeros() as usize;
                left &= left - 1;
                let requesting = self.matching.requesting(output, inputs);
                if requesting == 0 {
                    outputs ^= 1 << output;
                    continue;
                }
                let pointer = self.switches.port(first + output).pointer;
                self.matching.grant(first_from(requesting, pointer), output, &mut granted);
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

    fn serve_granted(&mut self, first: usize, input: usize, tick: u64) -> Option<usize> {
        let (port, granted) = (first + input, self.matching.granted[input]);
        let mut lanes = self.switches.port(port).can_cross();
        let mut left = lanes;
        while left != 0 {
            let lane = left.trailing_zeros() as usize;
            left &= left - 1;
            let output = self.buffers.lane(port << SHIFT | lane).out >> SHIFT;
            lanes ^= u16::from(granted >> output & 1 == 0) << lane;
        }
        let lane = self.switches.serve(port, lanes, &self.buffers)?;
        let output = usize::from(self.buffers.lane(port << SHIFT | lane).out) >> SHIFT;
        self.traverse_switch(port, lane, tick);
        Some(output)
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(crate) fn traverse_switch(&mut self, port: usize, lane: usize, tick: u64) {
        let from = port << SHIFT | lane;
        let state = self.switches.port_mut(port);
        let input = self.buffers.leave(from);
        let (to, is_tail) = (state.base as usize + usize::from(input.out), input.left == 0);
        let is_full = self.links.put(to);
        let crosses_on = state.cross(lane, input.present == 0, is_full, tick);
        #[expect(clippy::cast_possible_truncation, reason = "a switch has fewer than 2^16 ports")]
        let input = (port - (state.base as usize >> SHIFT)) as u16;
        let counts = tick + u64::from(state.credit_latency);
        self.links.send_credit(state.credit_lane as usize | lane, counts);
        if crosses_on {
            self.switches.crossing.insert(port);
        }
        self.switches.match_output(to >> SHIFT, input);
        if is_tail || self.is_tracked {
            self.note_crossing(from, to, tick, is_tail);
        }
    }

    #[inline(never)] // Out of line because most flits are not tails.
    fn note_crossing(&mut self, from: usize, to: usize, tick: u64, is_tail: bool) {
        if self.is_tracked {
            self.switches.track_departure(from);
            self.links.track_arrival(to, tick);
        }
        if is_tail {
            self.release(from, to, tick);
        }
    }

    fn release(&mut self, from: usize, to: usize, tick: u64) {
        self.buffers.hold(from, NONE);
        self.switches.disconnect(from);
        self.links.release(to);
        self.switches.allocating.insert(to >> SHIFT);
        if self.buffers.next_worm(from) {
            self.switches.read_head(from, tick);
        }
    }
}

#[inline]
fn first_from(inputs: u64, pointer: u16) -> usize {
    let onward = if pointer < 64 { inputs & (u64::MAX << pointer) } else { 0 };
    if onward == 0 { inputs } else { onward }.trailing_zeros() as usize
}

// Stage 5: link traversal. Every free channel takes a flit from one of its lanes.
//
// ```text
//   output lanes   filled    1 1 0 1 ┐
//                  credited  0 1 1 1 ┴► round robin ─► a flit leaves, using a credit ─► peer's input lane
// ```
//
// On a channel into a host, only the first and last flits of a worm need processing.

impl Network {
    pub(crate) fn traverse_links(&mut self, context: &mut Context, tick: u64) {
        if context.lanes.pays_at_crossing() {
            self.links.gather_unpaid();
        }
        for word in 0..context.layout.first_host / 64 {
            let mut ports = self.links.take_ready(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                self.traverse_link(port, context, tick);
            }
        }
    }

    #[inline]
    fn traverse_link(&mut self, port: usize, context: &mut Context, tick: u64) {
        let state = self.links.port(port);
        if !state.is_common() {
            return self.traverse_uncommon(port, context, tick);
        }
        let is_to_host = state.is(TO_HOST);
        let Some((lane, is_waited_for)) = self.links.traverse(port, tick) else { return };
        if is_to_host {
            self.eject(port, lane, context.clock.now(), context);
        }
        if is_waited_for {
            self.make_room(port, lane);
        }
    }

    #[inline(never)]
    fn make_room(&mut self, port: usize, lane: usize) {
        let place = port << SHIFT | lane;
        if !self.links.is_unpaid(place) {
            self.switches.make_room(port, self.links.lane(place).holder);
        }
    }

    #[inline(never)]
    fn traverse_uncommon(&mut self, port: usize, context: &mut Context, tick: u64) {
        let links = &mut self.links;
        let lanes = links.port(port).can_send();
        let began = links.begin_flit(port, tick, &context.clock);
        if lanes == 0 || began.is_none() {
            links.note_not_sent(port, tick);
        }
        if lanes == 0 {
            return;
        }
        let Some(began) = began else { return links.ready.insert(port) };
        let Some(lane) = links.serve(port, lanes) else { return links.note_not_sent(port, tick) };
        let is_waited_for = links.take(port, lane);
        if self.is_tracked {
            self.links.track_departure(port, lane);
        }
        self.traverse_channel(port, lane, began, context);
        self.links.note_sent(port, tick);
        if is_waited_for {
            self.make_room(port, lane);
        }
    }

    pub(crate) fn traverse_channel(
        &mut self,
        port: usize,
        lane: usize,
        began: u64,
        context: &mut Context,
    ) {
        let timing = *context.plan.channel(context.layout.channel(port));
        if self.links.port(port).is(SLOW) {
            self.links.occupy(port, began + timing.flit.as_ps());
        }
        if self.links.port(port).is(TO_HOST) {
            return self.eject(port, lane, began, context);
        }
        let arrived = began + (timing.flit + timing.delay).as_ps();
        let at_switch = self.links.port(port).ends_at_switch();
        let pipeline_cycles = if at_switch { context.lanes.pipeline_cycles } else { 0 };
        let there = arrived.div_ceil(context.clock.cycle_ps()) + u64::from(pipeline_cycles);
        if self.links.launch(port, lane, there) {
            self.links.ready.insert(port);
        }
    }

    fn eject(&mut self, port: usize, lane: usize, began: u64, context: &mut Context) {
        context.clock.count(1);
        let lane = self.links.eject(port, lane);
        let ends = self.buffers.eject(lane);
        if ends.is_head || ends.is_tail || self.in_transit.exists() {
            self.land(port, lane, ends, began, context);
        }
    }

    /// Processes a flit that starts at `began` (ps) on the channel from `port` to a host's input
    /// lane.
    pub(crate) fn land(
        &mut self,
        port: usize,
        lane: usize,
        ends: Ends,
        began: u64,
        context: &mut Context,
    ) {
        let worm = self.buffers.worm(lane);
        let channel = context.layout.channel(port);
        let timing = context.plan.channel(channel);
        let arrived = began + (timing.flit + timing.delay).as_ps();
        if ends.is_tail {
            self.buffers.next_worm(lane);
        }
        if self.in_transit.exists() && self.in_transit.goes_on(lane >> SHIFT, worm, context) {
            return self.in_transit.reassemble(lane, worm, ends, arrived, context);
        }
        if ends.is_head {
            context.worms.get_mut(worm).head_arrived_ps = arrived;
        }
        if ends.is_tail {
            context.clock.schedule_delivery(arrived, channel, worm);
        }
    }
}
