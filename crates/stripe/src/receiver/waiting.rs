//! Waiting: until there is evidence, or until the wait is over.
//!
//! Source: the paper waits for ever (Adiseshu, Parulkar and Varghese 1996, section 5); the bound is ours.

use gingham_fairq::{Number, Round};

use super::Receiver;
use super::buffer::Buffer;
use crate::{Instant, Numbered};

impl<S: Numbered, P> Receiver<S, P> {
    /// Goes on from an empty buffer, if somebody has waited for it too long.
    pub(super) fn pass_over(&mut self, channel: usize, now: Instant) -> Option<()> {
        let nearest = self.nearest_rounds()?;
        let bit = 1 << channel;
        if self.silent & bit == 0 {
            self.poll_timeout().filter(|timeout| *timeout <= now)?;
            self.silent |= bit;
            self.reception.silences += 1;
        }
        self.reception.passed += 1;
        let round = self.scheduler.round().plus(nearest);
        self.skip_to(channel, round);
        Some(())
    }

    /// How many rounds on, at least one, the first packet that waits is.
    fn nearest_rounds(&self) -> Option<u32> {
        let round = self.scheduler.round();
        let waits = |(_, buffer): &(usize, &Buffer<P>)| buffer.packets() > 0;
        let ahead = |(channel, _)| self.scheduler.number(channel).round.ahead_of(round).max(1);
        let nearest = self.buffers.iter().enumerate().filter(waits).map(ahead).min()?;
        Some(nearest.unsigned_abs())
    }

    /// The channel is taken to have lost what it had before that round, and no more: if that is so,
    /// what it is believed to have sent stays at most what it has sent, as under loss alone.
    fn skip_to(&mut self, channel: usize, round: Round) {
        let mut skip = |deficit_bytes| {
            let least = Number { round, deficit_bytes };
            self.scheduler.set_number(channel, least).expect("between 1 and the quantum");
            self.scheduler.quantum(channel)
        };
        let quantum = skip(1);
        skip(quantum);
    }
}
