//! Written over, for the tests of self-stabilisation.

use super::{Grant, Instant, Need, Pool};

impl Pool {
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.full_after, self.read_after) = (Some(words()), words());
        (self.flushed, self.places) =
            (crate::corruption::word(words).into(), crate::corruption::index(words));
        for grant in &mut self.grants {
            *grant = Grant {
                limit: crate::corruption::word(words),
                highest: crate::corruption::word(words),
                lowered: words().is_multiple_of(2),
                echoed: words().is_multiple_of(2),
                need: Need {
                    since: Instant::from_nanoseconds(words()),
                    given: crate::corruption::word(words),
                    waited: words(),
                    last: words(),
                },
            };
        }
    }
}
