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

#[cfg(test)]
mod corruption;

use core::time::Duration;

use super::resets::PAUSES_MAX;
use super::{Sender, State};
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
