//! Retransmitted copies waiting for delivery, separate from the channel buffers.
//!
//! Invariants: `held` is the sum of the memory charges; pipe sequence numbers increase.

use std::collections::VecDeque;

use super::buffer::make_place;
use crate::tag::ahead;
use crate::{Charge, Discard, Instant};

#[derive(Clone, Debug)]
pub(super) struct Copy<P> {
    pub(super) sequence: u32,
    pub(super) channel: u8,
    pub(super) length_bytes: u32,
    pub(super) packet: P,
    pub(super) at: Instant,
}

#[derive(Clone, Debug)]
pub(super) struct Copies<P> {
    waiting: VecDeque<Copy<P>>,
    charge: Charge,
    held: u32,
}

impl<P> Copies<P> {
    pub(super) const fn new(charge: Charge) -> Self {
        Self { waiting: VecDeque::new(), charge, held: 0 }
    }

    pub(super) fn held(&self) -> u64 {
        self.held.into()
    }

    fn place(&self, sequence: u32) -> usize {
        self.waiting.partition_point(|copy| ahead(copy.sequence, sequence) < 0)
    }

    pub(super) fn has(&self, sequence: u32) -> bool {
        self.waiting.get(self.place(sequence)).is_some_and(|copy| copy.sequence == sequence)
    }

    pub(super) fn drop_after(&mut self, sequence: u32) -> bool {
        let is_after = self.waiting.back().is_some_and(|last| ahead(last.sequence, sequence) > 0);
        let last = if is_after { self.waiting.pop_back() } else { None };
        self.discharge(last.as_ref());
        is_after
    }

    fn discharge(&mut self, copy: Option<&Copy<P>>) {
        let charge = copy.map_or(0, |copy| self.charge.of(copy.length_bytes));
        self.held = if self.waiting.is_empty() { 0 } else { self.held.saturating_sub(charge) };
    }

    pub(super) fn push(&mut self, copy: Copy<P>) -> Result<(), Discard> {
        if self.has(copy.sequence) {
            return Err(Discard::Repeated);
        }
        self.held = self.held.saturating_add(self.charge.of(copy.length_bytes));
        make_place(&mut self.waiting);
        self.waiting.insert(self.place(copy.sequence), copy);
        Ok(())
    }

    /// Removes and returns the copy with this pipe sequence number; drops earlier copies.
    pub(super) fn take(&mut self, sequence: u32) -> Option<Copy<P>> {
        while let Some(copy) = self.waiting.front() {
            let ahead = ahead(copy.sequence, sequence);
            if ahead > 0 {
                return None;
            }
            let copy = self.waiting.pop_front();
            self.discharge(copy.as_ref());
            if ahead == 0 {
                return copy;
            }
        }
        None
    }

    pub(super) fn first(&self) -> Option<u32> {
        self.waiting.front().map(|copy| copy.sequence)
    }

    pub(super) fn waiting_since(&self) -> Option<Instant> {
        self.waiting.front().map(|copy| copy.at)
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn repair_state(&mut self, now: Instant) {
        self.held = 0;
        for copy in &mut self.waiting {
            copy.at = copy.at.min(now);
            self.held = self.held.saturating_add(self.charge.of(copy.length_bytes));
        }
    }

    pub(super) fn clear(&mut self) {
        self.waiting.clear();
        self.held = 0;
    }
}

#[cfg(test)]
impl<P> crate::corruption::Corrupt for Copies<P> {
    fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.held.corrupt(words);
        self.waiting.iter_mut().for_each(|copy| copy.at.corrupt(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_kept_once_and_in_order() {
        let mut copies = Copies::new(Charge::PACKETS);
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
        assert_eq!(copies.push(copy(7)), Ok(()));
        assert!(copies.drop_after(1) && !copies.drop_after(1));
        assert_eq!((copies.held(), copies.len()), (3, 3));
        assert_eq!((copies.first(), copies.take(u32::MAX - 1).is_none()), (Some(u32::MAX), true));
        assert_eq!(copies.take(0).map(|copy| copy.packet), Some(0));
        assert_eq!((copies.first(), copies.len(), copies.held()), (Some(1), 1, 1));
    }
}
