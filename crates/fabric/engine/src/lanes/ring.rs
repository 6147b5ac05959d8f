//! Ring buffer of entries scheduled for future ticks, with one slot per tick.
//!
//! ```text
//!   now ─► [ . ][ 5 9 ][ . ][ 2 ][ . ] ...      slots for the longest delay, rounded up to a power of two
//! ```
//!
//! Invariant: no entry is scheduled further ahead than the length of the ring.

#[derive(Clone, Debug)]
pub(crate) struct Ring {
    slots: Vec<Vec<u32>>,
    mask: u64,
}

impl Ring {
    pub(crate) fn new(ticks_ahead: u64) -> Self {
        let slots = (ticks_ahead + 1).next_power_of_two();
        let count = usize::try_from(slots).expect("a delay is of few ticks");
        Self { slots: vec![Vec::new(); count], mask: slots - 1 }
    }

    #[inline]
    fn slot(&self, tick: u64) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the mask is below the number of slots"
        )]
        let slot = (tick & self.mask) as usize;
        slot
    }

    #[inline]
    pub(crate) fn push(&mut self, tick: u64, entry: usize) {
        #[expect(clippy::cast_possible_truncation, reason = "lanes and worms have 32 bits")]
        let entry = entry as u32;
        let slot = self.slot(tick);
        self.slots[slot].push(entry);
    }

    pub(crate) fn due(&self, tick: u64) -> &[u32] {
        &self.slots[self.slot(tick)]
    }

    #[inline]
    pub(crate) fn take(&mut self, tick: u64) -> Vec<u32> {
        let slot = self.slot(tick);
        std::mem::take(&mut self.slots[slot])
    }

    #[inline]
    pub(crate) fn give_back(&mut self, tick: u64, mut due: Vec<u32>) {
        due.clear();
        let slot = self.slot(tick);
        debug_assert!(
            self.slots[slot].is_empty(),
            "nothing is put as far ahead as the ring is long"
        );
        self.slots[slot] = due;
    }

    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        (tick..=tick + self.mask).find(|tick| !self.slots[self.slot(*tick)].is_empty())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = usize> {
        self.slots.iter().flatten().map(|entry| *entry as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_entries_are_due_at_their_tick() {
        let mut ring = Ring::new(5);
        assert_eq!((ring.slots.len(), ring.next_due(0)), (8, None));
        ring.push(5, 7);
        ring.push(2, 9);
        assert_eq!(
            (ring.next_due(0), ring.next_due(3), ring.iter().count()),
            (Some(2), Some(5), 2)
        );
        let due = ring.take(2);
        assert_eq!(due, [9]);
        ring.give_back(2, due);
        ring.push(10, 4);
        assert_eq!((ring.take(5), ring.take(10), ring.next_due(6)), (vec![7], vec![4], None));
    }
}
