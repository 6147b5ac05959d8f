//! Congestion window of a transport.
//!
//! Source: RFC 5681, section 3, and RFC 6928 for the initial window.
//!
//! Invariant: a window has at least one segment and at most the receive window.

mod cubic;
mod reno;

use crate::plan::WindowRule;
use cubic::Cubic;
use gingham_kernel::{Span, Time};

/// Initial window in segments (RFC 6928).
const SEGMENTS_FIRST: u64 = 10;

#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// Bytes not known to have arrived or to be lost.
    pub(super) in_flight_bytes: u64,
    /// All bytes from the first unacknowledged segment on (`FlightSize`).
    pub(super) unacknowledged_bytes: u64,
}

#[derive(Debug)]
pub(super) struct Window {
    segment_bytes: u64,
    bytes_max: u64,
    bytes: u64,
    threshold_bytes: u64,
    rule: Rule,
}

#[derive(Debug)]
enum Rule {
    Reno,
    Cubic(Cubic),
}

impl Window {
    pub(super) fn new(rule: WindowRule, segment_bytes: u64, bytes_max: u64) -> Self {
        let rule = match rule {
            WindowRule::Reno => Rule::Reno,
            WindowRule::Cubic => Rule::Cubic(Cubic::new(segment_bytes)),
        };
        let bytes = (SEGMENTS_FIRST * segment_bytes).min(bytes_max);
        Self { segment_bytes, bytes_max, bytes, threshold_bytes: u64::MAX, rule }
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes.min(self.bytes_max)
    }

    #[cfg(test)]
    pub(super) const fn threshold_bytes(&self) -> u64 {
        self.threshold_bytes
    }

    pub(super) fn open(&mut self, now: Time, acknowledged_bytes: u64, round_trip: Option<Span>) {
        let more_bytes = if self.bytes < self.threshold_bytes {
            acknowledged_bytes.min(self.segment_bytes)
        } else {
            match &mut self.rule {
                Rule::Reno => reno::growth_bytes(self.bytes, self.segment_bytes),
                Rule::Cubic(cubic) => {
                    let round_trip = round_trip.unwrap_or_default();
                    cubic.growth_bytes(now, self.bytes, acknowledged_bytes, round_trip)
                }
            }
        };
        self.bytes = (self.bytes + more_bytes).min(self.bytes_max);
    }

    pub(super) fn lose(&mut self, outstanding: Outstanding) {
        self.threshold_bytes = match &mut self.rule {
            Rule::Reno => reno::threshold_bytes(outstanding, self.segment_bytes),
            Rule::Cubic(cubic) => cubic.lose(self.bytes, outstanding),
        };
        self.bytes = self.threshold_bytes;
    }

    pub(super) fn time_out(&mut self, outstanding: Outstanding) {
        self.threshold_bytes = match &mut self.rule {
            Rule::Reno => reno::threshold_bytes(outstanding, self.segment_bytes),
            Rule::Cubic(cubic) => cubic.time_out(self.bytes, outstanding),
        };
        self.bytes = self.segment_bytes;
    }
}
