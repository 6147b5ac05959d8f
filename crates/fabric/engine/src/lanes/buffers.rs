//! Input buffers at the ends of channels: the number of flits in each input lane, and their worms.
//!
//! Invariant: a worm is queued at an input lane while it holds the output lane that feeds the input
//! lane, or has flits in that output lane, on the wire or in the input buffer.

use crate::lanes::layout::NONE;
use crate::lanes::queues::{Coming, Queues};
use crate::lanes::worms::WormId;

#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    lanes: Vec<InputLane>,
    queues: Queues,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct InputLane {
    /// Number of flits of the first worm that have yet to leave the lane.
    pub(crate) left: u32,
    pub(crate) present: u16,
    /// Output lane held by this input lane, numbered within the switch, or `NONE`.
    pub(crate) out: u16,
}

const _: () = assert!(size_of::<InputLane>() == 8, "lanes are small");

#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) is_head: bool,
    pub(crate) is_tail: bool,
}

impl Buffers {
    pub(crate) fn new(lanes: usize) -> Self {
        let lane = InputLane { left: 0, present: 0, out: NONE };
        Self { lanes: vec![lane; lanes], queues: Queues::new(lanes) }
    }

    #[inline]
    pub(crate) fn lane(&self, lane: usize) -> &InputLane {
        &self.lanes[lane]
    }

    pub(crate) fn lanes(&self) -> &[InputLane] {
        &self.lanes
    }

    #[inline]
    pub(crate) fn worm(&self, lane: usize) -> WormId {
        self.first(lane).worm
    }

    #[inline]
    pub(crate) fn first(&self, lane: usize) -> Coming {
        self.queues.first(lane).expect("a flit has a worm")
    }

    pub(crate) fn first_if_any(&self, lane: usize) -> Option<Coming> {
        self.queues.first(lane)
    }

    /// Returns the worms with a flit in the buffer, in order. The buffer contains `present` flits;
    /// `left` flits of the first worm have yet to leave the lane.
    pub(crate) fn present_worms(
        &self,
        lane: usize,
        (left, present): (u32, u16),
    ) -> impl Iterator<Item = WormId> {
        let mut begins = 0;
        let worms = self.queues.iter(lane).enumerate();
        let worms = worms.take_while(move |(number, worm)| {
            let is_present = begins < u32::from(present);
            begins += if *number == 0 { left } else { worm.flits };
            is_present
        });
        worms.map(|(_, worm)| worm.worm)
    }

    #[inline]
    pub(crate) fn expect_worm(&mut self, lane: usize, coming: Coming) {
        if self.queues.push(lane, coming) {
            self.lanes[lane].left = coming.flits;
        }
    }

    #[inline]
    pub(crate) fn queue_worm(&mut self, lane: usize, coming: Coming) {
        self.queues.push(lane, coming);
    }

    #[inline]
    pub(crate) fn drop_worm(&mut self, lane: usize) {
        self.queues.pop(lane);
    }

    /// Removes the first worm, whose tail has left. Returns whether the buffer already contains
    /// flits of the next worm.
    #[inline]
    pub(crate) fn next_worm(&mut self, lane: usize) -> bool {
        let next = self.queues.pop(lane);
        let input = &mut self.lanes[lane];
        input.left = next.map_or(0, |next| next.flits);
        next.is_some() && input.present > 0
    }

    #[inline]
    pub(crate) fn receive(&mut self, lane: usize) -> &InputLane {
        let input = &mut self.lanes[lane];
        input.present += 1;
        input
    }

    #[inline]
    pub(crate) fn leave(&mut self, lane: usize) -> &InputLane {
        let input = &mut self.lanes[lane];
        input.present -= 1;
        input.left -= 1;
        input
    }

    #[inline]
    pub(crate) fn hold(&mut self, lane: usize, out: u16) {
        self.lanes[lane].out = out;
    }

    pub(crate) fn skip_to_last(&mut self, lane: usize) {
        self.lanes[lane].left = 1;
    }

    #[inline]
    pub(crate) fn eject(&mut self, lane: usize) -> Ends {
        let input = &mut self.lanes[lane];
        let is_head = std::mem::replace(&mut input.present, 1) == 0;
        if is_head {
            // The column stepper does not maintain `left`.
            input.left = self.queues.first(lane).map_or(0, |first| first.flits);
        }
        input.left -= 1;
        let is_tail = input.left == 0;
        if is_tail {
            input.present = 0;
        }
        Ends { is_head, is_tail }
    }
}
