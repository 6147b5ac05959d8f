//! Written over, for the tests of self-stabilisation.

use super::{Epoch, Epochs};

impl Epochs {
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.current =
            Some(Epoch::new(crate::corruption::word(words))).filter(|_| !words().is_multiple_of(4));
        self.forgotten =
            Some(Epoch::new(crate::corruption::word(words))).filter(|_| !words().is_multiple_of(4));
        (self.synchronised, self.heard, self.acknowledge) = (words(), words(), words());
        self.request =
            Some((crate::corruption::index(words), Epoch::new(crate::corruption::word(words))));
    }
}
