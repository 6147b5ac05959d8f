//! Written over, for the tests of self-stabilisation.

use super::{Duration, Gap, Gaps, Instant};

impl Gaps {
    /// Writes over all gaps, and makes more.
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.gaps.clear();
        for _ in 0..words() % 5 {
            self.gaps.push(Gap {
                channel: crate::corruption::byte(words),
                first: crate::corruption::word(words),
                missing: words(),
                from: crate::corruption::word(words),
                before: crate::corruption::word(words),
                until: Instant::from_nanoseconds(words()),
                ask_at: Instant::from_nanoseconds(words()),
                asked: crate::corruption::word(words),
                again: Duration::from_nanos(words()),
                wait: Duration::from_nanos(words()),
                left: words().is_multiple_of(2),
                is_again: words().is_multiple_of(2),
            });
        }
    }
}
