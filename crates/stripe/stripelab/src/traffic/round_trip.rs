//! Round-trip time and retransmission timeout of a transport.
//!
//! Source: RFC 6298, sections 2 and 5. The variation term is at least 200 ms as in Linux
//! (`tcp_rtt_estimator`), instead of a minimum timeout of 1 s.

use gingham_kernel::Span;

const MS: u64 = 1_000_000_000;
const VARIATION_PS_MIN: u64 = 200 * MS;
const TIMEOUT_PS_FIRST: u64 = 1_000 * MS;
const TIMEOUT_PS_MAX: u64 = 60_000 * MS;

#[derive(Debug)]
pub(super) struct RoundTrip {
    smoothed_ps: Option<u64>,
    variation_ps: u64,
    timeout: Span,
}

impl Default for RoundTrip {
    fn default() -> Self {
        Self { smoothed_ps: None, variation_ps: 0, timeout: Span::from_ps(TIMEOUT_PS_FIRST) }
    }
}

impl RoundTrip {
    pub(super) const fn timeout(&self) -> Span {
        self.timeout
    }

    pub(super) fn smoothed(&self) -> Option<Span> {
        self.smoothed_ps.map(Span::from_ps)
    }

    /// Adds a round-trip sample of a segment that was sent only once.
    pub(super) fn sample(&mut self, span: Span) {
        let taken_ps = span.as_ps();
        let (smoothed_ps, variation_ps) = match self.smoothed_ps {
            None => (taken_ps, taken_ps / 2),
            Some(smoothed_ps) => (
                smoothed_ps - smoothed_ps / 8 + taken_ps / 8,
                self.variation_ps - self.variation_ps / 4 + smoothed_ps.abs_diff(taken_ps) / 4,
            ),
        };
        (self.smoothed_ps, self.variation_ps) = (Some(smoothed_ps), variation_ps);
        let timeout_ps = smoothed_ps + (4 * variation_ps).max(VARIATION_PS_MIN);
        self.timeout = Span::from_ps(timeout_ps.min(TIMEOUT_PS_MAX));
    }

    pub(super) fn back_off(&mut self) {
        self.timeout = (self.timeout * 2).min(Span::from_ps(TIMEOUT_PS_MAX));
    }
}
