//! Written over, for the tests of self-stabilisation.

use super::{Instant, Repairs};

impl Repairs {
    /// Writes over all but the packets that were sent, which are as good as their copies at the
    /// caller's.
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.room.iter_mut().for_each(|room| *room = crate::corruption::word(words));
        for history in &mut self.channels {
            history.next = crate::corruption::word(words);
            history.count = crate::corruption::index(words);
            for sent in &mut history.ring {
                (sent.tries, sent.queued) =
                    (crate::corruption::byte(words), words().is_multiple_of(2));
            }
        }
        self.queue.clear();
        for _ in 0..words() % 5 {
            let asked = (crate::corruption::byte(words), crate::corruption::word(words));
            self.queue.push_back((asked, Instant::from_nanoseconds(words())));
        }
        self.redundant.clear();
        for _ in 0..words() % 5 {
            let place = (crate::corruption::byte(words), crate::corruption::word(words));
            self.redundant.push_back(place);
        }
    }
}
