//! Written over, for the tests of self-stabilisation.

use super::Shares;

impl Shares {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.since_ns, self.until_ns) = (words(), words());
        self.wishes.iter_mut().for_each(|wish| *wish = words());
        self.quanta.iter_mut().for_each(|quantum| *quantum = crate::corruption::word(words));
        for channel in &mut self.channels {
            channel.seen.corrupt(words);
            channel.quantum_bytes = crate::corruption::word(words).into();
        }
    }
}
