//! Demand-slotted round robin: contenders without demand get no slot.
//!
//! ```text
//!   last winner 1      demand: 0, 1, 3      search order 2, 3, 0, 1      winner 3
//! ```
//!
//! Source: Flich et al. 2001, section IV-A; Kwan et al. 1996, section 3.1; for demand from all
//! contenders, Adiseshu, Parulkar and Varghese 1996, section 3.1.

use crate::error::check_count;
use crate::{Arbiter, CHANNELS_MAX, Causal, Ready, Rounds, SchedulerError};

/// Round-robin arbiter over contenders `0..count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundRobin {
    count: usize,
    next: usize,
}

impl RoundRobin {
    /// Creates an arbiter that starts at contender 0.
    pub const fn new(count: usize) -> Self {
        Self { count, next: 0 }
    }

    /// Creates an arbiter after checking that `count` is from 1 to [`CHANNELS_MAX`].
    pub const fn try_new(count: usize) -> Result<Self, SchedulerError> {
        match check_count::<CHANNELS_MAX>(count) {
            Ok(()) => Ok(Self::new(count)),
            Err(error) => Err(error),
        }
    }

    fn go_past(&mut self, winner: usize) {
        self.next = if winner + 1 == self.count { 0 } else { winner + 1 };
    }
}

impl Causal for RoundRobin {
    fn channels(&self) -> usize {
        self.count
    }

    fn current(&self) -> usize {
        self.next
    }

    fn charge(&mut self, _length_bytes: u32) {
        self.pass();
    }
}

impl Rounds for RoundRobin {
    fn pass(&mut self) {
        self.go_past(self.next);
    }
}

impl Arbiter for RoundRobin {
    // Performance-critical: called at every hop of every packet.
    #[inline]
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        let winner = match *ready.eligible() {
            [word] => first_in(0, word & onward(self.next)).or_else(|| first_in(0, word)),
            ref words => first_from(self.next, words),
        }?;
        self.go_past(winner);
        Some(winner)
    }
}

fn first_from(start: usize, words: &[u64]) -> Option<usize> {
    let word = start / 64;
    first_in(word, words[word] & onward(start)).or_else(|| {
        let mut others = (word + 1..words.len()).chain(0..=word);
        others.find_map(|word| first_in(word, words[word]))
    })
}

const fn onward(start: usize) -> u64 {
    u64::MAX << (start % 64)
}

fn first_in(word: usize, bits: u64) -> Option<usize> {
    (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_starts_after_the_last_winner_and_wraps() {
        let mut arbiter = RoundRobin::new(4);
        let winners: [_; 5] = core::array::from_fn(|_| arbiter.serve(&Ready::alike(&[0b1011])));
        assert_eq!(winners, [Some(0), Some(1), Some(3), Some(0), Some(1)]);
    }

    #[test]
    fn empty_request_set_grants_none_and_keeps_the_order() {
        let mut arbiter = RoundRobin::new(3);
        assert_eq!(arbiter.serve(&Ready::alike(&[0b010])), Some(1));
        assert_eq!(arbiter.serve(&Ready::alike(&[0])), None);
        assert_eq!(arbiter.serve(&Ready::alike(&[0b111])), Some(2));
    }

    #[test]
    fn word_search_matches_linear_search() {
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let (mut arbiter, mut asked) = (RoundRobin::new(70), 0);
        for _ in 0..2_000 {
            let set = [next() & next() & next(), next() & 0x3f & next()];
            let ready = Ready::alike(&set);
            let first = (asked..70).chain(0..asked).find(|index| ready.has(*index));
            assert_eq!(arbiter.serve(&ready), first);
            asked = first.map_or(asked, |winner| (winner + 1) % 70);
        }
    }
}
