//! Worms on their way to each input lane, in order: their flits are in the lane's buffer, on the
//! wire, or in the feeding output lane.
//!
//! ```text
//!   lane 0   first 4   others ──► [ 9 . . . ]          a ring for the others, enlarged when full
//!   lane 1   first 7   others     none yet
//! ```
//!
//! Most lanes have one worm and no ring; one-flit packets in deep buffers need rings.

use crate::lanes::worms::WormId;

/// Initial capacity of a ring, in worms; a power of two.
const PLACES_FIRST: u32 = 4;

#[derive(Clone, Debug)]
pub(crate) struct Queues {
    queues: Vec<Queue>,
    places: Vec<Coming>,
}

/// Queued worm; `hop` is the index of its next hop in `columns::paths`, 0 if unknown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Coming {
    pub(crate) worm: WormId,
    pub(crate) flits: u32,
    pub(crate) hop: u32,
}

/// Queue of worms, half a cache line in size.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
struct Queue {
    first: Coming,
    len: u32,
    base: u32,
    size: u32,
    /// Position of the second worm in the ring.
    head: u32,
}

impl Queues {
    pub(crate) fn new(count: usize) -> Self {
        let queue = Queue { first: Coming::none(), len: 0, base: 0, size: 0, head: 0 };
        Self { queues: vec![queue; count], places: Vec::new() }
    }

    #[inline]
    pub(crate) fn first(&self, lane: usize) -> Option<Coming> {
        let queue = &self.queues[lane];
        (queue.len > 0).then_some(queue.first)
    }

    pub(crate) fn iter(&self, lane: usize) -> impl Iterator<Item = Coming> {
        let queue = self.queues[lane];
        let others = (1..queue.len).map(move |number| self.places[queue.place(number)]);
        self.first(lane).into_iter().chain(others)
    }

    #[inline]
    pub(crate) fn push(&mut self, lane: usize, worm: Coming) -> bool {
        let queue = &mut self.queues[lane];
        queue.len += 1;
        if queue.len == 1 {
            queue.first = worm;
            return true;
        }
        self.push_behind(lane, worm);
        false
    }

    #[inline(never)]
    fn push_behind(&mut self, lane: usize, worm: Coming) {
        if self.queues[lane].len - 1 > self.queues[lane].size {
            self.grow(lane);
        }
        let queue = &self.queues[lane];
        let place = queue.place(queue.len - 1);
        self.places[place] = worm;
    }

    #[inline]
    pub(crate) fn pop(&mut self, lane: usize) -> Option<Coming> {
        let queue = &mut self.queues[lane];
        debug_assert!(queue.len > 0, "a tail has a worm");
        queue.len -= 1;
        if queue.len == 0 {
            return None;
        }
        queue.first = self.places[queue.place(1)];
        queue.head = (queue.head + 1) & (queue.size - 1);
        Some(queue.first)
    }

    #[cold]
    fn grow(&mut self, lane: usize) {
        let queue = self.queues[lane];
        let (base, size) = (self.places.len(), (2 * queue.size).max(PLACES_FIRST));
        for number in 1..=queue.size {
            self.places.push(self.places[queue.place(number)]);
        }
        self.places.resize(base + size as usize, Coming::none());
        let base = u32::try_from(base).expect("queues hold fewer than 2^32 worms");
        self.queues[lane] = Queue { base, size, head: 0, ..queue };
    }
}

impl Coming {
    pub(crate) fn none() -> Self {
        Self { worm: WormId::new(0), flits: 0, hop: 0 }
    }
}

impl Queue {
    #[inline]
    const fn place(&self, number: u32) -> usize {
        (self.base + ((self.head + number - 1) & (self.size - 1))) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::VecDeque;

    #[test]
    fn growing_queues_match_vec_deque() {
        let mut queues = Queues::new(3);
        let mut expected = vec![VecDeque::new(); 3];
        let mut state = 7_u32;
        for step in 0..20_000_u32 {
            let worm = Coming { worm: WormId::new(step as usize), flits: step, hop: step };
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
