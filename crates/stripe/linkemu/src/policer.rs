//! Policer: drops packets above a rate and burst.
//!
//! Source: RFC 2697, section 3, with a single token bucket; red packets are dropped.
//!
//! Invariant: at most `burst_bytes + rate x t` bytes pass within any span `t`. Tokens are exact
//! integers, in 10^-12 bytes.

use crate::parameters::PS_PER_SECOND;
use gingham_kernel::{Rate, Time};

/// Token bucket of a policer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policer {
    /// Token rate.
    pub rate: Rate,
    /// Bucket size in bytes; a longer packet never passes.
    pub burst_bytes: u64,
}

#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    policer: Policer,
    /// Tokens in 10^-12 bytes, as of `at`.
    filled: u128,
    at: Time,
}

impl Bucket {
    pub(crate) fn new(policer: Policer) -> Self {
        Self { policer, filled: scaled(policer.burst_bytes), at: Time::ZERO }
    }

    pub(crate) fn admits(&mut self, now: Time, length_bytes: u32) -> bool {
        let since_ps = u128::from(now.since(self.at).as_ps());
        let more = since_ps * u128::from(self.policer.rate.bytes_per_second());
        self.filled = self.filled.saturating_add(more).min(scaled(self.policer.burst_bytes));
        self.at = now;
        let wanted = scaled(length_bytes.into());
        if wanted > self.filled {
            return false;
        }
        self.filled -= wanted;
        true
    }
}

fn scaled(bytes: u64) -> u128 {
    u128::from(bytes) * u128::from(PS_PER_SECOND)
}
