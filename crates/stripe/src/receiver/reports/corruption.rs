//! Written over, for the tests of self-stabilisation.

use super::{Instant, Reports};

impl Reports {
    /// Writes over counts and times.
    pub(in crate::receiver) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        self.due = words();
        for arrivals in &mut self.channels {
            arrivals.report.accounted_packets = crate::corruption::word(words);
            arrivals.report.received_packets = crate::corruption::word(words);
            arrivals.round_trip_ns = crate::corruption::word(words);
            arrivals.unreported_packets = crate::corruption::word(words);
            arrivals.longest_bytes.fill(crate::corruption::word(words));
            arrivals.report.accounted_bytes = words();
            arrivals.report.received_bytes = words();
            arrivals.report.coming_from =
                Some(gingham_fairq::Round::new(crate::corruption::word(words)));
            let mut time = || Instant::from_nanoseconds(words());
            (arrivals.report.echo, arrivals.report.came_at) = (time(), time());
            (arrivals.marker_at, arrivals.report_at) = (Some(time()), Some(time()));
            arrivals.reported_at = time();
        }
        self.earliest = Some(Instant::from_nanoseconds(words()));
    }
}
