//! Token bucket of a policed class at a host, computed as a rising level (`timing.md`, "Policing").
//!
//! Levels are numbers of tokens times the refill time of one token, in 2^-16 ps, so no value is
//! rounded. The shared state machine instead stores the time when the bucket is full.

use gingham_kernel::{Span, Time};
use gingham_net::REFILL_BYTES;

#[derive(Clone, Debug)]
pub(super) struct Bucket {
    /// Refill time of [`REFILL_BYTES`] tokens.
    refill: Span,
    burst_bytes: u32,
    taken: Vec<(Time, u32)>,
}

impl Bucket {
    pub(super) fn new(refill: Span, burst_bytes: u32) -> Self {
        Self { refill, burst_bytes, taken: Vec::new() }
    }

    fn cost(&self, bytes: u32) -> u128 {
        u128::from(bytes) * u128::from(self.refill.as_ps())
    }

    fn level(&self, now: Time) -> u128 {
        let full = self.cost(self.burst_bytes);
        let (mut level, mut since) = (full, Time::ZERO);
        let mut flow_to = |level: u128, at: Time| {
            let span = at.as_ps().saturating_sub(since.as_ps());
            since = since.max(at);
            (level + u128::from(span) * u128::from(REFILL_BYTES)).min(full)
        };
        for (at, bytes) in &self.taken {
            level = flow_to(level, *at) - self.cost(*bytes);
        }
        flow_to(level, now)
    }

    pub(super) fn holds(&self, now: Time, bytes: u32) -> bool {
        bytes <= self.burst_bytes && self.level(now) >= self.cost(bytes)
    }

    /// Returns the first time, at or after `now`, when the bucket has tokens for `bytes` bytes.
    pub(super) fn holds_at(&self, now: Time, bytes: u32) -> Time {
        let missing = self.cost(bytes).saturating_sub(self.level(now));
        let wait_ps = missing.div_ceil(u128::from(REFILL_BYTES));
        now + Span::from_ps(u64::try_from(wait_ps).expect("a bucket fills within a run"))
    }

    pub(super) fn take(&mut self, now: Time, bytes: u32) {
        self.taken.push((now, bytes));
    }
}
