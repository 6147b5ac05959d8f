//! Rounds and implicit packet numbers.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5. Rounds are serial numbers modulo 2^32
//! (RFC 1982): their order is defined for distances below 2^31.

use core::fmt;

/// Round number, modulo 2^32.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round(u32);

impl Round {
    /// First round.
    pub const FIRST: Self = Self(1);

    /// Creates a round from its number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the round number.
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the next round.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }

    /// Returns the round that is `rounds` rounds later.
    #[must_use]
    pub const fn plus(self, rounds: u32) -> Self {
        Self(self.0.wrapping_add(rounds))
    }

    /// Returns whether this round is later than `other`.
    pub const fn is_after(self, other: Self) -> bool {
        self.ahead_of(other) > 0
    }

    /// Returns how many rounds this round is ahead of `other`; negative if it is behind.
    pub const fn ahead_of(self, other: Self) -> i32 {
        self.0.wrapping_sub(other.0).cast_signed()
    }
}

impl fmt::Display for Round {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Implicit number of a channel's next packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Number {
    /// Round of the packet.
    pub round: Round,
    /// Bytes left in the turn, from 1 to the quantum.
    pub deficit_bytes: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_compare_across_wraparound() {
        let last = Round::new(u32::MAX);
        assert_eq!(last.next(), Round::new(0));
        assert!(last.next().is_after(last) && !last.is_after(last.next()));
        assert_eq!(Round::new(2).ahead_of(last), 3);
        assert_eq!(last.ahead_of(Round::new(2)), -3);
        assert!(!last.is_after(last));
    }
}
