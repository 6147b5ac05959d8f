//! Written over, for the tests of self-stabilisation.

use super::{Change, Changes, Instant, Passing, Round};

impl Changes {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.pending, self.agreed) = (words(), words());
        let mut word = || crate::corruption::word(words);
        self.ahead_rounds = word();
        let (at, span_ns) = (Instant::from_nanoseconds(word().into()), word().into());
        self.passing = Passing { at, round: Round::new(word()), span_ns, rounds: word() };
        self.targets.iter_mut().for_each(|quantum| *quantum = word());
        for announced in &mut self.announced {
            announced.change = Change { from: Round::new(word()), quantum_bytes: word() };
            announced.at = Round::new(word());
            announced.told_at = Some(Instant::from_nanoseconds(u64::from(word()) << 30));
        }
    }
}
