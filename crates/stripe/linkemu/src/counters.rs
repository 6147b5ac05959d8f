//! Packet counters of a channel.

use crate::{Arrival, DropReason};

/// Packet counters, by fate.
///
/// Invariant: `offered + duplicated = arrived + policed + queue_full + outage + lost + too_long`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets offered, without duplicates.
    pub offered: u64,
    /// Duplicates created.
    pub duplicated: u64,
    /// Packets that arrived, including duplicates.
    pub arrived: u64,
    /// Packets that arrived damaged.
    pub corrupted: u64,
    /// Packets that arrived with the extra delay of [`Reordering`](crate::Reordering).
    pub held_back: u64,
    /// Packets dropped by the policer.
    pub policed: u64,
    /// Packets dropped at the full queue.
    pub queue_full: u64,
    /// Packets dropped because an outage overlapped their transit.
    pub outage: u64,
    /// Packets lost at random.
    pub lost: u64,
    /// Packets dropped for exceeding the MTU.
    pub too_long: u64,
    /// Competing packets offered.
    pub competing: u64,
    /// Competing packets dropped at the full queue.
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
