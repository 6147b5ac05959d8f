//! Written over, for the tests of self-stabilisation.

use super::{Instant, Paths, Run, Waiting};

impl Paths {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        let channel = crate::corruption::index(words);
        self.waiting = Some(Waiting { channel, since_ns: words() });
        self.run = Some(Run { channel, left_bytes: words(), until_ns: words() });
        self.round_until_ns = words();
        self.echoes.fill(Some(Instant::from_nanoseconds(words())));
        if let Some(shares) = &mut self.shares {
            shares.corrupt(words);
        }
    }
}
