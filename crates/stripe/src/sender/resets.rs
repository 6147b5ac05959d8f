//! Resets: both ends start anew, and data waits until that is acknowledged.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5, says that there must be one after a
//! crash; how is ours.

use gingham_fairq::Standing;

use super::presence::Life;
use super::{Idle, Sender, State};
use crate::{Discard, Epoch, Instant, Numbered, first_channels, take_lowest};

/// Between requests that are heeded are at most so many intervals of resets.
pub(super) const PAUSES_MAX: u32 = 16;

impl<S: Numbered> Sender<S> {
    pub(super) fn acknowledge(
        &mut self,
        now: Instant,
        channel: usize,
        epoch: Epoch,
    ) -> Result<(), Discard> {
        match &mut self.state {
            State::Resetting { acknowledged, awaited, .. } if epoch == self.epoch => {
                *acknowledged |= 1 << channel;
                if *awaited & !*acknowledged == 0 {
                    self.open(now);
                }
                Ok(())
            }
            // The last ones may come after the wait for them was over.
            State::Open if epoch == self.epoch => {
                self.revive(now, channel);
                Ok(())
            }
            _ => Err(Discard::StaleEpoch),
        }
    }

    /// A channel is not there any more to acknowledge a reset.
    pub(super) fn await_no_more(&mut self, now: Instant, channel: usize) {
        if let State::Resetting { acknowledged, awaited, .. } = &mut self.state {
            *awaited &= !(1 << channel);
            *acknowledged &= !(1 << channel);
            if *acknowledged != 0 && *awaited & !*acknowledged == 0 {
                self.open(now);
            }
        }
    }

    /// The receiver knows a later epoch, or is out of step. Epochs more than 2^31 apart can each be
    /// later than the next in a circle, and requests on their way keep it going: so after one that
    /// is heeded others are not for a while, and for longer and longer if they go on.
    pub(super) fn heed_request(&mut self, epoch: Epoch, now: Instant) -> Result<(), Discard> {
        let least = self.options.reset_interval;
        let most = least.saturating_mul(PAUSES_MAX);
        let pause = match self.heeded {
            Some((at, pause)) if now < at.after(pause) => return Err(Discard::TooSoon),
            Some((at, pause)) if now < at.after(pause.saturating_mul(4)) => {
                pause.saturating_mul(2).min(most)
            }
            _ => least,
        };
        self.heeded = Some((now, pause));
        // What a sender that forgot had sent in the epoch after the one named may still be on its
        // way.
        let next = if self.epoch == epoch { epoch.next() } else { epoch.next().next() };
        self.start_reset(next, now);
        Ok(())
    }

    pub(super) fn start_reset(&mut self, epoch: Epoch, now: Instant) {
        self.epoch = epoch;
        self.restart_scheduler();
        self.changes.restart(self.scheduler.round());
        let (again_at, open_at) = (now, now.after(self.options.reset_wait));
        let awaited = self.presence.all(Life::Alive);
        self.state = State::Resetting { acknowledged: 0, awaited, again_at, open_at };
        self.due = 0;
        self.presence.restart(now);
        self.sizes.restart();
        self.sent.restart();
        self.reported.restart();
        if let Some(paths) = &mut self.paths {
            paths.restart();
        }
        if let Some(repairs) = &mut self.repairs {
            repairs.restart();
        }
        self.sending.resets += 1;
        self.advance(now);
    }

    /// Data may go, on the channels that have acknowledged; the others are dead, or not there.
    pub(super) fn open(&mut self, now: Instant) {
        let absent = self.presence.all(Life::Absent);
        let all = first_channels(self.scheduler.channels());
        let mut silent = match self.state {
            State::Resetting { acknowledged, .. } => all & !acknowledged,
            State::Open => absent,
        };
        self.state = State::Open;
        self.due = 0;
        while let Some(channel) = take_lowest(&mut silent) {
            self.lose(channel, now);
        }
        self.look(now);
        self.marker_round = self.scheduler.round();
        self.idle = Idle::new(&self.options.markers, now);
        self.marker_at = now.after(self.pause());
        self.mark_by_round(now);
        // What became a target while the reset was under way.
        self.announce_targets();
    }

    /// All channels begin in the first round, with the quanta that they are to have.
    fn restart_scheduler(&mut self) {
        self.check_targets();
        self.scheduler = self.initial.clone();
        let round = self.scheduler.round();
        for channel in 0..self.scheduler.channels() {
            let standing = Standing::beginning(round, self.target_quantum(channel));
            let set = self.scheduler.set_standing(channel, standing);
            debug_assert!(set.is_ok(), "quanta were checked: {set:?}");
        }
    }
}

#[cfg(test)]
mod tests {
    use gingham_fairq::SurplusRoundRobin;

    use super::*;
    use crate::{Kind, SenderOptions};

    #[test]
    fn resets_go_on_channels_that_were_written_over_as_dead() {
        let scheduler = SurplusRoundRobin::<2>::new(1_000, &[1_000, 1_000]).expect("quanta");
        let options = SenderOptions::default();
        let mut sender =
            Sender::new(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options");
        while sender.poll_message(Instant::ORIGIN).is_some() {}
        sender.presence.begin(0, Instant::ORIGIN, Life::Dead);
        sender.presence.begin(1, Instant::ORIGIN, Life::Absent);
        let again = Instant::ORIGIN.after(options.reset_interval);
        let (channel, message) = sender.poll_message(again).expect("it goes again");
        assert_eq!((channel, message.kind), (0, Kind::Reset { quantum: 1_000 }));
        assert_eq!(sender.poll_message(again), None);
    }
}
