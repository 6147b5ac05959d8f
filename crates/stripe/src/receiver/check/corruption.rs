//! Written over, for the tests of self-stabilisation.

use super::{Instant, Receiver};

impl<const CAPACITY: usize, P> Receiver<gingham_fairq::SurplusRoundRobin<CAPACITY>, P> {
    /// Writes over every word of the state; packets and their tags are none of it.
    pub(crate) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if crate::corruption::is_hit(words) {
            self.scheduler.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.numbering.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.epochs.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.presence.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.reports.corrupt(words);
        }
        self.pool.corrupt(words);
        if let Some(confirmed) = &mut self.confirmed {
            confirmed.corrupt(words);
        }
        self.buffers.iter_mut().for_each(|buffer| buffer.corrupt(words));
        self.silent = words();
        self.audit_at = Instant::from_nanoseconds(words());
        self.late_in_a_row.iter_mut().for_each(|count| *count = crate::corruption::word(words));
    }
}
