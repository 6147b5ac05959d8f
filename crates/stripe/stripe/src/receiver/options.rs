use core::ops::RangeInclusive;
use core::time::Duration;

use super::Guarantee;
use super::ReportPlan;
use crate::charge::USUAL_BYTES;
use crate::{Charge, Discards, OptionsError, Order};

/// Options of the receiving end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// Maximum memory charge of undelivered packets, in bytes or packets, depending on `charge`.
    /// The minimum is one packet of maximum length for each channel, plus one for retransmitted
    /// copies if enabled; the maximum is 2^30.
    pub buffer_bytes_max: u64,
    /// Memory charge of a packet; must equal the sender's if the sender uses credits.
    pub charge: Charge,
    /// Maximum time that a packet waits for packets of other channels; must exceed the skew of the
    /// channels and the marker interval.
    pub wait: Duration,
    /// Number of consecutive late markers on a channel that triggers a reset request.
    pub late_in_a_row_max: u32,
    /// Maximum distance of a marker from the present round, in rounds; a larger distance triggers a
    /// reset request.
    pub far_rounds_max: u32,
    /// Schedule of reports between markers, required by the sender's credits and congestion
    /// windows.
    pub reports: Option<ReportPlan>,
    /// Rule for choosing channels at the sender.
    pub order: Order,
    /// Guaranteed order by sequence numbers, which requires tags before packets.
    pub guaranteed: Option<Guarantee>,
}

impl ReceiverOptions {
    /// Upper limit of `far_rounds_max`: half of 2^31, the maximum distance between comparable
    /// serial numbers.
    pub const FAR_ROUNDS_LIMIT: u32 = 1 << 30;

    /// Upper limit of `buffer_bytes_max`: half of 2^31, the maximum distance between comparable
    /// credit limits.
    pub const BUFFER_BYTES_LIMIT: u64 = 1 << 30;

    pub(super) fn users(&self, channels: usize) -> u64 {
        let repairs = self.guaranteed.is_some_and(|guarantee| guarantee.repair.is_some());
        channels as u64 + u64::from(repairs)
    }

    pub(super) fn check(&self, channels: usize, longest_bytes: u32) -> Result<(), OptionsError> {
        let possible = self.buffer_bytes(channels, longest_bytes);
        let bytes = self.buffer_bytes_max;
        if !possible.contains(&bytes) {
            let (least, most) = possible.into_inner();
            return Err(OptionsError::BufferBytes { bytes, least, most });
        }
        self.check_rest()
    }

    /// Returns the valid range of [`Self::buffer_bytes_max`]; `longest_bytes` is `u32::MAX` if
    /// unknown.
    pub fn buffer_bytes(&self, channels: usize, longest_bytes: u32) -> RangeInclusive<u64> {
        let least = self.users(channels) * u64::from(self.longest(longest_bytes));
        least..=Self::BUFFER_BYTES_LIMIT
    }

    pub(super) const fn longest(&self, longest_bytes: u32) -> u32 {
        match longest_bytes {
            u32::MAX => self.charge.of(USUAL_BYTES),
            longest_bytes => self.charge.of(longest_bytes),
        }
    }

    fn check_rest(&self) -> Result<(), OptionsError> {
        let zero = |option| Err(OptionsError::Zero { option });
        let (rounds, rounds_max) = (self.far_rounds_max, Self::FAR_ROUNDS_LIMIT);
        let repair = self.guaranteed.and_then(|guarantee| guarantee.repair);
        if self.wait.is_zero() {
            zero("wait")
        } else if self.late_in_a_row_max == 0 {
            zero("late_in_a_row_max")
        } else if rounds == 0 {
            zero("far_rounds_max")
        } else if self.order == Order::Free && self.guaranteed.is_none() {
            Err(OptionsError::NoTags)
        } else if repair.is_some_and(|requests| requests.again.is_zero()) {
            zero("guaranteed.repair.again")
        } else if rounds > rounds_max {
            Err(OptionsError::FarRounds { rounds, rounds_max })
        } else {
            self.reports.map_or(Ok(()), |plan| plan.check())
        }
    }
}

impl Default for ReceiverOptions {
    /// Returns options with a memory limit of 64 MiB, half a second's worth of data at 1 Gbit/s: a
    /// round trip of 300 ms plus the default wait of 200 ms.
    fn default() -> Self {
        Self {
            buffer_bytes_max: 64 << 20,
            charge: Charge::BYTES,
            wait: Duration::from_millis(200),
            late_in_a_row_max: 8,
            far_rounds_max: 1_000_000,
            reports: None,
            order: Order::Strict,
            guaranteed: None,
        }
    }
}

/// Counters of the receiving end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// Packets delivered.
    pub packets: u64,
    /// Markers processed.
    pub markers: u64,
    /// Markers ahead of the expected position; each proves a loss.
    pub ahead: u64,
    /// Markers for a past turn; loss alone cannot cause them.
    pub late: u64,
    /// Number of times that a silent channel was skipped.
    pub passed: u64,
    /// Number of times that a channel was found silent.
    pub silences: u64,
    /// Channel deactivations announced by the sender.
    pub departures: u64,
    /// Retransmitted copies delivered.
    pub repaired: u64,
    /// Sequence numbers skipped in guaranteed order: packets lost for good.
    pub given_up: u64,
    /// Self-checks that found a corrupt state.
    pub corrupt: u64,
    /// Resets requested.
    pub requests: u64,
    /// Epochs entered, including the first.
    pub epochs: u64,
    /// Discarded packets and messages, by reason.
    pub discards: Discards,
}
