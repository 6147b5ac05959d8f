//! What a channel did so far, in packets.

use crate::{Arrival, DropReason};

/// Packets by what became of them, each counted when it was offered.
///
/// Invariant: `offered + duplicated = arrived + policed + queue_full + outage + lost + too_long`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// What was offered; also the number of the next packet.
    pub offered: u64,
    /// Duplicates that were made of these, whatever became of them.
    pub duplicated: u64,
    /// What arrives, duplicates among it.
    pub arrived: u64,
    /// Of what arrives: damaged.
    pub corrupted: u64,
    /// Of what arrives: held back.
    pub held_back: u64,
    /// Dropped by the policer.
    pub policed: u64,
    /// Dropped because the queue had no room.
    pub queue_full: u64,
    /// Dropped because of an outage.
    pub outage: u64,
    /// Lost.
    pub lost: u64,
    /// Dropped because they were longer than what crosses.
    pub too_long: u64,
    /// Of competing traffic, which is none of the above: what came to the queue.
    pub competing: u64,
    /// Of these, dropped because it had no room.
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
