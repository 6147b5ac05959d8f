//! Reno: growth by one segment per window, and a reduction to half of the data in flight after a
//! loss.
//!
//! Source: RFC 5681, section 3.1. Segments received out of order do not count as in flight, unlike
//! in RFC 6675, whose `FlightSize` is three segments larger at the start of a recovery.

use super::Outstanding;

/// Returns the growth per acknowledgement, `SMSS * SMSS / cwnd` (equation 3).
pub(super) fn growth_bytes(window_bytes: u64, segment_bytes: u64) -> u64 {
    (segment_bytes * segment_bytes / window_bytes).max(1)
}

/// Returns half of the data in flight, but at least two segments (equation 4).
pub(super) fn threshold_bytes(outstanding: Outstanding, segment_bytes: u64) -> u64 {
    (outstanding.in_flight_bytes / 2).max(2 * segment_bytes)
}
