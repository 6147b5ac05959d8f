//! Written over, for the tests of self-stabilisation.

use super::{Instant, Passing, Suspicion};

impl Passing {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        for one in &mut self.channels {
            let mut word = || crate::corruption::word(words);
            let time = |word| Instant::from_nanoseconds(u64::from(word) << 20);
            *one = Suspicion {
                passed_bytes: word(),
                packets: word(),
                longest_bytes: word(),
                since: Some(time(word())),
                marked: Some((time(word()), word(), time(word()))),
                last_at: time(word()),
                lost: word(),
                lost_until: Some(time(word())),
                probe_bytes: Some(word()),
            };
        }
    }
}
