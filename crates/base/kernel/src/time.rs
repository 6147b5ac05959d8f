//! Simulated time and durations in integer picoseconds.
//!
//! 2^64 ps are 213 days; longer runs are refused on input, and overflow panics.

use std::fmt;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Mul, Sub};

/// Simulated time in picoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(u64);

/// Duration in picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

impl Time {
    /// Start of the run.
    pub const ZERO: Self = Self(0);
    /// Time later than any event of a run.
    pub const MAX: Self = Self(u64::MAX);

    /// Creates a time from picoseconds since the start of the run.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Returns the picoseconds since the start of the run.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the time elapsed since `earlier`. Panics if `earlier` is later than `self`.
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.checked_sub(earlier.0).expect("`earlier` must not be later"))
    }
}

impl Span {
    /// Zero duration.
    pub const ZERO: Self = Self(0);

    /// Creates a duration from picoseconds.
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }

    /// Creates a duration from nanoseconds.
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }

    /// Returns the duration in picoseconds.
    pub const fn as_ps(self) -> u64 {
        self.0
    }

    /// Returns the number of `unit` durations needed to cover this one. Panics if `unit` is zero.
    pub const fn div_ceil(self, unit: Self) -> u64 {
        self.0.div_ceil(unit.0)
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.checked_add(span.0).expect("simulated time fits 64 bits"))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.checked_add(other.0).expect("a span fits 64 bits"))
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.checked_sub(other.0).expect("a span is not negative"))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0.checked_mul(count).expect("a span fits 64 bits"))
    }
}

impl Sum for Span {
    fn sum<I: Iterator<Item = Self>>(spans: I) -> Self {
        spans.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "t={} ps", self.0)
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instants_and_spans_add_up() {
        let start = Time::from_ps(6_250);
        assert_eq!((start + Span::from_ns(150)).as_ps(), 156_250);
        assert_eq!((start + Span::from_ps(10)).since(start), Span::from_ps(10));
        assert_eq!(Span::from_ps(98_400).div_ceil(Span::from_ps(6_250)), 16);
    }

    #[test]
    #[should_panic(expected = "must not be later")]
    fn negative_span_panics() {
        let _ = Time::ZERO.since(Time::from_ps(1));
    }
}
