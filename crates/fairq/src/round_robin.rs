//! Demand-slotted round robin: the next turn goes to the first contender after the last
//! winner, and whoever has no demand costs no slot.
//!
//! ```text
//!   last winner 1      demand: 0, 1, 3      order of search 2, 3, 0, 1      winner 3
//! ```
//!
//! Source: Flich et al. 2001, section IV-A ("assigned to waiting packets in a
//! demand-slotted round-robin fashion"); Kwan et al. 1996, section 3.1.
//!
//! With everybody contending it is the causal round robin of Adiseshu, Parulkar and Varghese 1996, section 3.1.
//!
//! Invariant: among contenders with steady demand each wins once a round.

use crate::error::check_count;
use crate::{Arbiter, CHANNELS_MAX, Causal, Ready, Rounds, SchedulerError};

/// Round robin over contenders `0..count`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoundRobin {
    count: usize,
    /// Where the next search starts.
    next: usize,
}

impl RoundRobin {
    /// A fresh arbiter; the first search starts at contender 0.
    pub const fn new(count: usize) -> Self {
        Self { count, next: 0 }
    }

    /// The same for channels or queues that somebody else counted: at least one, at most
    /// [`CHANNELS_MAX`].
    pub const fn try_new(count: usize) -> Result<Self, SchedulerError> {
        match check_count::<CHANNELS_MAX>(count) {
            Ok(()) => Ok(Self::new(count)),
            Err(error) => Err(error),
        }
    }

    /// Grants one turn to the first contender, from the one after the last winner on, for
    /// which `demands` holds.
    pub fn grant(&mut self, demands: impl Fn(usize) -> bool) -> Option<usize> {
        let winner = (self.next..self.count).chain(0..self.next).find(|index| demands(*index))?;
        self.go_past(winner);
        Some(winner)
    }

    /// The same for a set of contenders as bits, the lowest bit of the first word being contender 0.
    pub fn grant_among(&mut self, contenders: &[u64]) -> Option<usize> {
        let (word, bit) = (self.next / 64, self.next % 64);
        let first_at = |word: usize, bits: u64| {
            (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
        };
        let winner = first_at(word, contenders[word] & (u64::MAX << bit)).or_else(|| {
            let onward = (word + 1..contenders.len()).chain(0..=word);
            onward.into_iter().find_map(|word| first_at(word, contenders[word]))
        })?;
        self.go_past(winner);
        Some(winner)
    }

    /// The next search starts after `winner`.
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
    fn serve(&mut self, ready: &Ready<'_>) -> Option<usize> {
        self.grant_among(&[ready.eligible()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_starts_after_the_last_winner_and_wraps() {
        let mut arbiter = RoundRobin::new(4);
        let demand = |index| index != 2;
        let winners: [_; 5] = core::array::from_fn(|_| arbiter.grant(demand));
        assert_eq!(winners, [Some(0), Some(1), Some(3), Some(0), Some(1)]);
    }

    #[test]
    fn nobody_wins_without_demand_and_the_order_stays() {
        let mut arbiter = RoundRobin::new(3);
        assert_eq!(arbiter.grant(|index| index == 1), Some(1));
        assert_eq!(arbiter.grant(|_| false), None);
        assert_eq!(arbiter.grant(|_| true), Some(2));
    }

    #[test]
    fn bits_and_a_predicate_choose_alike() {
        // A fixed linear congruence makes the sets; 70 contenders need two words.
        let mut state = 1_u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        let (mut by_bits, mut by_predicate) = (RoundRobin::new(70), RoundRobin::new(70));
        for _ in 0..2_000 {
            let set = [next() & next() & next(), next() & 0x3f & next()];
            let demands = |index: usize| set[index / 64] >> (index % 64) & 1 == 1;
            assert_eq!(by_bits.grant_among(&set), by_predicate.grant(demands));
        }
    }
}
