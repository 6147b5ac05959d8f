//! What was given out, and whether that is what the crate's table promises for what the channels
//! did so far.
//!
//! ```text
//!   what happened                       quasi-FIFO                          numbers confirm
//!   nothing, or on the way back alone   exact, all of it                    exact, all of it
//!   loss                                exact of what is sent after a       rising; nothing twice;
//!                                       marker a channel; nothing twice     what is missing was lost
//!   a channel repeats a packet          that packet twice at most           as under loss
//!   skew beyond the wait                nothing twice                       rising; nothing twice
//!   an end starts anew                  as under loss                       rising; nothing twice
//! ```
//!
//! Invariant: only what the table promises is asserted, so a failure is an error of the protocol.

/// Packets that are told apart here; later ones are those of the time when channels are kind.
const TOLD: u32 = u64::BITS;

/// The channels, a bit each.
const ALL: u8 = 0b11;

/// What was given out and what is promised.
#[derive(Clone, Copy, Debug, Hash)]
#[expect(clippy::struct_excessive_bools, reason = "each says what is promised no longer")]
pub(crate) struct Ledger {
    /// Whether numbers confirm the order.
    confirmed: bool,
    given: u64,
    last: Option<u32>,
    lost: u64,
    /// Packets that may still come twice.
    repeated: u64,
    /// Nothing has happened on the way there.
    undisturbed: bool,
    /// What is missing can only have been lost on a channel.
    complete: bool,
    /// Channels on which a marker went since the last loss.
    marked: u8,
    /// Packets from this on come in order, and the last of them.
    exact_from: Option<u32>,
    exact_last: Option<u32>,
    /// Order may be wrong for a while though markers go.
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

    /// Whether everything that is found wrong from there on is found wrong from here on too.
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

    /// Something was lost, perhaps.
    fn disturb(&mut self) {
        (self.undisturbed, self.marked, self.exact_from) = (false, 0, None);
    }

    /// A channel lost a frame on the way there: a packet of this number, or a message.
    pub(crate) fn lose(&mut self, packet: Option<u32>) {
        self.disturb();
        self.lost |= packet.map_or(0, bit);
    }

    /// A channel repeats a frame.
    pub(crate) fn repeat(&mut self, packet: Option<u32>) {
        self.undisturbed = false;
        if let Some(number) = packet {
            self.disturb();
            self.repeated |= bit(number);
            self.unsure = true;
        }
    }

    /// What was on its way was there for longer than the wait, or a channel was dead, or no marker
    /// went for longer than the wait.
    pub(crate) fn skew(&mut self) {
        self.disturb();
        (self.complete, self.unsure) = (false, true);
    }

    /// An end starts anew.
    pub(crate) fn restart(&mut self) {
        self.disturb();
        self.complete = false;
    }

    /// A marker of an epoch that both ends are in goes on a channel, after so many packets.
    pub(crate) fn mark(&mut self, channel: usize, sent: u32) {
        self.marked |= 1 << channel;
        if self.marked == ALL && self.exact_from.is_none() && !self.unsure {
            (self.exact_from, self.exact_last) = (Some(sent), None);
        }
    }

    /// A packet is given out.
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

    /// Nothing is on its way: of so many packets, all have come if nothing has happened.
    pub(crate) fn rest(&self, sent: u32) -> Result<(), String> {
        let missing = (bit(sent) - 1) & !self.given;
        if self.undisturbed && missing != 0 {
            return Err(format!("{missing:b} have not come, and nothing has happened"));
        }
        Ok(())
    }

    /// All waits are over: of the first so many, what is missing was lost.
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

    /// A loss forgives, a marker behind it less and less, and what has come must be the same.
    #[test]
    fn a_ledger_covers_what_promises_less() {
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
