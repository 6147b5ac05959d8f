//! Reno's rule: a segment more a window, and half of what is under way after a loss.
//!
//! Source: RFC 5681, section 3.1. What has come before its turn is not under way (RFC 6675 counts
//! it as `FlightSize` does, three segments more where a recovery begins).

use super::Outstanding;

/// What an acknowledgement adds in avoidance: `SMSS * SMSS / cwnd` (equation 3).
pub(super) fn growth_bytes(window_bytes: u64, segment_bytes: u64) -> u64 {
    (segment_bytes * segment_bytes / window_bytes).max(1)
}

/// The threshold after a loss: half of what is under way, two segments at least (equation 4).
pub(super) fn threshold_bytes(outstanding: Outstanding, segment_bytes: u64) -> u64 {
    (outstanding.under_way_bytes / 2).max(2 * segment_bytes)
}
