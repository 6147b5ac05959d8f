//! Which lane a link sends: by the arbiters of link outputs. That of an adapter is with its host.

use super::{Links, TO_HOST};
use crate::lanes::layout::{LANES, SHIFT, lanes_of, round_robin};
use gingham_fairq::Head;

impl Links {
    /// The first lane, round robin, of some.
    #[inline]
    pub(crate) fn serve_round_robin(&mut self, port: usize, lanes: u16) -> usize {
        round_robin(lanes, &mut self.ports[port].after)
    }

    /// A channel takes a flit, which takes a credit, of the first lane, round robin, of some that can be
    /// sent, if that suits. Returns which, and whether the channel can send another.
    #[expect(clippy::inline_always, reason = "who asks has the port at hand: 2 % on trees")]
    #[inline(always)]
    pub(crate) fn spend_round_robin_if(
        &mut self,
        port: usize,
        lanes: u16,
        suits: impl FnOnce(usize) -> bool,
    ) -> Option<(usize, bool)> {
        let state = &mut self.ports[port];
        let mut after = state.after;
        let lane = round_robin(lanes, &mut after);
        suits(lane).then(|| {
            state.after = after;
            state.spend_credit(&mut self.lanes[port << SHIFT | lane], lane);
            (lane, state.can_send() != 0)
        })
    }

    /// The lane that an output of a switch sends on, of some that could.
    pub(crate) fn serve(&mut self, port: usize, lanes: u16) -> Option<usize> {
        if self.arbiters.are_default {
            return Some(self.serve_round_robin(port, lanes));
        }
        let is_by_packet = self.arbiters.are_by_packet;
        if is_by_packet && !self.ports[port].is_open() {
            // It is in the middle of a packet.
            return Some(lanes.trailing_zeros() as usize);
        }
        let mut heads = [Head::default(); LANES];
        let mut able = 0;
        for lane in lanes_of(lanes) {
            let place = port << SHIFT | lane;
            let flits = *self.packets[place].front().expect("a flit is of a packet");
            let is_short = is_by_packet && u32::from(self.lanes[place].credit) < flits;
            if !is_short || self.ports[port].is(TO_HOST) {
                able |= 1 << lane;
            }
            heads[lane] = self.arbiters.head(flits, self.arbiters.arrival_ps(place));
        }
        let lane = self.arbiters.serve(port, able, &heads)?;
        if is_by_packet {
            self.keep_to(port, lane);
        }
        Some(lane)
    }
}
