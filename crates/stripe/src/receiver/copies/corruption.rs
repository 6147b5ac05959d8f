//! Written over, for the tests of self-stabilisation.

use super::{Copies, Instant};

impl<P> Copies<P> {
    /// Writes over the times and the sum; packets and their tags are nobody's state.
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.held = crate::corruption::word(words);
        self.waiting.iter_mut().for_each(|copy| copy.at = Instant::from_nanoseconds(words()));
    }
}
