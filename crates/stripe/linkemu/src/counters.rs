//! Counters of a channel, in packets.

use crate::{Arrival, DropReason};

/// Packets by fate, counted when they were offered.
///
/// Invariant: `offered + duplicated = arrived + policed + queue_full + outage + lost + too_long`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets offered; also the number of the next packet.
    pub offered: u64,
    /// Duplicates made of these, whatever their fate.
    pub duplicated: u64,
    /// Packets that arrive, including duplicates.
    pub arrived: u64,
    /// Arriving packets that are damaged.
    pub corrupted: u64,
    /// Arriving packets that were held back.
    pub held_back: u64,
    /// Dropped by the policer.
    pub policed: u64,
    /// Dropped by the full queue.
    pub queue_full: u64,
    /// Dropped because of an outage.
    pub outage: u64,
    /// Lost.
    pub lost: u64,
    /// Dropped because they exceed the MTU.
    pub too_long: u64,
    /// Competing packets at the queue, which are not included above.
    pub competing: u64,
    /// Competing packets dropped by the full queue.
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
