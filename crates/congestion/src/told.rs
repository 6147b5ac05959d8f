//! A told rate: somebody knows what the path carries.
//!
//! Packets go at that rate, and in flight is at most what it carries in one and a half round trips
//! and ten packets, so that a path that carries less fills no queue without end.

use crate::controller::{Acknowledged, Controller, Sent};
use crate::units::carried;

/// A rate that does not change.
#[derive(Clone, Copy, Debug)]
pub struct Told {
    bytes_per_second: u64,
    longest_bytes: u64,
    least_round_trip_ns: u64,
}

impl Told {
    /// For packets of at most this length.
    pub const fn new(bytes_per_second: u64, longest_bytes: u64) -> Self {
        Self { bytes_per_second, longest_bytes, least_round_trip_ns: 0 }
    }
}

impl Controller for Told {
    fn sent(&mut self, _sent: &Sent) {}

    fn acknowledged(&mut self, acknowledged: &Acknowledged) {
        self.least_round_trip_ns = acknowledged.least_round_trip_ns;
    }

    /// Before a round trip is known, what the rate carries in a second.
    fn window_bytes(&self) -> u64 {
        let span_ns = match self.least_round_trip_ns {
            0 => 1_000_000_000,
            least_ns => least_ns.saturating_mul(3) / 2,
        };
        carried(self.bytes_per_second, span_ns).saturating_add(10 * self.longest_bytes)
    }

    fn pace_bytes_per_second(&self) -> Option<u64> {
        Some(self.bytes_per_second)
    }

    fn bytes_per_second(&self) -> Option<u64> {
        Some(self.bytes_per_second)
    }
}
