//! Fixed-rate controller, for a known bandwidth.
//!
//! The window is 1.5 round trips' worth of data at the fixed rate, plus ten packets. It limits the
//! queue if the path is slower than this rate.

use crate::controller::{Acknowledged, Controller, Sent};
use crate::units::carried;

/// Fixed-rate controller.
#[derive(Clone, Copy, Debug)]
pub struct FixedRate {
    bytes_per_second: u64,
    longest_bytes: u64,
    least_round_trip_ns: u64,
}

impl FixedRate {
    /// Creates a controller for packets of at most `longest_bytes` bytes.
    pub const fn new(bytes_per_second: u64, longest_bytes: u64) -> Self {
        Self { bytes_per_second, longest_bytes, least_round_trip_ns: 0 }
    }
}

impl Controller for FixedRate {
    fn sent(&mut self, _sent: &Sent) {}

    fn acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.least_round_trip_ns = acknowledged.least_round_trip_ns;
    }

    /// Returns the window; before the first RTT sample, one second's worth of data plus ten
    /// packets.
    fn window_bytes(&self) -> u64 {
        let span_ns = match self.least_round_trip_ns {
            0 => 1_000_000_000,
            least_ns => least_ns.saturating_mul(3) / 2,
        };
        carried(self.bytes_per_second, span_ns)
            .saturating_add(self.longest_bytes.saturating_mul(10))
    }

    fn pacing_rate_bytes_per_second(&self) -> Option<u64> {
        Some(self.bytes_per_second)
    }

    fn bytes_per_second(&self) -> Option<u64> {
        Some(self.bytes_per_second)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fixed_rate_window_is_one_and_a_half_rtts_and_ten_packets() {
        let mut controller = FixedRate::new(1_000_000, 1_500);
        assert_eq!(controller.window_bytes(), 1_015_000);
        let acknowledged = Acknowledged {
            least_round_trip_ns: 20_000_000,
            lost_bytes: 20_000,
            ..Acknowledged::default()
        };
        controller.acknowledged(&acknowledged);
        assert_eq!(controller.window_bytes(), 45_000);
        assert_eq!(
            controller.pacing_rate_bytes_per_second(),
            Some(1_000_000),
            "losses change nothing"
        );
        assert_eq!(
            (controller.bytes_per_second(), controller.poll_timeout()),
            (Some(1_000_000), None)
        );
    }

    #[test]
    fn extremes_are_bounded() {
        let mut controller = FixedRate::new(u64::MAX, 65_535);
        assert_eq!(controller.window_bytes(), u64::MAX);
        let acknowledged =
            Acknowledged { least_round_trip_ns: u64::MAX, ..Acknowledged::default() };
        controller.acknowledged(&acknowledged);
        assert_eq!(controller.window_bytes(), u64::MAX);
        assert_eq!(FixedRate::new(0, u64::MAX).window_bytes(), u64::MAX);
    }
}
