//! Stage 5: link traversal. Every channel that is free takes a flit of one of its lanes.
//!
//! ```text
//!   output lanes   filled    1 1 0 1 ┐
//!                  credited  0 1 1 1 ┴► round robin ─► a flit, a credit less ─► the input lane of the peer, latency later
//! ```
//!
//! A channel into a host ends the way of a worm: nothing but its first and its last flit is looked
//! at.

use crate::lanes::buffers::Ends;
use crate::lanes::context::Context;
use crate::lanes::layout::SHIFT;
use crate::lanes::links::{SLOW, TO_HOST};
use crate::lanes::network::Network;

impl Network {
    /// All channels of switches that may have something to send.
    pub(crate) fn traverse_links(&mut self, context: &mut Context, tick: u64) {
        if self.columns.is_some() {
            return self.traverse_links_by_columns(context, tick);
        }
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

    /// A flit begins on a channel of any kind.
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

    /// A flit begins on its way to a host that takes in all that comes.
    fn eject(&mut self, port: usize, lane: usize, began: u64, context: &mut Context) {
        context.clock.count(1);
        let lane = self.links.eject(port, lane);
        let ends = self.buffers.eject(lane);
        if ends.is_head || ends.is_tail || self.in_transit.exists() {
            self.land(port, lane, ends, began, context);
        }
    }

    /// A flit that begins on the channel of a port is on its way to an input lane of a host.
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
