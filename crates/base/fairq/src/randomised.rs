//! Randomised fair queueing.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 3.4. Both ends of a stripe draw identical
//! random words from a shared seed.
//!
//! Invariants: one random word is drawn at the start and one per packet; the channels are equally
//! likely to within 2^-58.

use core::fmt;

use crate::error::check_count;
use crate::{CHANNELS_MAX, Causal, SchedulerError};

/// Scheduler that picks each packet's channel uniformly at random.
#[derive(Clone)]
pub struct Randomised<W> {
    count: usize,
    current: usize,
    words: W,
}

impl<W: FnMut() -> u64> Randomised<W> {
    /// Creates a scheduler of `count` channels; `words` returns 64 random bits.
    pub fn new(count: usize, words: W) -> Result<Self, SchedulerError> {
        check_count::<CHANNELS_MAX>(count)?;
        let mut scheduler = Self { count, current: 0, words };
        scheduler.draw();
        Ok(scheduler)
    }

    /// The high half of `word * count` is uniform on `0..count`.
    fn draw(&mut self) {
        let product = u128::from((self.words)()) * self.count as u128;
        self.current = usize::try_from(product >> 64).expect("below the count");
    }
}

impl<W: FnMut() -> u64> Causal for Randomised<W> {
    fn channels(&self) -> usize {
        self.count
    }

    fn current(&self) -> usize {
        self.current
    }

    fn charge(&mut self, _length_bytes: u32) {
        self.draw();
    }
}

impl<W> fmt::Debug for Randomised<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("Randomised");
        debug.field("count", &self.count).field("current", &self.current).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn high_bits_of_the_random_word_select_the_channel() {
        let mut words = [3, 0, 2, 1].into_iter().map(|channel: u64| channel << 62 | 7);
        let mut scheduler = Randomised::new(4, || words.next().unwrap_or(0)).unwrap();
        let order: [_; 4] = core::array::from_fn(|_| {
            let channel = scheduler.current();
            scheduler.charge(1_000);
            channel
        });
        assert_eq!(order, [3, 0, 2, 1]);
    }

    #[test]
    fn largest_random_word_selects_a_valid_channel() {
        for count in [1, 2, 3, 63, 64] {
            assert_eq!(Randomised::new(count, || u64::MAX).unwrap().current(), count - 1);
        }
    }
}
