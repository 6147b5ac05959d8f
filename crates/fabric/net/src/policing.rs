//! Policing: token buckets limit the traffic of a host in a class.
//!
//! ```text
//!                 tokens flow in at the rate, one for a byte of payload
//!                        │
//!   burst  ─ ─ ─ ─ ─ ─ ┌─┴─┐                   drop, demote: checked once, when a message is created
//!                      │ ~ │ ◄── bytes? ───     delay: checked for each packet, in its turn
//!                      └─┬─┘
//!              conforming│ takes its tokens; excess takes none
//! ```
//!
//! A bucket starts full. A message or packet with more bytes than tokens is **excess**: it waits,
//! is dropped, or is sent as another class. The length of worms is bounded as well.
//!
//! Source: Kwan et al. 1996, section 5 ("a policing algorithm at each host that restricts the
//! amount of high priority data that can be transmitted over some period of time", and "a limit on
//! the high priority worm length"), as generic cell rate algorithm, virtual scheduling (ITU-T
//! I.371, 1993, annex 1): the instant when the bucket is full again is stored, and only the rate is
//! rounded, once.
//!
//! Invariant: at most `rate x t + burst` conforming bytes in any interval of length `t`.

use crate::ClassId;
use gingham_kernel::{Span, Time};

/// Bytes whose tokens flow in within [`PolicingPlan::refill`]: 64 KiB.
pub const REFILL_BYTES: u64 = 1 << REFILL_BITS;
const REFILL_BITS: u32 = 16;

/// Effect of policing on a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Conformance {
    /// The message was not affected.
    #[default]
    Conforming,
    /// A packet had to wait for tokens.
    Delayed,
    /// The message was sent as another class.
    Demoted,
    /// The message was not sent.
    Dropped,
}

/// Treatment of excess.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Excess {
    /// Excess waits for tokens.
    Delay,
    /// Excess is dropped.
    Drop,
    /// Excess is sent as this class.
    Demote(ClassId),
}

/// Policing of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PolicingPlan {
    /// For each source: time in which [`REFILL_BYTES`] tokens flow in.
    pub refill: Box<[Span]>,
    /// Capacity of the bucket.
    pub burst_bytes: u32,
    /// Maximum payload of a packet.
    pub longest_bytes: u32,
    /// Treatment of excess.
    pub excess: Excess,
}

impl PolicingPlan {
    /// Creates a full bucket for a source.
    pub fn bucket(&self, source: usize) -> TokenBucket {
        TokenBucket::full(self.refill[source], self.burst_bytes)
    }
}

/// Token bucket, with a token per byte. Time is in units of 2^-16 ps; a token takes a whole number
/// of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TokenBucket {
    token_parts: u64,
    burst_bytes: u32,
    /// Instant when the bucket is full again if nothing more is taken.
    full_at_parts: u128,
}

impl TokenBucket {
    /// Creates a full bucket.
    pub fn full(refill: Span, burst_bytes: u32) -> Self {
        Self { token_parts: refill.as_ps(), burst_bytes, full_at_parts: 0 }
    }

    /// Whether it has tokens for `bytes` bytes `now`.
    pub fn holds(&self, now: Time, bytes: u32) -> bool {
        bytes <= self.burst_bytes && self.parts_until(now, bytes) == 0
    }

    /// First instant from `now` on with tokens for `bytes` bytes, which must not exceed the
    /// capacity.
    pub fn holds_at(&self, now: Time, bytes: u32) -> Time {
        assert!(bytes <= self.burst_bytes, "a bucket never holds more than its burst");
        let wait_ps = self.parts_until(now, bytes).div_ceil(1 << REFILL_BITS);
        now + Span::from_ps(u64::try_from(wait_ps).expect("a bucket fills within a run"))
    }

    /// Takes tokens for `bytes` bytes, which must be available.
    pub fn take(&mut self, now: Time, bytes: u32) {
        debug_assert!(self.holds(now, bytes), "only tokens that are there are taken");
        self.full_at_parts = self.full_at_parts.max(parts(now)) + self.cost_parts(bytes);
    }

    /// Time until the bucket is full, minus the time for tokens not needed, in units of 2^-16 ps.
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
        // A tenth of 160 MB/s: 62,500 ps a byte. 100 B of burst.
        let mut bucket = TokenBucket::full(Span::from_ps(REFILL_BYTES * 62_500), 100);
        assert!(bucket.holds(at(0), 100) && !bucket.holds(at(u64::MAX), 101));
        bucket.take(at(0), 60);
        // 40 are left; 20 more take 1,250,000 ps.
        assert_eq!(bucket.holds_at(at(0), 40), at(0));
        assert_eq!(bucket.holds_at(at(0), 60), at(1_250_000));
        assert!(!bucket.holds(at(1_249_999), 60) && bucket.holds(at(1_250_000), 60));
        assert_eq!(bucket.holds_at(at(1_000_000), 60), at(1_250_000));
        assert_eq!(bucket.holds_at(at(2_000_000), 60), at(2_000_000));
        bucket.take(at(1_250_000), 60);
        // Empty: full after the time of 100 bytes.
        assert_eq!(bucket.holds_at(at(1_250_000), 1), at(1_312_500));
        assert_eq!(bucket.holds_at(at(1_250_000), 100), at(7_500_000));
        bucket.take(at(50_000_000), 100);
        assert_eq!(bucket.holds_at(at(50_000_000), 100), at(56_250_000));
    }

    #[test]
    fn fractional_refill_time_accumulates_no_error() {
        let mut bucket = TokenBucket::full(Span::from_ps(REFILL_BYTES * 5 / 2), 4);
        bucket.take(at(0), 4);
        // Three tokens after 7.5 ps: at 8, with a fifth of another.
        assert_eq!(bucket.holds_at(at(0), 3), at(8));
        bucket.take(at(8), 3);
        // Four in all after 10 ps, five after 12.5, six after 15.
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
            // Up to the refill time of the whole bucket.
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
