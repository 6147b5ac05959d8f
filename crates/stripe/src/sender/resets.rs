//! Resets: both ends start anew, and data waits until that is acknowledged.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, section 5, says that there must be one after a crash;
//! how is ours.

use gingham_fairq::Standing;

use super::{Sender, State};
use crate::{Discard, Epoch, Instant, Numbered, first_channels};

impl<S: Numbered> Sender<S> {
    pub(super) fn acknowledge(
        &mut self,
        now: Instant,
        channel: usize,
        epoch: Epoch,
    ) -> Result<(), Discard> {
        let all = first_channels(self.scheduler.channels());
        match &mut self.state {
            State::Resetting { acknowledged, .. } if epoch == self.epoch => {
                *acknowledged |= 1 << channel;
                if *acknowledged == all {
                    self.open(now);
                }
                Ok(())
            }
            // The last ones may come after the wait for them was over.
            State::Open if epoch == self.epoch => Ok(()),
            _ => Err(Discard::StaleEpoch),
        }
    }

    pub(super) fn start_reset(&mut self, epoch: Epoch, now: Instant) {
        self.epoch = epoch;
        self.restart_scheduler();
        self.changes.restart();
        let (again_at, open_at) = (now, now.after(self.options.reset_wait));
        self.state = State::Resetting { acknowledged: 0, again_at, open_at };
        self.due = 0;
        self.sent.restart();
        self.reported.restart();
        if let Some(repairs) = &mut self.repairs {
            repairs.restart();
        }
        self.sending.resets += 1;
        self.advance(now);
    }

    pub(super) fn open(&mut self, now: Instant) {
        self.state = State::Open;
        self.due = 0;
        self.marker_round = self.scheduler.round();
        self.marker_at = now.after(self.options.markers.interval);
        self.mark_by_round(now);
    }

    /// All channels begin in the first round, with the quanta that they are to have.
    fn restart_scheduler(&mut self) {
        self.scheduler = self.initial.clone();
        let round = self.scheduler.round();
        for channel in 0..self.scheduler.channels() {
            let standing = Standing::beginning(round, self.wished_quantum(channel));
            let set = self.scheduler.set_standing(channel, standing);
            debug_assert!(set.is_ok(), "quanta were checked: {set:?}");
        }
    }
}
