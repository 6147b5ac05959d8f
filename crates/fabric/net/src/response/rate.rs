//! Rate of a flow as a share of its highest, shared by the responses that change rates.
//!
//! ```text
//!   rate 1      a packet starts every T = p / R_max      the class's rate limit, or the full rate of its link
//!   rate r      every T / r                              from the next packet on
//!   lowest      R_min: no response goes below
//! ```
//!
//! LIPD, FIMD and AIMD recover in p / R_min, from whatever rate they decreased: the time of one
//! packet at the lowest rate. So a flow that was marked once has recovered before one at the lowest
//! rate could have sent a packet (FIMD and LIPD; AIMD only from its second lowest rate).
//!
//! Source: Santos, Turner and Janakiraman, End-to-End Congestion Control for InfiniBand, INFOCOM
//! 2003, and US patent 7,920,476; that the lowest rate is 1/256 and the factor 2 is from memory of
//! them.

use super::Limits;
use crate::{REFILL_BYTES, RateLimit};
use gingham_kernel::{Bytes, Rate as DataRate, Span};

/// Default lowest rate, as a share of the highest.
pub(super) const LOWEST: f64 = 1.0 / 256.0;
/// Default divisor of the rate at a mark.
pub(super) const FACTOR: f64 = 2.0;

/// Rate of a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// Rate as a share of the highest.
    share: f64,
    lowest: f64,
    /// Rate limit at rate 1.
    highest: RateLimit,
}

impl Rate {
    /// Returns the highest rate, the initial one of flows.
    pub(super) fn new(lowest: f64, limits: &Limits) -> Self {
        let highest =
            limits.rate_limit.expect("a flow whose response changes its rate has a rate limit");
        Self { share: 1.0, lowest, highest }
    }

    pub(super) const fn share(&self) -> f64 {
        self.share
    }

    /// Returns the rate as a multiple of the lowest.
    pub(super) const fn over_lowest(&self) -> f64 {
        self.share / self.lowest
    }

    pub(super) const fn lowest(&self) -> f64 {
        self.lowest
    }

    /// Sets the rate, clamped between the lowest and the highest, from the next packet on.
    pub(super) fn set(&mut self, share: f64, limits: &mut Limits) {
        let share = share.clamp(self.lowest, 1.0);
        // Most acknowledgements leave a flow at its highest rate.
        if share.to_bits() != self.share.to_bits() {
            self.share = share;
            limits.rate_limit = Some(self.highest.slower(share));
        }
    }
}

/// Highest rate of a flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Highest {
    bytes_per_second: f64,
}

impl Highest {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub(super) fn new(limits: &Limits) -> Self {
        let rate_limit =
            limits.rate_limit.expect("a flow whose response changes its rate has a rate limit");
        let refill_ps = rate_limit.refill().as_ps() as f64;
        Self { bytes_per_second: REFILL_BYTES as f64 / refill_ps * 1e12 }
    }

    /// Bytes sent at this rate in `span`, at least one.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "bytes of milliseconds"
    )]
    pub(super) fn bytes_in(self, span: Span) -> Bytes {
        let bytes = self.bytes_per_second * (span.as_ps() as f64 / 1e12);
        Bytes((bytes.round() as u64).max(1))
    }

    /// Returns a rate as a share of the highest.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub(super) fn share(self, rate: DataRate) -> f64 {
        rate.bytes_per_second() as f64 / self.bytes_per_second
    }
}

/// Returns a time multiplied by a factor, to the nearest picosecond.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a time constant, which saturates"
)]
pub(super) fn scaled(span: Span, factor: f64) -> Span {
    Span::from_ps((span.as_ps() as f64 * factor).round() as u64)
}

impl RateLimit {
    /// Returns the rate limit at a share of this rate.
    fn slower(self, share: f64) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_precision_loss,
            clippy::cast_sign_loss,
            reason = "a time of a run, in picoseconds, over a share that is checked"
        )]
        let refill = (self.refill().as_ps() as f64 / share).round() as u64;
        Self::new(Span::from_ps(refill))
    }
}
