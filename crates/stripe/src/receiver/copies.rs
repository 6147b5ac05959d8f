//! Copies of lost packets, which wait for their turn beside the buffers of the channels.
//!
//! Invariants: at most as many as the options say, in the order of their numbers in the pipe, each
//! number once.

#[cfg(test)]
mod corruption;

use std::collections::VecDeque;

use crate::tag::{Tag, ahead};
use crate::{Discard, Instant};

/// A copy that came.
#[derive(Clone, Debug)]
pub(super) struct Copy<P> {
    pub(super) tag: Tag,
    pub(super) length_bytes: u32,
    pub(super) packet: P,
    at: Instant,
}

/// The copies that wait.
#[derive(Clone, Debug)]
pub(super) struct Copies<P> {
    copies: VecDeque<Copy<P>>,
    copies_max: usize,
}

impl<P> Copies<P> {
    pub(super) fn new(copies_max: usize) -> Self {
        Self { copies: VecDeque::with_capacity(copies_max), copies_max }
    }

    /// Takes a copy whose turn is still to come.
    pub(super) fn push(
        &mut self,
        now: Instant,
        tag: Tag,
        length_bytes: u32,
        packet: P,
    ) -> Result<(), Discard> {
        let earlier = |copy: &Copy<P>| ahead(copy.tag.sequence, tag.sequence) < 0;
        let place = self.copies.partition_point(earlier);
        if self.copies.get(place).is_some_and(|copy| copy.tag.sequence == tag.sequence) {
            Err(Discard::Repeated)
        } else if self.copies.len() == self.copies_max {
            Err(Discard::CopiesFull)
        } else {
            self.copies.insert(place, Copy { tag, length_bytes, packet, at: now });
            Ok(())
        }
    }

    /// The copy with this number; those before it are not needed any more.
    pub(super) fn take(&mut self, sequence: u32) -> Option<Copy<P>> {
        while let Some(copy) = self.copies.front() {
            let ahead = ahead(copy.tag.sequence, sequence);
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
        self.copies.front().map(|copy| copy.tag.sequence)
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
        let tag = |sequence| Tag { sequence, ..Tag::default() };
        let now = Instant::ORIGIN;
        for sequence in [1, u32::MAX, 0] {
            assert_eq!(copies.push(now, tag(sequence), 100, sequence), Ok(()));
        }
        assert_eq!(copies.push(now, tag(0), 100, 0), Err(Discard::Repeated));
        assert_eq!(copies.push(now, tag(7), 100, 7), Err(Discard::CopiesFull));
        assert_eq!((copies.first(), copies.take(u32::MAX - 1).is_none()), (Some(u32::MAX), true));
        // The turn of u32::MAX is over by the time that 0 is asked for.
        assert_eq!(copies.take(0).map(|copy| copy.packet), Some(0));
        assert_eq!((copies.first(), copies.len()), (Some(1), 1));
    }
}
