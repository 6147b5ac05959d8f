//! Waiting: until there is evidence, or until the wait is over.
//!
//! Source: the paper waits for ever (Adiseshu, Parulkar and Varghese 1996, section 5); the bound is
//! ours.

use gingham_fairq::Standing;

use super::Receiver;
use super::buffer::Buffer;
use crate::{Instant, Numbered};

impl<S: Numbered, P> Receiver<S, P> {
    /// Goes on from an empty buffer, if somebody has waited for it too long. The channel is taken
    /// to have lost what it had before the next round in which somebody waits, and no more: if that
    /// is so, what it is believed to have sent stays at most what it has sent, as under loss alone.
    pub(super) fn pass_over(&mut self, channel: usize, now: Instant) -> Option<()> {
        if self.take_in(now) {
            return Some(());
        }
        let nearest = self.nearest_rounds()?;
        let bit = 1 << channel;
        if self.silent & bit == 0 {
            self.wait_is_over_at().filter(|timeout| *timeout <= now)?;
            self.silent |= bit;
            self.reception.silences += 1;
        }
        self.reception.passed += 1;
        let round = self.scheduler.round().plus(nearest);
        if self.scheduler.skip_to(channel, round).is_err() {
            self.start_over(channel);
        }
        Some(())
    }

    /// Takes in a channel that is believed to be out and on which a packet has waited too long for
    /// the marker that would say better: from the next round on with the least quantum, until one
    /// does.
    fn take_in(&mut self, now: Instant) -> bool {
        let waited = |channel: &usize| {
            let since = self.buffers[*channel].waiting_since();
            since.is_some_and(|since| since.after(self.options.wait) <= now)
                && !self.scheduler.standing(*channel).is_in()
        };
        let Some(channel) = (0..self.buffers.len()).find(waited) else { return false };
        let next = self.scheduler.round().next();
        let standing = Standing::beginning(next, self.scheduler.quantum_min());
        self.scheduler.set_standing(channel, standing).is_ok()
    }

    /// When the first packet that waits has waited long enough.
    pub(super) fn wait_is_over_at(&self) -> Option<Instant> {
        let since = self.buffers.iter().filter_map(Buffer::waiting_since).min()?;
        Some(since.after(self.options.wait))
    }

    /// How many rounds on, at least one, the first packet that waits is.
    fn nearest_rounds(&self) -> Option<u32> {
        let round = self.scheduler.round();
        let waits = |(channel, buffer): &(usize, &Buffer<P>)| {
            buffer.packets() > 0 && self.scheduler.standing(*channel).is_in()
        };
        let ahead =
            |(channel, _)| self.scheduler.standing(channel).next.round.ahead_of(round).max(1);
        let nearest = self.buffers.iter().enumerate().filter(waits).map(ahead).min()?;
        Some(nearest.unsigned_abs())
    }
}
