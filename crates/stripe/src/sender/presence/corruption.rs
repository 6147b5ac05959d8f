//! Written over, for the tests of self-stabilisation.

use super::{Departure, Duration, Instant, Life, Presence};

impl Presence {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.telling = words();
        self.look_at = Instant::from_nanoseconds(words());
        for watch in &mut self.watches {
            // Which channels are there is told from outside, as the options are.
            if watch.life != Life::Absent {
                watch.life = if words() & 1 == 0 { Life::Alive } else { Life::Dead };
            }
            let mut time = || Instant::from_nanoseconds(words());
            (watch.unanswered_since, watch.marked_at) = (Some(time()), Some(time()));
            (watch.since, watch.died_at, watch.probe_at) = (time(), time(), time());
            (watch.round_trip, watch.pause) =
                (Some(Duration::from_nanos(words())), Duration::from_nanos(words()));
            let mut word = || crate::corruption::word(words);
            let since = gingham_fairq::Round::new(word());
            let left = Departure { channel: 0, since, sent_packets: word(), next_sequence: word() };
            (watch.left, watch.tell_on) = (Some(left), words());
        }
    }
}
