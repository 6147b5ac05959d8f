//! Written over, for the tests of self-stabilisation.

use super::Seen;

impl Seen {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.reports, self.waited_ns, self.idle_ns) = (words(), words(), words());
        self.settled_at_ns = words();
        self.came = Some(((words(), words()), (words(), words())));
    }
}
