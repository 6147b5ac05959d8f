//! The Reno rule: one segment more per window, and half of the data in flight after a loss.
//!
//! Source: RFC 5681, section 3.1. Segments received out of order are not in flight. (RFC 6675
//! counts them as `FlightSize` does, three segments more when a recovery begins.)

use super::Outstanding;

/// Returns `SMSS * SMSS / cwnd`, the growth per acknowledgement (equation 3).
pub(super) fn growth_bytes(window_bytes: u64, segment_bytes: u64) -> u64 {
    (segment_bytes * segment_bytes / window_bytes).max(1)
}

/// Returns half of the data in flight, but at least two segments (equation 4).
pub(super) fn threshold_bytes(outstanding: Outstanding, segment_bytes: u64) -> u64 {
    (outstanding.in_flight_bytes / 2).max(2 * segment_bytes)
}
