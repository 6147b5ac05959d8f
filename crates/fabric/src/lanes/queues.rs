//! The worms on their way to the end of each lane, in order: those whose flits stand in its buffer,
//! are on the wire, or come by the output lane in front of it.
//!
//! ```text
//!   places   [ 4 9 . . ][ 7 . . . ][ 3 8 2 6 5 . . . ] ...      a ring for each lane, moved to a larger one when full
//! ```
//!
//! Most lanes have one or two worms; one-flit packets in deep buffers make many, so that a ring
//! begins small.

use crate::lanes::worms::WormId;

/// The first size of a ring, a power of two.
const PLACES_FIRST: u32 = 4;

/// The queues of all lanes.
#[derive(Clone, Debug)]
pub(crate) struct Queues {
    queues: Vec<Queue>,
    places: Vec<Coming>,
}

/// A worm on its way, and all its flits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Coming {
    pub(crate) worm: WormId,
    pub(crate) flits: u32,
}

#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Where its ring begins.
    base: u32,
    /// One less than its size.
    mask: u32,
    head: u32,
    len: u32,
}

impl Queues {
    /// So many empty queues.
    pub(crate) fn new(count: usize) -> Self {
        let count = u32::try_from(count).expect("lanes have 32 bits");
        let queue =
            |index| Queue { base: index * PLACES_FIRST, mask: PLACES_FIRST - 1, head: 0, len: 0 };
        Self {
            queues: (0..count).map(queue).collect(),
            places: vec![Coming::none(); (count * PLACES_FIRST) as usize],
        }
    }

    /// The first worm of a lane.
    #[inline]
    pub(crate) fn first(&self, lane: usize) -> Option<Coming> {
        let queue = self.queues[lane];
        (queue.len > 0).then(|| self.places[queue.place(0)])
    }

    /// All worms of a lane, the first first.
    pub(crate) fn iter(&self, lane: usize) -> impl Iterator<Item = Coming> {
        let queue = self.queues[lane];
        (0..queue.len).map(move |number| self.places[queue.place(number)])
    }

    /// Adds a worm. Returns whether it is the only one.
    #[inline]
    pub(crate) fn push(&mut self, lane: usize, worm: Coming) -> bool {
        if self.queues[lane].len > self.queues[lane].mask {
            self.grow(lane);
        }
        let queue = &mut self.queues[lane];
        queue.len += 1;
        let (place, is_only) = (queue.place(queue.len - 1), queue.len == 1);
        self.places[place] = worm;
        is_only
    }

    /// Removes the first worm, and returns the one that is first then.
    #[inline]
    pub(crate) fn pop(&mut self, lane: usize) -> Option<Coming> {
        let queue = &mut self.queues[lane];
        debug_assert!(queue.len > 0, "a tail has a worm");
        queue.head = (queue.head + 1) & queue.mask;
        queue.len -= 1;
        self.first(lane)
    }

    #[inline(never)]
    fn grow(&mut self, lane: usize) {
        let worms: Vec<Coming> = self.iter(lane).collect();
        let base = self.places.len();
        self.places.extend_from_slice(&worms);
        self.places.resize(base + 2 * worms.len(), Coming::none());
        let queue = &mut self.queues[lane];
        queue.base = u32::try_from(base).expect("queues hold fewer than 2^32 worms");
        queue.mask = 2 * queue.mask + 1;
        queue.head = 0;
    }
}

impl Coming {
    /// What is in no queue.
    fn none() -> Self {
        Self { worm: WormId::new(0), flits: 0 }
    }
}

impl Queue {
    #[inline]
    const fn place(&self, number: u32) -> usize {
        (self.base + ((self.head + number) & self.mask)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    /// A long mix, compared with queues of the standard library.
    #[test]
    fn queues_keep_their_order_as_they_grow() {
        let mut queues = Queues::new(3);
        let mut expected = vec![VecDeque::new(); 3];
        let mut state = 7_u32;
        for step in 0..20_000_u32 {
            let worm = Coming { worm: WormId::new(step as usize), flits: step };
            state = state.wrapping_mul(747_796_405).wrapping_add(2_891_336_453);
            let lane = (state >> 16) as usize % 3;
            let grows = (step / 500) % 2 == 0;
            if (state >> 20) % 3 < if grows { 2 } else { 1 } {
                let is_only = queues.push(lane, worm);
                assert_eq!(is_only, expected[lane].is_empty());
                expected[lane].push_back(worm);
            } else if expected[lane].pop_front().is_some() {
                assert_eq!(queues.pop(lane), expected[lane].front().copied());
            }
            assert!(queues.iter(lane).eq(expected[lane].iter().copied()));
        }
    }
}
