//! Flits and credits scheduled to arrive at lanes in future ticks: one word for each lane of 64
//! ports, in slots of one tick.
//!
//! ```text
//!   slot of tick t     column 0: lane 0 1 2 3   column 1: lane 0 1 2 3  ...  then words of host ports
//! ```
//!
//! The number of slots and the words per slot are powers of two, so that one number
//! ([`Ring::offset`]) represents a distance in ticks and columns.
//!
//! Invariant: no entry is scheduled further ahead than the length of the ring.

#[derive(Clone, Debug)]
pub(crate) struct Ring {
    words: Vec<u64>,
    stride: usize,
    mask: u64,
}

impl Ring {
    pub(crate) fn new(words: usize, ticks_ahead: u64) -> Self {
        let stride = words.next_power_of_two();
        let slots = (ticks_ahead + 1).next_power_of_two();
        let count = usize::try_from(slots).expect("a delay is of few ticks");
        Self { words: vec![0; stride * count], stride, mask: slots - 1 }
    }

    #[inline(always)]
    pub(crate) fn slot(&self, tick: u64) -> usize {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the mask is below the number of slots"
        )]
        let slot = (tick & self.mask) as usize;
        slot * self.stride
    }

    /// Returns the number of words from the start of a slot to `word` in the slot `ticks` later.
    pub(crate) fn offset(&self, ticks: u32, word: usize) -> u32 {
        u32::try_from(self.slot(ticks.into()) + word).expect("rings have fewer than 2^32 words")
    }

    #[inline(always)]
    pub(crate) fn at(&mut self, tick: u64) -> Slot<'_> {
        let slot = self.slot(tick);
        Slot { words: &mut self.words, slot }
    }

    #[inline(always)]
    pub(crate) fn take<const L: usize>(&mut self, slot: usize, column: usize) -> [u64; L] {
        let words = &mut self.words[slot + column * L..];
        let words = words.first_chunk_mut().expect("a column has a word for each lane");
        std::mem::replace(words, [0; L])
    }

    #[inline(always)]
    pub(crate) fn is_empty<const L: usize>(&self, slot: usize, column: usize) -> bool {
        self.words[slot + column * L..].first_chunk::<L>() == Some(&[0; L])
    }

    pub(crate) fn words_from(
        &self,
        slot: usize,
        first: usize,
    ) -> impl Iterator<Item = (usize, u64)> {
        let words = self.words[slot..slot + self.stride].iter().copied().enumerate();
        words.skip(first)
    }

    pub(crate) fn next_due(&self, tick: u64) -> Option<u64> {
        let is_due = |tick: &u64| self.words_from(self.slot(*tick), 0).any(|(_, word)| word != 0);
        (tick..=tick + self.mask).find(is_due)
    }

    /// Returns each nonzero word from `tick` on: its tick, its index in the slot, and its bits.
    pub(crate) fn iter(&self, tick: u64) -> impl Iterator<Item = (u64, usize, u64)> {
        let ticks = tick..=tick + self.mask;
        let of_tick =
            |tick| self.words_from(self.slot(tick), 0).map(move |(word, bits)| (tick, word, bits));
        ticks.flat_map(of_tick).filter(|(_, _, bits)| *bits != 0)
    }
}

#[derive(Debug)]
pub(crate) struct Slot<'a> {
    words: &'a mut [u64],
    slot: usize,
}

impl Slot<'_> {
    #[inline(always)]
    pub(crate) fn put_lanes<const L: usize>(&mut self, offset: usize, lanes: [u64; L]) {
        let place = (self.slot + offset) & (self.words.len() - 1);
        let words = self.words[place..].first_chunk_mut::<L>();
        let words = words.expect("a column has a word for each lane");
        for lane in 0..L {
            words[lane] |= lanes[lane];
        }
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, offset: usize, bits: u64) {
        let place = (self.slot + offset) & (self.words.len() - 1);
        self.words[place] |= bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_bits_are_due_at_their_tick() {
        let mut ring = Ring::new(3, 5);
        assert_eq!(ring.next_due(0), None);
        let (soon, late) = (ring.offset(1, 2) as usize, ring.offset(5, 1) as usize);
        ring.at(6).put(soon, 0b10);
        ring.at(6).put(late, 0b01);
        assert!(ring.iter(6).eq([(7, 2, 0b10), (11, 1, 0b01)]));
        assert_eq!(ring.take::<1>(ring.slot(7), 2), [0b10]);
        assert_eq!((ring.next_due(7), ring.next_due(8)), (Some(11), Some(11)));
        assert_eq!(ring.take::<2>(ring.slot(11), 0), [0, 0b01]);
        assert_eq!(ring.next_due(8), None);
    }
}
