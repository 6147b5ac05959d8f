//! Markers: when they go, and what they say.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.3.

use core::time::Duration;

use super::Sender;
use super::presence::nanoseconds;
use crate::{Instant, Kind, Marker, Numbered};

/// No window holds back what is said, so its number does: of the markers that go by time no more than
/// these are on their way there, or their reports back. As many packets are in flight where BBR lets
/// least be.
const IN_FLIGHT: u32 = 4;

impl<S: Numbered> Sender<S> {
    /// All there is to say of a channel now.
    pub(super) fn marker(&mut self, channel: usize, now: Instant) -> Kind {
        self.presence.mark(channel, now);
        let is_out = self.is_dead(channel);
        self.sizes.mark(now, channel, is_out);
        self.sending.markers += 1;
        if let Some(repairs) = &mut self.repairs {
            repairs.make_room(channel);
        }
        let sent = self.sent.on(channel);
        Kind::Marker(Marker {
            standing: self.say(now, channel),
            sent_packets: sent.packets,
            sent_bytes: sent.bytes,
            next_sequence: self.sent.next_sequence(),
            sent_at: now,
            round_trip_ns: self.presence.round_trip_ns(channel),
            out_after_ns: nanoseconds(self.out_after(channel)),
            lowered: self.reported.on(channel).is_some_and(|reported| reported.report.lowered),
        })
    }

    /// Markers go when a round in which they are due comes to their channel, or past it where that
    /// one is out.
    pub(super) fn mark_by_round(&mut self, now: Instant) {
        let round = self.scheduler.round();
        let ahead = round.ahead_of(self.marker_round);
        let is_there = self.scheduler.current() >= self.options.markers.before_channel;
        if ahead > 0 || (ahead == 0 && is_there) {
            self.marker_round = round.plus(self.options.markers.every_rounds);
            self.mark_all(now);
        }
    }

    /// Markers go on all channels that are in or are to come in.
    pub(super) fn mark_all(&mut self, now: Instant) {
        self.mark(now, |_, _| true);
    }

    /// The same, on those that have none on the way that went just before.
    pub(super) fn mark_in_turn(&mut self, now: Instant) {
        self.mark(now, |sender, channel| {
            let gap = sender.marker_gap(channel);
            let marked_at = sender.presence.marked_at(channel);
            gap.is_zero() || marked_at.is_none_or(|at| at.after(gap) <= now)
        });
    }

    fn mark(&mut self, now: Instant, is_due: impl Fn(&Self, usize) -> bool) {
        let marked = (0..self.scheduler.channels())
            .filter(|channel| self.is_marked(*channel) && is_due(self, *channel));
        self.due |= marked.fold(0, |set, channel| set | 1 << channel);
        self.marker_at = now.after(self.pause());
    }

    /// Whether markers go on a channel.
    pub(super) fn is_marked(&self, channel: usize) -> bool {
        self.carries(channel) || self.changes.is_pending(channel)
    }

    /// The least time between two markers of a channel that go by time, where that is more than the
    /// interval. At least one goes within the silence after which a channel is out. Without tags order
    /// is exact a marker after the last loss, so that none waits.
    fn marker_gap(&self, channel: usize) -> Duration {
        let silence = self.options.silence.filter(|_| self.sizes.has_tags()).unwrap_or_default();
        let round_trip = self.presence.round_trip(channel).unwrap_or_default();
        let gap = (round_trip / IN_FLIGHT).min(silence);
        if gap > self.options.markers.interval { gap } else { Duration::ZERO }
    }

    /// Within how long a marker follows another on a channel while packets go.
    pub(super) fn marked_within(&self, channel: usize) -> Duration {
        self.options.markers.interval + self.marker_gap(channel)
    }
}
