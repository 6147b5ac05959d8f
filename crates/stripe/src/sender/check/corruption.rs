//! Written over, for the tests of self-stabilisation.

use super::{Duration, Instant, Sender, State};

impl<const CAPACITY: usize> Sender<gingham_fairq::SurplusRoundRobin<CAPACITY>> {
    /// Writes over every word of the state; packets and their numbers are none of it.
    pub(crate) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        if crate::corruption::is_hit(words) {
            self.scheduler.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.changes.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.presence.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.sizes.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.sent.corrupt(words);
        }
        if crate::corruption::is_hit(words) {
            self.reported.corrupt(words);
        }
        if let Some(paths) = &mut self.paths {
            paths.corrupt(words);
        }
        if let Some(repairs) = &mut self.repairs {
            repairs.corrupt(words);
        }
        let time = |word: u64| Instant::from_nanoseconds(word);
        self.epoch = crate::Epoch::new(crate::corruption::word(words));
        self.due = words();
        self.heeded = Some((time(words()), Duration::from_nanos(words())));
        self.marker_round = gingham_fairq::Round::new(crate::corruption::word(words));
        self.marker_at = time(words());
        self.idle.corrupt(words);
        self.state = if words().is_multiple_of(2) {
            State::Open
        } else {
            State::Resetting {
                acknowledged: words(),
                awaited: words(),
                again_at: time(words()),
                open_at: time(words()),
            }
        };
    }
}
