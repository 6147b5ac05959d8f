//! The delivered packets, checked against the crate's table, given the faults so far.
//!
//! ```text
//!   faults so far                       quasi-FIFO                          sequence numbers
//!   none, or only in reverse direction  exact, complete                     exact, complete
//!   loss                                exact for packets sent after a      rising, no duplicates;
//!                                       marker per channel; no duplicates   only lost ones missing
//!   a channel repeats a packet          that packet at most twice           as under loss
//!   skew beyond the wait                no duplicates                       rising, no duplicates
//!   an end restarts                     as under loss                       rising, no duplicates
//! ```
//!
//! Invariant: only the guarantees of the table are asserted.

/// Later packets belong to the fault-free phase.
const TOLD: u32 = u64::BITS;

/// All channels, a bit each.
const ALL: u8 = 0b11;

#[derive(Clone, Copy, Debug, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each says what is promised no longer")]
pub(crate) struct Ledger {
    /// Whether sequence numbers confirm the order.
    confirmed: bool,
    given: u64,
    last: Option<u32>,
    lost: u64,
    /// Packets that may still arrive twice.
    repeated: u64,
    /// Whether the forward direction was free of faults.
    undisturbed: bool,
    /// Whether missing packets can only have been lost on a channel.
    complete: bool,
    /// Channels with a marker since the last loss.
    marked: u8,
    /// First packet of the exact order, and the last delivered one of it.
    exact_from: Option<u32>,
    exact_last: Option<u32>,
    /// Whether the order may be wrong for a while despite markers.
    unsure: bool,
}

impl Ledger {
    pub(crate) const fn new(confirmed: bool) -> Self {
        Self {
            confirmed,
            given: 0,
            last: None,
            lost: 0,
            repeated: 0,
            undisturbed: true,
            complete: true,
            marked: 0,
            exact_from: Some(0),
            exact_last: None,
            unsure: false,
        }
    }

    /// Whether every later error found from `other` is also found from here.
    pub(crate) fn covers(&self, other: &Self) -> bool {
        let exact = match (self.exact_from, other.exact_from) {
            (Some(from), Some(later)) => from <= later && self.exact_last >= other.exact_last,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => other.marked & !self.marked == 0,
        };
        let same =
            (self.confirmed, self.given, self.last) == (other.confirmed, other.given, other.last);
        let permits = |one: u64, other: u64| one & !other == 0;
        same && exact
            && permits(self.lost, other.lost)
            && permits(self.repeated, other.repeated)
            && self.undisturbed >= other.undisturbed
            && self.complete >= other.complete
            && self.unsure <= other.unsure
    }

    fn disturb(&mut self) {
        (self.undisturbed, self.marked, self.exact_from) = (false, 0, None);
    }

    /// In forward direction: a packet with this number, or a message.
    pub(crate) fn lose(&mut self, packet: Option<u32>) {
        self.disturb();
        self.lost |= packet.map_or(0, bit);
    }

    pub(crate) fn repeat(&mut self, packet: Option<u32>) {
        self.undisturbed = false;
        if let Some(number) = packet {
            self.disturb();
            self.repeated |= bit(number);
            self.unsure = true;
        }
    }

    /// Frames were in flight for longer than the wait, a channel was dead, or markers paused for
    /// longer than the wait.
    pub(crate) fn skew(&mut self) {
        self.disturb();
        (self.complete, self.unsure) = (false, true);
    }

    pub(crate) fn restart(&mut self) {
        self.disturb();
        self.complete = false;
    }

    /// The marker was sent after `sent` packets, in an epoch that both ends have entered.
    pub(crate) fn mark(&mut self, channel: usize, sent: u32) {
        self.marked |= 1 << channel;
        if self.marked == ALL && self.exact_from.is_none() && !self.unsure {
            (self.exact_from, self.exact_last) = (Some(sent), None);
        }
    }

    pub(crate) fn give(&mut self, number: u32) -> Result<(), String> {
        let last = self.last.replace(number);
        if self.confirmed && last.is_some_and(|last| number <= last) {
            return Err(format!("{number} is given out after {last:?}"));
        }
        if self.undisturbed && number != last.map_or(0, |last| last + 1) {
            return Err(format!("{number} follows {last:?}, and nothing has happened"));
        }
        if self.exact_from.is_some_and(|from| number >= from) {
            let before = self.exact_last.replace(number);
            if before.is_some_and(|before| number <= before) {
                return Err(format!("{number} follows {before:?}, and markers have gone before"));
            }
        }
        if number < TOLD {
            self.give_once(number)?;
        }
        Ok(())
    }

    fn give_once(&mut self, number: u32) -> Result<(), String> {
        if self.given & bit(number) != 0 {
            if self.confirmed || self.repeated & bit(number) == 0 {
                return Err(format!("{number} is given out twice"));
            }
            self.repeated &= !bit(number);
        }
        self.given |= bit(number);
        Ok(())
    }

    /// Checks completeness while nothing is in flight.
    pub(crate) fn rest(&self, sent: u32) -> Result<(), String> {
        let missing = (bit(sent) - 1) & !self.given;
        if self.undisturbed && missing != 0 {
            return Err(format!("{missing:b} have not come, and nothing has happened"));
        }
        Ok(())
    }

    /// Checks that missing packets among the first `sent` were lost, when all waits are over.
    pub(crate) fn end(&self, sent: u32) -> Result<(), String> {
        let missing = (bit(sent) - 1) & !self.given & !self.lost;
        if self.complete && missing != 0 {
            return Err(format!("{missing:b} have not come, and were not lost"));
        }
        Ok(())
    }
}

const fn bit(number: u32) -> u64 {
    1 << number
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loss relaxes the guarantees, a marker behind it restores some.
    #[test]
    fn ledger_covers_ledgers_with_weaker_guarantees() {
        let whole = Ledger::new(false);
        let lossy = [None, Some(0)].map(|packet| {
            let mut ledger = whole;
            ledger.lose(packet);
            ledger
        });
        let marked = [1, 2].map(|channels| {
            let mut ledger = lossy[0];
            (0..channels).for_each(|channel| ledger.mark(channel, 5));
            ledger
        });
        let mut given = whole;
        given.give(0).expect("the first comes first");
        let rising = [lossy[1], lossy[0], marked[0], marked[1], whole];
        for (number, one) in rising.iter().enumerate() {
            for (other_number, other) in rising.iter().enumerate() {
                assert_eq!(one.covers(other), number >= other_number, "{one:?}, {other:?}");
            }
            assert!(!one.covers(&given) && !given.covers(one), "{one:?}");
        }
    }
}
