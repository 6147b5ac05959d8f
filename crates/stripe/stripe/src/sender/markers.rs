//! Marker schedule: by round while packets are sent, and by time, at growing intervals when idle.
//!
//! ```text
//!   packet  marker      marker        marker                marker ...        marker, packet
//!     |--20 ms--|-- ... --|--40 ms--------|--80 ms---------------|  ...  up to 10 s
//!               after 16 in a row with all packets accounted for: interval doubled     on every channel
//! ```
//!
//! Markers by time reveal a loss that no packet follows.
//!
//! From the first doubling until the next packet, the sender is at rest: markers carry no new
//! information. Sixteen markers are twice the number of late markers that trigger a reset request
//! by default. Before the next packet, a marker on every channel detects channels that died in the
//! meantime. An unanswered marker also ends a rest.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.3, for markers by round; markers
//! by time are ours, with growing intervals as for keep-alives.

use super::options::MarkerPlan;
use super::schedule::ROUNDS_MAX;
use crate::time::not_after;
use crate::{ChannelSet, Instant, first_channels, take_lowest};
use core::time::Duration;
use gingham_fairq::Round;

const QUIET_MIN: u8 = 16;

#[derive(Clone, Copy, Debug)]
struct Idle {
    pause: Duration,
    quiet: u8,
    counted_at: Instant,
    packets: u64,
}

impl Idle {
    const fn new(plan: &MarkerPlan, now: Instant) -> Self {
        Self { pause: plan.interval, quiet: 0, counted_at: now, packets: 0 }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Markers {
    plan: MarkerPlan,
    due: ChannelSet,
    round: Round,
    marker_at: Instant,
    idle: Idle,
}

impl Markers {
    pub(super) const fn new(plan: MarkerPlan, round: Round, now: Instant) -> Self {
        Self { plan, due: 0, round, marker_at: now, idle: Idle::new(&plan, now) }
    }

    pub(super) fn restart(&mut self, round: Round, now: Instant) {
        *self = Self { due: self.due, ..Self::new(self.plan, round, now) };
        self.marker_at = now.after(self.pause());
    }

    pub(super) const fn ask(&mut self, channels: ChannelSet) {
        self.due |= channels;
    }

    pub(super) const fn withdraw(&mut self, channel: usize) {
        self.due &= !(1 << channel);
    }

    pub(super) const fn ask_only(&mut self, channels: ChannelSet) {
        self.due = channels;
    }

    pub(super) const fn are_due(&self) -> bool {
        self.due != 0
    }

    pub(super) fn take_due(&mut self, count: usize) -> Option<usize> {
        self.due &= first_channels(count);
        take_lowest(&mut self.due)
    }

    pub(super) const fn marker_at(&self) -> Instant {
        self.marker_at
    }

    pub(super) fn pause(&self) -> Duration {
        self.idle.pause.max(self.plan.interval)
    }

    pub(super) fn are_slow(&self) -> bool {
        self.idle.pause > self.plan.interval
    }

    pub(super) fn is_at_rest(&self, gone: u64) -> bool {
        self.are_slow() && gone == self.idle.packets
    }

    /// Counts markers without new information; returns whether the interval grew. `was_marked`
    /// returns whether every channel has got a marker since a given time.
    pub(super) fn count_quiet(
        &mut self,
        now: Instant,
        gone: u64,
        is_settled: bool,
        was_marked: impl FnOnce(Instant) -> bool,
    ) -> bool {
        if gone != self.idle.packets || !is_settled {
            self.idle = Idle { packets: gone, ..Idle::new(&self.plan, now) };
        } else if was_marked(self.idle.counted_at) {
            self.idle.counted_at = now;
            if self.idle.quiet >= QUIET_MIN {
                self.idle.pause = self.idle.pause.saturating_mul(2).min(self.plan.pause_max());
                return true;
            }
            self.idle.quiet += 1;
        }
        false
    }

    pub(super) const fn end_rest(&mut self, now: Instant) {
        self.idle = Idle::new(&self.plan, now);
    }

    pub(super) fn take_round(&mut self, round: Round, current: usize) -> bool {
        let ahead = round.ahead_of(self.round);
        let is_due = ahead > 0 || (ahead == 0 && current >= self.plan.before_channel);
        if is_due {
            self.round = round.plus(self.plan.every_rounds);
        }
        is_due
    }

    pub(super) fn mark(&mut self, now: Instant, channels: ChannelSet) {
        self.due |= channels;
        self.marker_at = now.after(self.pause());
    }

    pub(super) fn repair_state(&mut self, now: Instant, count: usize, round: Round) {
        self.due &= first_channels(count);
        self.idle.counted_at = self.idle.counted_at.min(now);
        self.idle.pause = self.idle.pause.clamp(self.plan.interval, self.plan.pause_max());
        not_after(&mut self.marker_at, now, self.plan.pause_max());
        let ahead = self.round.ahead_of(round).unsigned_abs();
        if ahead > self.plan.every_rounds.max(ROUNDS_MAX) {
            self.round = round;
        }
    }
}

impl MarkerPlan {
    pub(super) fn pause_max(&self) -> Duration {
        self.interval.max(self.idle_interval_max)
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Markers: due, round, marker_at, idle);
#[cfg(test)]
crate::corruption::corrupt!(Idle: pause, quiet, counted_at);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SenderOptions;

    #[test]
    fn markers_are_at_rest_until_a_packet_is_sent() {
        let plan = SenderOptions::default().markers;
        let mut markers = Markers::new(plan, Round::FIRST, Instant::ORIGIN);
        markers.idle.packets = 7;
        assert!(!markers.is_at_rest(7), "markers go as often as while packets are sent");
        markers.idle.pause = markers.pause() * 2;
        assert!(markers.is_at_rest(7));
        assert!(!markers.is_at_rest(8));
    }
}
