//! What the receiving end is told, and what it counts.

use core::ops::RangeInclusive;
use core::time::Duration;

use super::Guarantee;
use super::ReportPlan;
use crate::charge::USUAL_BYTES;
use crate::{Charge, Discards, OptionsError, Order};

/// What the receiving end is told at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiverOptions {
    /// What all that waits for its turn may be charged, on whichever channel it came: the cap of
    /// memory. From what the longest packet is charged, for each channel and once more for copies of
    /// lost packets, to 1 GiB.
    pub buffer_bytes_max: u64,
    /// What a packet is charged; a sender that heeds credits charges the same.
    pub charge: Charge,
    /// How long a packet waits for the channels before it: more than their skew and than the
    /// sender's marker interval.
    pub wait: Duration,
    /// After so many late markers in a row on one channel a reset is asked for.
    pub late_in_a_row_max: u32,
    /// A marker further from the round asks for a reset and is not taken.
    pub far_rounds_max: u32,
    /// Reports between markers, which credits and windows of the sender live on; none otherwise.
    pub reports: Option<ReportPlan>,
    /// How the sender chooses channels: where freely, order is guaranteed.
    pub order: Order,
    /// Order by sequence numbers, where the sender tags its packets.
    pub guaranteed: Option<Guarantee>,
}

impl ReceiverOptions {
    /// The most rounds that a marker may be off: half of what serial numbers can tell.
    pub const FAR_ROUNDS_LIMIT: u32 = 1 << 30;

    /// The most that may wait: a half of what serial numbers can tell.
    pub const BUFFER_BYTES_LIMIT: u64 = 1 << 30;

    /// Who shares the memory: the channels, and copies of lost packets where there are any.
    pub(super) fn users(&self, channels: usize) -> u64 {
        let repairs = self.guaranteed.is_some_and(|guarantee| guarantee.repair.is_some());
        channels as u64 + u64::from(repairs)
    }

    /// Checks them for so many channels.
    pub(super) fn check(&self, channels: usize, longest_bytes: u32) -> Result<(), OptionsError> {
        let possible = self.buffer_bytes(channels, longest_bytes);
        let bytes = self.buffer_bytes_max;
        if !possible.contains(&bytes) {
            let (least, most) = possible.into_inner();
            return Err(OptionsError::BufferBytes { bytes, least, most });
        }
        self.check_rest()
    }

    /// From where to where [`Self::buffer_bytes_max`] may be, with so many channels and packets of
    /// so many bytes at the most, `u32::MAX` where nobody knows.
    pub fn buffer_bytes(&self, channels: usize, longest_bytes: u32) -> RangeInclusive<u64> {
        let least = self.users(channels) * u64::from(self.longest(longest_bytes));
        least..=Self::BUFFER_BYTES_LIMIT
    }

    /// What the longest packet is charged.
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
    /// 64 MiB: 1 Gbit/s for half a second, a round trip of 300 ms and the default wait; room is taken
    /// only as packets come. 200 ms, resets after 8 late markers or one 1,000,000 rounds off;
    /// no reports between markers.
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

/// What the receiving end has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reception {
    /// Packets given out.
    pub packets: u64,
    /// Markers read.
    pub markers: u64,
    /// Markers that were ahead of what was expected: each proves a loss.
    pub ahead: u64,
    /// Markers of a turn that is over, which loss alone cannot make.
    pub late: u64,
    /// Turns of a channel passed over because it was silent for too long.
    pub passed: u64,
    /// Times that a channel was found silent for too long.
    pub silences: u64,
    /// Channels that were said to have left.
    pub departures: u64,
    /// Copies given out in the place of lost packets.
    pub repaired: u64,
    /// Numbers passed over in guaranteed order: packets lost for good.
    pub given_up: u64,
    /// Times that the receiver found its state corrupt: one that nothing leads to.
    pub corrupt: u64,
    /// Resets asked for.
    pub requests: u64,
    /// Epochs entered, the first included.
    pub epochs: u64,
    /// What came and was not used.
    pub discards: Discards,
}
