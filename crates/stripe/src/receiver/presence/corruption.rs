//! Written over, for the tests of self-stabilisation.

use super::{Departure, Instant, Presence, Round};

impl Presence {
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.out, self.acknowledge) = (words(), words());
        for round in &mut self.since {
            *round = Round::new(crate::corruption::word(words));
        }
        for round in &mut self.in_from {
            *round = Round::new(crate::corruption::word(words));
        }
        for since in &mut self.stale_since {
            *since = Some(Instant::from_nanoseconds(words()));
        }
        for departure in &mut self.departures {
            *departure = Departure {
                channel: crate::corruption::byte(words),
                since: Round::new(crate::corruption::word(words)),
                ..Departure::default()
            };
        }
    }
}
