//! Markers: when they go, and what they say.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 5 and 6.3.

use super::Sender;
use crate::{Instant, Kind, Marker, Numbered, first_channels};

impl<S: Numbered> Sender<S> {
    /// All there is to say of a channel now.
    pub(super) fn marker(&self, channel: usize, now: Instant) -> Kind {
        let sent = self.sent.on(channel);
        Kind::Marker(Marker {
            standing: self.scheduler.standing(channel),
            sent_packets: sent.packets,
            sent_bytes: sent.bytes,
            next_sequence: self.sent.next_sequence(),
            sent_at: now,
        })
    }

    pub(super) fn mark_by_round(&mut self, now: Instant) {
        let round = self.scheduler.round();
        let there = self.scheduler.current() == self.options.markers.before_channel;
        if there && !self.marker_round.is_after(round) {
            self.marker_round = round.plus(self.options.markers.every_rounds);
            self.mark_all(now);
        }
    }

    pub(super) fn mark_all(&mut self, now: Instant) {
        self.due = first_channels(self.scheduler.channels());
        self.marker_at = now.after(self.options.markers.interval);
    }
}
