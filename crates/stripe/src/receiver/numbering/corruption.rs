//! Written over, for the tests of self-stabilisation.

use super::Numbering;

impl Numbering {
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        for number in self.channels.iter_mut().chain(&mut self.ports) {
            *number = crate::corruption::byte(words);
        }
    }
}
