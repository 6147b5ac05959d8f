//! When markers go: by round while packets are sent, and by time, less and less often at rest.
//!
//! ```text
//!   packet  marker      marker        marker                marker ...        marker, packet
//!     |--20 ms--|-- ... --|--40 ms--------|--80 ms---------------|  ...  10 s at most
//!               16 in a row with all accounted for: interval doubled each time  on every channel
//! ```
//!
//! While everything sent is accounted for and no change is under way, a marker carries no new
//! information. Sixteen in a row on every channel are twice as many as a receiver needs by default
//! to request a reset. The next packet after such a rest follows a marker on every channel, so that
//! a channel that died meanwhile is detected as early as any: silence and two round trips later. An
//! unanswered marker ends a rest, too.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.3, for markers by round. The rest
//! is ours; the doubling is that of a keep-alive with back-off.

use super::options::MarkerPlan;
use super::schedule::ROUNDS_MAX;
use crate::time::not_after;
use crate::{ChannelSet, Instant, first_channels, take_lowest};
use core::time::Duration;
use gingham_fairq::Round;

/// Number of uninformative markers in a row after which the interval grows.
const QUIET_MIN: u8 = 16;

/// Interval of the markers sent by time.
#[derive(Clone, Copy, Debug)]
struct Idle {
    pause: Duration,
    /// Number of uninformative markers in a row on every channel.
    quiet: u8,
    /// Time of the last count.
    counted_at: Instant,
    /// Packets and copies sent before the last of them.
    packets: u64,
}

impl Idle {
    const fn new(plan: &MarkerPlan, now: Instant) -> Self {
        Self { pause: plan.interval, quiet: 0, counted_at: now, packets: 0 }
    }
}

/// Markers that are due, and the times and rounds of later ones.
#[derive(Clone, Debug)]
pub(super) struct Markers {
    plan: MarkerPlan,
    /// Channels with a due marker, or during a reset a due reset.
    due: ChannelSet,
    /// Round of the next markers.
    round: Round,
    /// Latest time of the next markers.
    marker_at: Instant,
    idle: Idle,
}

impl Markers {
    pub(super) const fn new(plan: MarkerPlan, round: Round, now: Instant) -> Self {
        Self { plan, due: 0, round, marker_at: now, idle: Idle::new(&plan, now) }
    }

    /// Begins an epoch whose next markers are those of `round`; markers that are due stay due.
    pub(super) fn restart(&mut self, round: Round, now: Instant) {
        *self = Self { due: self.due, ..Self::new(self.plan, round, now) };
        self.marker_at = now.after(self.pause());
    }

    /// Makes a marker due on each channel of a set.
    pub(super) const fn ask(&mut self, channels: ChannelSet) {
        self.due |= channels;
    }

    /// Cancels the marker of a channel.
    pub(super) const fn withdraw(&mut self, channel: usize) {
        self.due &= !(1 << channel);
    }

    /// Makes markers due on these channels and on no others.
    pub(super) const fn ask_only(&mut self, channels: ChannelSet) {
        self.due = channels;
    }

    pub(super) const fn are_due(&self) -> bool {
        self.due != 0
    }

    /// Takes the lowest of `count` channels with a due marker.
    pub(super) fn take_due(&mut self, count: usize) -> Option<usize> {
        self.due &= first_channels(count);
        take_lowest(&mut self.due)
    }

    pub(super) const fn marker_at(&self) -> Instant {
        self.marker_at
    }

    /// Returns the time to the next markers, and to the next check of the channels.
    pub(super) fn pause(&self) -> Duration {
        self.idle.pause.max(self.plan.interval)
    }

    /// Whether markers are sent less often than while packets are sent.
    pub(super) fn are_slow(&self) -> bool {
        self.idle.pause > self.plan.interval
    }

    /// Whether nothing has been sent since the interval grew; `gone` counts the packets and copies
    /// sent.
    pub(super) fn is_at_rest(&self, gone: u64) -> bool {
        self.are_slow() && gone == self.idle.packets
    }

    /// Counts the markers by time that are due now, after `gone` packets and copies. Returns
    /// whether the interval grew. `is_settled` means that no agreement is pending; `was_marked`
    /// returns whether a marker was sent on every channel since a time.
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

    /// Ends a rest: markers are sent as often as while packets are sent.
    pub(super) const fn end_rest(&mut self, now: Instant) {
        self.idle = Idle::new(&self.plan, now);
    }

    /// Whether markers are due because their round has reached their channel, or passed it if that
    /// channel is out. If so, schedules the next round.
    pub(super) fn take_round(&mut self, round: Round, current: usize) -> bool {
        let ahead = round.ahead_of(self.round);
        let is_due = ahead > 0 || (ahead == 0 && current >= self.plan.before_channel);
        if is_due {
            self.round = round.plus(self.plan.every_rounds);
        }
        is_due
    }

    /// Makes markers due on these channels, and schedules the next by time.
    pub(super) fn mark(&mut self, now: Instant, channels: ChannelSet) {
        self.due |= channels;
        self.marker_at = now.after(self.pause());
    }

    /// Restores the invariants: known channels, times within the longest interval, and a round near
    /// the present one.
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
    /// Returns the longest interval between two markers of an active channel.
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
