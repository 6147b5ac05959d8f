//! Rate of a flow as a fraction of its highest rate, for responses that change rates.
//!
//! ```text
//!   rate 1      a packet starts every T = p / R_max     R_max: the class's rate limit, or the full link rate
//!   rate r      every T / r                             from the next packet on
//!   lowest      R_min: no response sets a lower rate
//! ```
//!
//! LIPD and FIMD recover from one decrease in p / R_min, the packet time at the lowest rate, from
//! any rate (AIMD only from `factor` times the lowest rate). A flow marked once thus recovers
//! before a flow at the lowest rate could send a packet.
//!
//! Source: Santos, Turner and Janakiraman, End-to-End Congestion Control for InfiniBand, INFOCOM
//! 2003, and US patent 7,920,476; the lowest rate 1/256 and the factor 2 are quoted from memory.

use super::Limits;
use crate::{REFILL_BYTES, RateLimit};
use gingham_kernel::{Bytes, Rate as DataRate, Span};

pub(super) const LOWEST: f64 = 1.0 / 256.0;
pub(super) const FACTOR: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    share: f64,
    lowest: f64,
    highest: RateLimit,
}

impl Rate {
    pub(super) fn new(lowest: f64, limits: &Limits) -> Self {
        let highest =
            limits.rate_limit.expect("a flow whose response changes its rate has a rate limit");
        Self { share: 1.0, lowest, highest }
    }

    pub(super) const fn share(&self) -> f64 {
        self.share
    }

    pub(super) const fn over_lowest(&self) -> f64 {
        self.share / self.lowest
    }

    pub(super) const fn lowest(&self) -> f64 {
        self.lowest
    }

    /// Sets the rate from the next packet on, clamped between the lowest and the highest rate.
    pub(super) fn set(&mut self, share: f64, limits: &mut Limits) {
        let share = share.clamp(self.lowest, 1.0);
        if share.to_bits() != self.share.to_bits() {
            self.share = share;
            limits.rate_limit = Some(self.highest.slower(share));
        }
    }
}

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

    /// Returns the number of bytes sent in `span` at the highest rate, at least 1.
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

    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    pub(super) fn share(self, rate: DataRate) -> f64 {
        rate.bytes_per_second() as f64 / self.bytes_per_second
    }
}

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
