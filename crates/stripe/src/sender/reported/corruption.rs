//! Written over, for the tests of self-stabilisation.

use super::{Instant, Report, Reported, ReportedByChannel};

impl ReportedByChannel {
    pub(in crate::sender) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        for reported in &mut self.0 {
            let mut word = || crate::corruption::word(words);
            let report = Report {
                accounted_packets: word(),
                received_packets: word(),
                limit_bytes: word(),
                lowered: word().is_multiple_of(2),
                held_ns: word(),
                came_ago_ns: word(),
                longest_bytes: word(),
                coming_from: Some(gingham_fairq::Round::new(word())),
                accounted_bytes: words(),
                received_bytes: words(),
                came_at: Instant::from_nanoseconds(words()),
                echo: Instant::from_nanoseconds(words()),
            };
            *reported = Some(Reported { at: Instant::from_nanoseconds(words()), report });
        }
    }
}
