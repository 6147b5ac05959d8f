//! Written over, for the tests of self-stabilisation.

use super::{Departure, Duration, Instant, Presence};

impl Presence {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.dead, self.telling) = (words(), words());
        self.look_at = Instant::from_nanoseconds(words());
        for watch in &mut self.watches {
            let mut time = || Instant::from_nanoseconds(words());
            watch.unanswered_since = Some(time());
            (watch.died_at, watch.probe_at) = (time(), time());
            (watch.round_trip, watch.pause) =
                (Some(Duration::from_nanos(words())), Duration::from_nanos(words()));
            let mut word = || crate::corruption::word(words);
            let since = gingham_fairq::Round::new(word());
            let left = Departure { channel: 0, since, sent_packets: word(), next_sequence: word() };
            (watch.left, watch.tell_on) = (Some(left), words());
        }
    }
}
