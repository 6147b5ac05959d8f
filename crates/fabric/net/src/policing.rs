//! Policing: token buckets limit a host's traffic in a class.
//!
//! ```text
//!                 tokens flow in at the rate, one per payload byte
//!                        │
//!   burst  ─ ─ ─ ─ ─ ─ ┌─┴─┐                   drop, demote: checked once, when a message is created
//!                      │ ~ │ ◄── bytes? ───     delay: checked for each packet, before it is sent
//!                      └─┬─┘
//!              conforming│ takes its tokens; excess takes none
//! ```
//!
//! A bucket starts full. A message or packet with more bytes than the bucket has tokens is
//! **excess**: it waits, is dropped, or is sent in another class. The maximum packet length is
//! limited as well.
//!
//! Source: Kwan et al. 1996, section 5, as the generic cell rate algorithm with virtual scheduling
//! (ITU-T I.371, 1993, annex 1). The state is the time when the bucket will be full again, so that
//! only the rate is rounded, once.
//!
//! Invariant: at most `rate x t + burst` conforming bytes leave in any interval of length `t`.

use crate::ClassId;
use gingham_kernel::{Span, Time};

/// Number of tokens that flow in during [`PolicingPlan::refill`]: 64 KiB.
pub const REFILL_BYTES: u64 = 1 << REFILL_BITS;
const REFILL_BITS: u32 = 16;

/// Effect of policing on a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Conformance {
    /// The message was not affected.
    #[default]
    Conforming,
    /// A packet of the message had to wait for tokens.
    Delayed,
    /// The message was sent in another class.
    Demoted,
    /// The message was not sent.
    Dropped,
}

/// Treatment of excess traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// Excess packets wait for tokens.
    Delay,
    /// Excess messages are dropped.
    Drop,
    /// Excess messages are sent in this class.
    Demote(ClassId),
}

/// Policing of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicingPlan {
    /// For each source: time for [`REFILL_BYTES`] tokens to flow in.
    pub refill: Box<[Span]>,
    /// Capacity of the bucket in tokens, one per byte.
    pub burst_bytes: u32,
    /// Maximum payload of a packet in bytes.
    pub longest_bytes: u32,
    /// Treatment of excess traffic.
    pub excess: Excess,
}

impl PolicingPlan {
    /// Creates a full bucket for a source, given by its index in the class.
    pub fn bucket(&self, source: usize) -> TokenBucket {
        TokenBucket::full(self.refill[source], self.burst_bytes)
    }
}

/// Token bucket with one token per byte. Times are in units of 2^-16 ps, so that the time per token
/// is an integer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenBucket {
    token_parts: u64,
    burst_bytes: u32,
    /// Time when the bucket will be full again if no more tokens are taken.
    full_at_parts: u128,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub fn full(refill: Span, burst_bytes: u32) -> Self {
        Self { token_parts: refill.as_ps(), burst_bytes, full_at_parts: 0 }
    }

    /// Returns whether the bucket has `bytes` tokens at `now`.
    pub fn holds(&self, now: Time, bytes: u32) -> bool {
        bytes <= self.burst_bytes && self.parts_until(now, bytes) == 0
    }

    /// Returns the earliest time, not before `now`, when the bucket has `bytes` tokens; `bytes`
    /// must not exceed the capacity.
    pub fn holds_at(&self, now: Time, bytes: u32) -> Time {
        assert!(bytes <= self.burst_bytes, "a bucket never holds more than its burst");
        let wait_ps = self.parts_until(now, bytes).div_ceil(1 << REFILL_BITS);
        now + Span::from_ps(u64::try_from(wait_ps).expect("a bucket fills within a run"))
    }

    /// Takes `bytes` tokens, which must be available at `now`.
    pub fn take(&mut self, now: Time, bytes: u32) {
        debug_assert!(self.holds(now, bytes), "only tokens that are there are taken");
        self.full_at_parts = self.full_at_parts.max(parts(now)) + self.cost_parts(bytes);
    }

    fn parts_until(&self, now: Time, bytes: u32) -> u128 {
        let until_full = self.full_at_parts.saturating_sub(parts(now));
        until_full.saturating_sub(self.cost_parts(self.burst_bytes - bytes))
    }

    fn cost_parts(&self, bytes: u32) -> u128 {
        u128::from(self.token_parts) * u128::from(bytes)
    }
}

fn parts(time: Time) -> u128 {
    u128::from(time.as_ps()) << REFILL_BITS
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(ps: u64) -> Time {
        Time::from_ps(ps)
    }

    #[test]
    fn token_bucket_refills_exactly_to_the_picosecond() {
        // A rate of 16 MB/s, a tenth of 160 MB/s, is one byte per 62,500 ps.
        let mut bucket = TokenBucket::full(Span::from_ps(REFILL_BYTES * 62_500), 100);
        assert!(bucket.holds(at(0), 100) && !bucket.holds(at(u64::MAX), 101));
        bucket.take(at(0), 60);
        // 40 tokens are left; 20 more take 20 x 62,500 = 1,250,000 ps.
        assert_eq!(bucket.holds_at(at(0), 40), at(0));
        assert_eq!(bucket.holds_at(at(0), 60), at(1_250_000));
        assert!(!bucket.holds(at(1_249_999), 60) && bucket.holds(at(1_250_000), 60));
        assert_eq!(bucket.holds_at(at(1_000_000), 60), at(1_250_000));
        assert_eq!(bucket.holds_at(at(2_000_000), 60), at(2_000_000));
        bucket.take(at(1_250_000), 60);
        // The bucket is empty, and full again after 100 x 62,500 = 6,250,000 ps.
        assert_eq!(bucket.holds_at(at(1_250_000), 1), at(1_312_500));
        assert_eq!(bucket.holds_at(at(1_250_000), 100), at(7_500_000));
        bucket.take(at(50_000_000), 100);
        assert_eq!(bucket.holds_at(at(50_000_000), 100), at(56_250_000));
    }

    #[test]
    fn fractional_refill_time_accumulates_no_error() {
        let mut bucket = TokenBucket::full(Span::from_ps(REFILL_BYTES * 5 / 2), 4);
        bucket.take(at(0), 4);
        // At 2.5 ps per token, three tokens have arrived after 7.5 ps, and a fifth of the fourth
        // token by 8 ps.
        assert_eq!(bucket.holds_at(at(0), 3), at(8));
        bucket.take(at(8), 3);
        // The fourth token arrives at 10 ps, the fifth at 12.5 ps, the sixth at 15 ps.
        assert_eq!(bucket.holds_at(at(8), 1), at(10));
        assert_eq!(bucket.holds_at(at(8), 2), at(13));
        assert_eq!(bucket.holds_at(at(8), 3), at(15));
    }

    struct Level {
        there: u128,
        since: u64,
        refill: u128,
        burst: u128,
    }

    impl Level {
        fn flow(&mut self, now: u64) {
            let flown = u128::from(now - self.since) << REFILL_BITS;
            self.there = (self.there + flown).min(self.burst * self.refill);
            self.since = now;
        }

        fn try_take(&mut self, bytes: u32) -> bool {
            let cost = u128::from(bytes) * self.refill;
            let holds = self.there >= cost;
            if holds {
                self.there -= cost;
            }
            holds
        }
    }

    fn questions() -> impl Strategy<Value = (u64, u32, Vec<(u64, u32)>)> {
        (1..1_u64 << 40, 1_u32..5_000).prop_flat_map(|(refill, burst)| {
            // Gaps between requests, up to the refill time of the whole bucket.
            let span = 0..=(refill.saturating_mul(burst.into()) >> REFILL_BITS) + 1;
            let asked = prop::collection::vec((span, 1..=burst), 1..60);
            (Just(refill), Just(burst), asked)
        })
    }

    proptest! {
        #[test]
        fn any_interval_conforms_to_rate_and_burst((refill, burst, asked) in questions()) {
            let mut bucket = TokenBucket::full(Span::from_ps(refill), burst);
            let mut now = 0;
            let mut taken: Vec<(u64, u32)> = Vec::new();
            for (span, bytes) in asked {
                now += span;
                if bucket.holds(at(now), bytes) {
                    bucket.take(at(now), bytes);
                    taken.push((now, bytes));
                }
            }
            for (first, (from, _)) in taken.iter().enumerate() {
                let mut bytes = 0_u128;
                for (to, taken_bytes) in &taken[first..] {
                    bytes += u128::from(*taken_bytes);
                    let flown = u128::from(to - from) << REFILL_BITS;
                    prop_assert!(bytes * u128::from(refill) <= flown + u128::from(burst) * u128::from(refill));
                }
            }
        }

        #[test]
        fn bucket_agrees_with_explicit_level((refill, burst, asked) in questions()) {
            let (refill_wide, burst_wide) = (u128::from(refill), u128::from(burst));
            let mut level =
                Level { there: refill_wide * burst_wide, since: 0, refill: refill_wide, burst: burst_wide };
            let mut bucket = TokenBucket::full(Span::from_ps(refill), burst);
            let mut now = 0;
            for (span, bytes) in asked {
                now += span;
                level.flow(now);
                let holds = bucket.holds(at(now), bytes);
                prop_assert_eq!(level.try_take(bytes), holds);
                if holds {
                    bucket.take(at(now), bytes);
                }
            }
        }

        #[test]
        fn token_wait_is_minimal((refill, burst, asked) in questions()) {
            let mut bucket = TokenBucket::full(Span::from_ps(refill), burst);
            let mut now = at(0);
            for (span, bytes) in asked {
                now += Span::from_ps(span / 4);
                let allowed = bucket.holds_at(now, bytes);
                prop_assert!(bucket.holds(allowed, bytes));
                prop_assert!(allowed == now || !bucket.holds(at(allowed.as_ps() - 1), bytes));
                bucket.take(allowed, bytes);
                now = allowed;
            }
        }
    }
}
