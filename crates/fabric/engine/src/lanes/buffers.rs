//! Where channels end: how many flits are in the buffer of each input lane, and of which worms.
//!
//! Invariant: an input lane has as many worms as have flits in its buffer, on the wire to it, or in
//! the output lane in front of it, or are granted that.

use crate::lanes::layout::NONE;
use crate::lanes::queues::{Coming, Queues};
use crate::lanes::worms::WormId;

/// The input lanes of all ports, and the worms on their way to each.
#[derive(Clone, Debug)]
pub(crate) struct Buffers {
    lanes: Vec<InputLane>,
    queues: Queues,
}

/// The buffer of a lane at the end of a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InputLane {
    /// Flits of the first worm that have not left it.
    pub(crate) left: u32,
    /// Flits in the buffer.
    pub(crate) present: u16,
    /// The output lane that is held, by its number in the switch.
    pub(crate) out: u16,
}

const _: () = assert!(size_of::<InputLane>() == 8, "lanes are small");

/// Whether a flit is the first or the last of its packet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) is_head: bool,
    pub(crate) is_tail: bool,
}

impl Buffers {
    /// So many empty ones.
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

    /// The first worm of a lane.
    #[inline]
    pub(crate) fn worm(&self, lane: usize) -> WormId {
        self.first(lane).worm
    }

    /// The first worm of a lane, all its flits and its next hop.
    #[inline]
    pub(crate) fn first(&self, lane: usize) -> Coming {
        self.queues.first(lane).expect("a flit has a worm")
    }

    /// The same, if there is one.
    pub(crate) fn first_if_any(&self, lane: usize) -> Option<Coming> {
        self.queues.first(lane)
    }

    /// Worms of a lane with a flit in its buffer, in order; `left` flits of the first have not left
    /// it, and the buffer has `present` flits.
    pub(crate) fn present_worms(
        &self,
        lane: usize,
        (left, present): (u32, u16),
    ) -> impl Iterator<Item = WormId> {
        // Where the flits of each begin, counted from the first in the buffer.
        let mut begins = 0;
        let worms = self.queues.iter(lane).enumerate();
        let worms = worms.take_while(move |(number, worm)| {
            let is_present = begins < u32::from(present);
            begins += if *number == 0 { left } else { worm.flits };
            is_present
        });
        worms.map(|(_, worm)| worm.worm)
    }

    /// A worm is on its way to a lane.
    #[inline]
    pub(crate) fn expect_worm(&mut self, lane: usize, coming: Coming) {
        if self.queues.push(lane, coming) {
            self.lanes[lane].left = coming.flits;
        }
    }

    /// A worm is on its way to a lane of which columns have what is left of the first.
    #[inline]
    pub(crate) fn queue_worm(&mut self, lane: usize, coming: Coming) {
        self.queues.push(lane, coming);
    }

    /// The last flit of the first worm has left such a lane.
    #[inline]
    pub(crate) fn drop_worm(&mut self, lane: usize) {
        self.queues.pop(lane);
    }

    /// The last flit of the first worm of a lane has left. Returns whether flits of the next one
    /// are in the buffer.
    #[inline]
    pub(crate) fn next_worm(&mut self, lane: usize) -> bool {
        let next = self.queues.pop(lane);
        let input = &mut self.lanes[lane];
        input.left = next.map_or(0, |next| next.flits);
        next.is_some() && input.present > 0
    }

    /// A flit is in the buffer of a lane.
    #[inline]
    pub(crate) fn receive(&mut self, lane: usize) -> &InputLane {
        let input = &mut self.lanes[lane];
        input.present += 1;
        input
    }

    /// A flit of the first worm leaves the buffer of a lane.
    #[inline]
    pub(crate) fn leave(&mut self, lane: usize) -> &InputLane {
        let input = &mut self.lanes[lane];
        input.present -= 1;
        input.left -= 1;
        input
    }

    /// An input lane holds an output lane, by its number in the switch, or none any more.
    #[inline]
    pub(crate) fn hold(&mut self, lane: usize, out: u16) {
        self.lanes[lane].out = out;
    }

    /// Of the worm that comes to a host all but the last flit have come.
    pub(crate) fn skip_to_last(&mut self, lane: usize) {
        self.lanes[lane].left = 1;
    }

    /// A flit comes to a host that takes in all that comes.
    #[inline]
    pub(crate) fn eject(&mut self, lane: usize) -> Ends {
        let input = &mut self.lanes[lane];
        // The number of flits in the buffer says whether the head has come.
        let is_head = std::mem::replace(&mut input.present, 1) == 0;
        if is_head {
            // Columns have not written it.
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
