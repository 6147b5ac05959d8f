//! The link (stage 5): every channel that is free takes a flit of one of its lanes.
//!
//! ```text
//!   output lanes   filled    1 1 0 1 ┐
//!                  credited  0 1 1 1 ┴► in turn ─► a flit, a credit less ─► the input lane of the peer, latency later
//! ```
//!
//! A channel into a host ends the way of a worm: nothing but its first and its last flit is looked at.

use crate::lanes::event::Event;
use crate::lanes::simulation::Simulation;
use crate::lanes::state::{HOST, SHIFT, SLOW, SPECIAL, TO_HOST, TO_STOPPING, bit_of, in_turn};
use crate::lanes::transit::Ends;
use crate::lanes::worms::WormId;

impl Simulation {
    /// All channels that may have something to send.
    pub(crate) fn send(&mut self, tick: u64) {
        for word in 0..self.leaving.words.len() {
            let mut ports = self.leaving.take(word);
            while ports != 0 {
                let port = word * 64 + ports.trailing_zeros() as usize;
                ports &= ports - 1;
                self.send_from(port, tick);
            }
        }
    }

    #[inline]
    fn send_from(&mut self, port: usize, tick: u64) {
        let state = &mut self.ports[port];
        if state.is(SPECIAL & !TO_HOST) {
            return self.send_specially(port, tick);
        }
        let lanes = state.can_leave();
        if lanes == 0 {
            return;
        }
        let lane = in_turn(lanes, &mut state.link_after);
        let output = &mut self.outputs[port << SHIFT | lane];
        let was_full = output.fill == self.output_depths[lane];
        output.fill -= 1;
        state.filled &= !(u16::from(output.fill == 0) << lane);
        let is_waited_for = was_full && state.held >> lane & 1 == 1;
        let holder = state.base as usize + usize::from(output.holder);
        if state.is(TO_HOST) {
            self.consume(port, lane, self.now);
        } else {
            output.credit -= 1;
            state.credited &= !(u16::from(output.credit == 0) << lane);
            state.flits += 1;
            let (there, peer) = (tick + u64::from(state.latency), state.peer as usize);
            if state.can_leave() != 0 {
                self.leaving.insert(port);
            }
            self.arrivals.push(there, peer << SHIFT | lane);
        }
        if is_waited_for {
            self.make_room(holder);
        }
    }

    /// The output lane that an input lane holds has room again.
    #[inline(never)]
    fn make_room(&mut self, holder: usize) {
        self.ports[holder >> SHIFT].full &= !bit_of(holder);
        self.crossing.insert(holder >> SHIFT);
    }

    #[inline(never)]
    fn send_specially(&mut self, port: usize, tick: u64) {
        if self.ports[port].is(HOST) {
            return self.send_from_host(port, tick);
        }
        let lanes = self.ports[port].can_leave();
        if lanes == 0 {
            return;
        }
        let Some(began) = self.begin_flit(port, tick) else { return self.leaving.insert(port) };
        let Some(lane) = self.choose_link(port, lanes) else { return };
        self.take_from_output(port, lane);
        if self.choice.tracks {
            self.track_leaving(port, lane);
        }
        self.carry(port, lane, tick, began);
    }

    /// When a flit that the channel of a port takes at `tick` begins, in picoseconds, if it may take one.
    #[inline]
    pub(crate) fn begin_flit(&self, port: usize, tick: u64) -> Option<u64> {
        if !self.ports[port].is(SLOW) {
            return Some(self.now);
        }
        let free = self.free_ps[port];
        (free < (tick + 1) * self.cycle_ps).then(|| free.max(self.now))
    }

    /// A flit leaves an output lane of a switch.
    #[inline]
    fn take_from_output(&mut self, port: usize, lane: usize) {
        let bit = 1_u16 << lane;
        let state = &mut self.ports[port];
        let output = &mut self.outputs[port << SHIFT | lane];
        let was_full = output.fill == self.output_depths[lane];
        output.fill -= 1;
        if output.fill == 0 {
            state.filled &= !bit;
        }
        if was_full && state.held & bit != 0 {
            let holder = state.base as usize + usize::from(output.holder);
            self.make_room(holder);
        }
    }

    /// A flit is on its way to a switch, and is there at a tick.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every flit")]
    #[inline(always)]
    pub(crate) fn launch(&mut self, port: usize, lane: usize, there: u64) {
        let state = &mut self.ports[port];
        state.flits += 1;
        let output = &mut self.outputs[port << SHIFT | lane];
        output.credit -= 1;
        if output.credit == 0 {
            state.credited &= !(1 << lane);
        }
        if state.can_leave() != 0 {
            self.leaving.insert(port);
        }
        let lane = (state.peer as usize) << SHIFT | lane;
        if state.is(TO_STOPPING) {
            self.transits.due.push(there, lane);
        } else {
            self.arrivals.push(there, lane);
        }
    }

    /// A flit begins on a channel of any kind.
    pub(crate) fn carry(&mut self, port: usize, lane: usize, tick: u64, began: u64) {
        let state = &self.ports[port];
        if state.flags & !HOST == TO_HOST {
            return self.consume(port, lane, began);
        }
        if state.is(SPECIAL & !HOST) {
            let channel = self.layout.channel_of[port].expect("what sends has a channel");
            let timing = *self.plan.channel(channel);
            let arrived = began + (timing.flit + timing.delay).as_ps();
            if self.ports[port].is(SLOW) {
                self.free_ps[port] = began + timing.flit.as_ps();
            }
            if self.ports[port].is(TO_HOST) {
                return self.consume(port, lane, began);
            }
            self.launch(port, lane, arrived.div_ceil(self.cycle_ps));
        } else {
            self.launch(port, lane, tick + u64::from(self.ports[port].latency));
        }
    }

    /// A flit begins on its way to a host.
    fn consume(&mut self, port: usize, lane: usize, began: u64) {
        let state = &mut self.ports[port];
        state.flits += 1;
        self.events += 1;
        if state.can_leave() != 0 || state.is(HOST) {
            self.leaving.insert(port);
        }
        let lane = (state.peer as usize) << SHIFT | lane;
        let input = &mut self.inputs[lane];
        // The number of flits in the buffer says whether the head has come.
        let is_head = std::mem::replace(&mut input.present, 1) == 0;
        input.left -= 1;
        let is_tail = input.left == 0;
        if !is_head && !is_tail && !self.transits.exist() {
            return;
        }
        let worm = self.queues.first(lane).expect("a flit has a worm") as usize;
        let channel = self.layout.channel_of[port].expect("what sends has a channel");
        let timing = self.plan.channel(channel);
        let arrived = began + (timing.flit + timing.delay).as_ps();
        if is_tail {
            input.present = 0;
            let next = self.queues.pop(lane);
            self.inputs[lane].left = next.map_or(0, |next| self.worms.get(next as usize).flits);
        }
        let port_there = lane >> SHIFT;
        if self.transits.exist() && self.goes_on(port_there, worm) {
            return self.gather(lane, worm, Ends { is_head, is_tail }, arrived);
        }
        if is_head {
            self.worms.get_mut(worm).head_arrived_ps = arrived;
        }
        if is_tail {
            self.schedule(arrived, Event::Deliver { channel, worm: WormId::new(worm) });
        }
    }
}
