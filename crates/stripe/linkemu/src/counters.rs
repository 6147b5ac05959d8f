//! Counters of a channel, in packets.

use crate::{Arrival, DropReason};

/// Packets by fate.
///
/// Invariant: `offered + duplicated = arrived + policed + queue_full + outage + lost + too_long`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets offered.
    pub offered: u64,
    /// Duplicates.
    pub duplicated: u64,
    /// Arrivals, including duplicates.
    pub arrived: u64,
    /// Damaged arrivals.
    pub corrupted: u64,
    /// Arrivals held back.
    pub held_back: u64,
    /// Drops by the policer.
    pub policed: u64,
    /// Drops by the full queue.
    pub queue_full: u64,
    /// Drops by outages.
    pub outage: u64,
    /// Losses.
    pub lost: u64,
    /// Packets above the MTU.
    pub too_long: u64,
    /// Competing packets.
    pub competing: u64,
    /// Drops of competing packets.
    pub competing_dropped: u64,
}

impl Counters {
    pub(crate) fn count(&mut self, outcome: Result<Arrival, DropReason>) {
        match outcome {
            Ok(arrival) => {
                self.arrived += 1;
                self.corrupted += u64::from(arrival.is_corrupted());
                self.held_back += u64::from(arrival.held_back);
            }
            Err(DropReason::Policed) => self.policed += 1,
            Err(DropReason::QueueFull) => self.queue_full += 1,
            Err(DropReason::Outage) => self.outage += 1,
            Err(DropReason::Lost) => self.lost += 1,
            Err(DropReason::TooLong) => self.too_long += 1,
        }
    }
}
