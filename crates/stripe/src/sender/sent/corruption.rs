//! Written over, for the tests of self-stabilisation.

use super::{Sent, SentByChannel};

impl SentByChannel {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.next_sequence = crate::corruption::word(words);
        for sent in &mut self.channels {
            *sent = Sent { packets: crate::corruption::word(words), bytes: words() };
        }
    }
}
