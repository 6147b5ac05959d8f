//! `fecn`: marks by switches at the root of congestion (InfiniBand Architecture Specification,
//! Volume 1, annex A10).

use super::stays::Stays;
use gingham_net::{BLOCK_BYTES, Fecn as Policy, LaneBlocks, Plan, Stay, Switching};
use gingham_topology::ChannelId;
use std::collections::BTreeMap;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Free,
    Root,
    Victim,
}

#[derive(Clone, Debug)]
pub(in crate::endpoints) struct Fecn {
    policy: Policy,
    buffer_blocks: LaneBlocks,
    pub(super) stays: Stays,
    /// States of output lanes; lanes not listed are free.
    states: BTreeMap<(ChannelId, u8), State>,
    /// Lane of each packet that met the marking conditions, and whether the packet was marked, in
    /// order.
    eligible: Vec<((ChannelId, u8), bool)>,
}

impl Fecn {
    pub(super) fn new(plan: &Plan, policy: Policy) -> Self {
        let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
        let (stays, states, eligible) = (Stays::default(), BTreeMap::new(), Vec::new());
        Self { policy, buffer_blocks: packets.buffer_blocks, stays, states, eligible }
    }

    /// Returns whether the number of bytes that wait for a lane exceeds `(16 - threshold) / 16` of
    /// the input buffer's size.
    fn is_above(&self, (output, lane): (ChannelId, u8)) -> bool {
        let blocks = self.buffer_blocks[usize::from(lane)];
        let buffer = u64::from(blocks) * u64::from(BLOCK_BYTES);
        let limit = buffer * u64::from(16 - self.policy.threshold) / 16;
        self.policy.threshold > 0 && self.stays.bytes(output, lane) > limit
    }

    pub(super) fn settled(&mut self, stay: &Stay, has_space: bool) {
        for lane in stay.lanes.lanes() {
            let place = (stay.output, lane);
            let state = match (self.is_above(place), has_space) {
                (false, _) => State::Free,
                (true, true) => State::Root,
                (true, false) => State::Victim,
            };
            self.states.insert(place, state);
        }
    }

    pub(super) fn forwarded(&mut self, stay: &Stay) -> bool {
        let places: Vec<_> = stay.lanes.lanes().map(|lane| (stay.output, lane)).collect();
        let marks = |place: &(ChannelId, u8)| {
            let state = self.states.get(place).copied().unwrap_or(State::Free);
            let may = state == State::Root || (state == State::Victim && self.policy.victim_mask);
            may && self.is_above(*place)
        };
        let is_long =
            stay.wire_bytes >= u64::from(self.policy.packet_size) * u64::from(BLOCK_BYTES);
        let marking = places.iter().copied().find(marks).filter(|_| is_long);
        self.stays.started(stay);
        for place in places {
            if !self.is_above(place) {
                self.states.insert(place, State::Free);
            }
        }
        let Some(place) = marking else { return false };
        // After a marked packet, the next `marking_rate` packets on its lane are not marked.
        let on_lane = self.eligible.iter().rev().filter(|(of, _)| *of == place);
        let unmarked = on_lane.take_while(|(_, is_marked)| !is_marked).count();
        let was_any = self.eligible.iter().any(|(of, is_marked)| *of == place && *is_marked);
        let is_marked = !was_any || unmarked >= usize::from(self.policy.marking_rate);
        self.eligible.push((place, is_marked));
        is_marked
    }
}
