//! Copies of lost packets, which wait for their turn beside the buffers of the channels.
//!
//! Invariants: at most as many as the options say, in the order of their numbers in the pipe, each
//! number once.

#[cfg(test)]
mod corruption;

use std::collections::VecDeque;

use crate::tag::ahead;
use crate::{Discard, Instant};

/// A copy that came.
#[derive(Clone, Debug)]
pub(super) struct Copy<P> {
    /// Its number in the pipe.
    pub(super) sequence: u32,
    /// The channel on which it went first.
    pub(super) channel: u8,
    pub(super) length_bytes: u32,
    pub(super) packet: P,
    pub(super) at: Instant,
}

/// The copies that wait.
#[derive(Clone, Debug)]
pub(super) struct Copies<P> {
    copies: VecDeque<Copy<P>>,
    copies_max: usize,
}

impl<P> Copies<P> {
    pub(super) const fn new(copies_max: usize) -> Self {
        Self { copies: VecDeque::new(), copies_max }
    }

    /// Takes a copy whose turn is still to come.
    pub(super) fn push(&mut self, copy: Copy<P>) -> Result<(), Discard> {
        let sequence = copy.sequence;
        let earlier = |copy: &Copy<P>| ahead(copy.sequence, sequence) < 0;
        let place = self.copies.partition_point(earlier);
        if self.copies.get(place).is_some_and(|copy| copy.sequence == sequence) {
            Err(Discard::Repeated)
        } else if self.copies.len() == self.copies_max {
            Err(Discard::CopiesFull)
        } else {
            self.copies.insert(place, copy);
            Ok(())
        }
    }

    /// The copy with this number; those before it are not needed any more.
    pub(super) fn take(&mut self, sequence: u32) -> Option<Copy<P>> {
        while let Some(copy) = self.copies.front() {
            let ahead = ahead(copy.sequence, sequence);
            if ahead > 0 {
                return None;
            }
            let copy = self.copies.pop_front();
            if ahead == 0 {
                return copy;
            }
        }
        None
    }

    /// The number of the first.
    pub(super) fn first(&self) -> Option<u32> {
        self.copies.front().map(|copy| copy.sequence)
    }

    /// Since when the first has been here.
    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.copies.front().map(|copy| copy.at)
    }

    pub(super) fn len(&self) -> usize {
        self.copies.len()
    }

    /// None came in the future.
    pub(super) fn repair_state(&mut self, now: Instant) {
        self.copies.iter_mut().for_each(|copy| copy.at = copy.at.min(now));
    }

    pub(super) fn clear(&mut self) {
        self.copies.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_kept_in_order_once_and_up_to_their_bound() {
        let mut copies = Copies::new(3);
        let copy = |sequence| Copy {
            sequence,
            channel: 0,
            length_bytes: 100,
            packet: sequence,
            at: Instant::ORIGIN,
        };
        for sequence in [1, u32::MAX, 0] {
            assert_eq!(copies.push(copy(sequence)), Ok(()));
        }
        assert_eq!(copies.push(copy(0)), Err(Discard::Repeated));
        assert_eq!(copies.push(copy(7)), Err(Discard::CopiesFull));
        assert_eq!((copies.first(), copies.take(u32::MAX - 1).is_none()), (Some(u32::MAX), true));
        // The turn of u32::MAX is over by the time that 0 is asked for.
        assert_eq!(copies.take(0).map(|copy| copy.packet), Some(0));
        assert_eq!((copies.first(), copies.len()), (Some(1), 1));
    }
}
