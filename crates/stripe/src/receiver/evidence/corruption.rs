//! Written over, for the tests of self-stabilisation.

use super::{Confirmed, Instant, Shown};

impl<P> Confirmed<P> {
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.next = crate::corruption::word(words);
        self.next_since = Instant::from_nanoseconds(words());
        self.given_from = crate::corruption::index(words);
        self.astray = (words(), crate::corruption::word(words));
        for shown in &mut self.shown {
            *shown = Shown {
                next_on_channel: crate::corruption::word(words),
                below: crate::corruption::word(words),
                round_trip_ns: crate::corruption::word(words),
                out_after_ns: crate::corruption::word(words),
                begun: words().is_multiple_of(2),
            };
        }
        if let Some(repair) = &mut self.repair {
            repair.gaps.corrupt(words);
            repair.copies.corrupt(words);
        }
    }
}
