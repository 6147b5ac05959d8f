//! Written over, for the tests of self-stabilisation.

use super::{Evidence, Instant, Search, SizeState, Sizes};

impl Sizes {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        for one in &mut self.channels {
            let mut word = || crate::corruption::word(words);
            let time = |word| Instant::from_nanoseconds(u64::from(word) << 20);
            let states = [
                SizeState::Base,
                SizeState::Searching,
                SizeState::SearchComplete,
                SizeState::Error,
            ];
            *one = Search {
                state: states[word() as usize % states.len()],
                frame_bytes: word(),
                too_long_bytes: word(),
                probe_bytes: word(),
                sent_at: Some(time(word())),
                until: time(word()),
                is_passed: word().is_multiple_of(2),
                lost: crate::corruption::byte(&mut || u64::from(word())),
                raise_at: time(word()),
                is_unknown: word().is_multiple_of(2),
                evidence: Evidence {
                    passed_bytes: word(),
                    packets: word(),
                    longest_bytes: word(),
                    since: Some(time(word())),
                    marked: Some((time(word()), word(), time(word()))),
                    last_at: time(word()),
                    lost: word(),
                    lost_until: Some(time(word())),
                },
            };
        }
        self.due = words();
        self.next_at = self.next_at.map(|_| Instant::from_nanoseconds(words()));
        self.waiting_bytes = crate::corruption::word(words);
    }
}
