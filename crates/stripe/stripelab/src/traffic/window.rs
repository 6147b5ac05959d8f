//! The window of a transport: how much may be under way, and by which rule it grows and shrinks.
//!
//! ```text
//!   slow start      a segment more for each acknowledgement, up to the threshold
//!   avoidance       as the rule says: a segment a window (Reno), or as a cubic function (CUBIC)
//!   loss            as the rule says: what is under way is halved, or shrinks to .7; the threshold is
//!                   the window from now on
//!   timeout         the same threshold, and a window of one segment
//! ```
//!
//! Source: RFC 5681, section 3, and RFC 6928 for the window at the start; each rule has its own.
//!
//! Invariants: a window has a segment at least, and the receiver's window at the most; the rule is
//! asked of nothing but avoidance, losses and timeouts.

mod cubic;
mod reno;

use crate::plan::WindowRule;
use cubic::Cubic;
use gingham_kernel::{Span, Time};

/// The window at the start, in segments (RFC 6928).
const SEGMENTS_FIRST: u64 = 10;

/// What was sent, when something of it is found lost.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outstanding {
    /// What is under way: neither come, as far as is known, nor found lost before.
    pub(super) under_way_bytes: u64,
    /// All from the first segment that is not acknowledged on (`FlightSize`).
    pub(super) unacknowledged_bytes: u64,
}

/// How much may be under way.
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

    /// What may be under way now.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.min(self.bytes_max)
    }

    #[cfg(test)]
    pub(super) const fn threshold_bytes(&self) -> u64 {
        self.threshold_bytes
    }

    /// An acknowledgement of so many new bytes has come, and nothing is being recovered.
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

    /// Something is lost, and a recovery begins.
    pub(super) fn lose(&mut self, outstanding: Outstanding) {
        self.threshold_bytes = match &mut self.rule {
            Rule::Reno => reno::threshold_bytes(outstanding, self.segment_bytes),
            Rule::Cubic(cubic) => cubic.lose(self.bytes, outstanding),
        };
        self.bytes = self.threshold_bytes;
    }

    /// Nothing was heard for too long.
    pub(super) fn time_out(&mut self, outstanding: Outstanding) {
        self.threshold_bytes = match &mut self.rule {
            Rule::Reno => reno::threshold_bytes(outstanding, self.segment_bytes),
            Rule::Cubic(cubic) => cubic.time_out(self.bytes, outstanding),
        };
        self.bytes = self.segment_bytes;
    }
}
