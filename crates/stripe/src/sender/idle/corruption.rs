//! Written over, for the tests of self-stabilisation.

use super::{Duration, Idle, Instant};

impl Idle {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.pause, self.quiet) = (Duration::from_nanos(words()), crate::corruption::byte(words));
        self.counted_at = Instant::from_nanoseconds(words());
    }
}
