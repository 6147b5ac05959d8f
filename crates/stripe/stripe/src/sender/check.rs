//! The sender audits itself, once in a marker interval: what nothing leads to is given up.
//!
//! ```text
//!   scheduler that cannot be      reset                          times too far ahead    now
//!   targets that cannot be        the quanta of the start        sets of no channels    less these
//!   changes for no near round     announced anew
//! ```
//!
//! Counts need no audit: markers say them, and the receiver goes by what they say.
//!
//! Source: Varghese, "Self-stabilization by local checking and global reset", 1994; Adiseshu,
//! Parulkar and Varghese 1996, section 5, name snapshots and resets.
//!
//! Invariants: an audit leaves no time further ahead than its interval; a state that is sound is
//! left as it is.

use core::time::Duration;

use super::PAUSES_MAX;
use super::{Sender, State};
#[cfg(test)]
use crate::corruption::{Corrupt, corrupt_some, is_hit};
use crate::{Instant, Numbered, first_channels};

/// Channels that are in are within so many rounds of one another: a change is announced less far
/// ahead.
const ROUNDS_MAX: u32 = 1 << 20;

impl<S: Numbered> Sender<S> {
    /// Looks at all that is not put right by itself.
    pub(super) fn check(&mut self, now: Instant) {
        let (all, interval) =
            (first_channels(self.scheduler.channels()), self.options.markers.pause_max());
        self.due &= all;
        self.presence.check(now, all, self.options.probe_interval_max.max(interval));
        let silence = self.options.silence.unwrap_or(self.options.markers.interval);
        self.sizes.repair_state(now, self.scheduler.longest_bytes(), silence.saturating_mul(16));
        self.quarantine.repair_state(now, if self.has_quarantine() { all } else { 0 });
        self.idle.repair_state(&self.options.markers, now);
        not_after(&mut self.marker_at, now, interval);
        let ahead = self.marker_round.ahead_of(self.scheduler.round());
        if ahead.unsigned_abs() > self.options.markers.every_rounds.max(ROUNDS_MAX) {
            self.marker_round = self.scheduler.round();
        }
        if let Some(paths) = &mut self.paths {
            for channel in 0..self.scheduler.channels() {
                paths.repair_state(channel, self.sent.on(channel));
            }
        }
        let has_targets = self.check_targets();
        self.check_changes();
        if !has_targets || !self.scheduler.is_sound(ROUNDS_MAX) {
            self.sending.corrupt += 1;
            self.reset(now);
        }
    }

    /// Times to reset by.
    pub(super) fn check_reset(&mut self, now: Instant) {
        let (interval, wait) = (self.options.reset_interval, self.options.reset_wait);
        if let State::Resetting { again_at, open_at, .. } = &mut self.state {
            not_after(again_at, now, interval);
            not_after(open_at, now, wait);
        }
        if let Some((at, pause)) = &mut self.heeded {
            (*at, *pause) = ((*at).min(now), (*pause).min(interval.saturating_mul(PAUSES_MAX)));
        }
    }
}

/// A time that is further ahead than it can be is now.
pub(super) fn not_after(at: &mut Instant, now: Instant, span_max: Duration) {
    if *at > now.after(span_max) {
        *at = now;
    }
}

#[cfg(test)]
impl<const CAPACITY: usize> Sender<gingham_fairq::SurplusRoundRobin<CAPACITY>> {
    /// Overwrites every word of the state but packets and their numbers.
    pub(crate) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if is_hit(words) {
            self.scheduler.corrupt(words);
        }
        corrupt_some(
            &mut [
                &mut self.changes,
                &mut self.presence,
                &mut self.sizes,
                &mut self.sent,
                &mut self.reported,
            ],
            words,
        );
        for part in [&mut self.quarantine as &mut dyn Corrupt, &mut self.idle] {
            part.corrupt(words);
        }
        self.paths.iter_mut().for_each(|paths| paths.corrupt(words));
        self.repairs.iter_mut().for_each(|repairs| repairs.corrupt(words));
        self.epoch.corrupt(words);
        self.due.corrupt(words);
        self.heeded.corrupt(words);
        self.marker_round.corrupt(words);
        self.marker_at.corrupt(words);
        let [mut again_at, mut open_at] = [Instant::default(); 2];
        again_at.corrupt(words);
        open_at.corrupt(words);
        let is_open = is_hit(words);
        let resetting =
            State::Resetting { acknowledged: words(), awaited: words(), again_at, open_at };
        self.state = if is_open { State::Open } else { resetting };
    }
}
