//! Written over, for the tests of self-stabilisation.

use super::{Buffer, Instant};

impl<P> Buffer<P> {
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.packets, self.first_since) =
            (crate::corruption::index(words), Instant::from_nanoseconds(words()));
        self.bytes = words();
    }
}
