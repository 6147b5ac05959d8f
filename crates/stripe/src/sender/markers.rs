//! Markers: when they go, and what they say.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.3.

use super::Sender;
use super::presence::nanoseconds;
use crate::{Instant, Kind, Marker, Numbered};

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
        let is_marked =
            |channel: &usize| self.carries(*channel) || self.changes.is_pending(*channel);
        let marked = (0..self.scheduler.channels()).filter(is_marked);
        self.due |= marked.fold(0, |set, channel| set | 1 << channel);
        self.marker_at = now.after(self.pause());
    }
}
