//! What the receiver has last said of each channel, and when that came.

use crate::{Instant, Report};

/// The last report on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reported {
    /// When it came.
    pub at: Instant,
    /// What it said.
    pub report: Report,
}

/// The last report on every channel in this epoch.
#[derive(Clone, Debug)]
pub(super) struct ReportedByChannel(Vec<Option<Reported>>);

impl ReportedByChannel {
    pub(super) fn new(channels: usize) -> Self {
        Self(vec![None; channels])
    }

    pub(super) fn on(&self, channel: usize) -> Option<Reported> {
        self.0[channel]
    }

    pub(super) fn take(&mut self, channel: usize, reported: Reported) {
        self.0[channel] = Some(reported);
    }

    /// A new epoch.
    pub(super) fn restart(&mut self) {
        self.0.fill(None);
    }
}

#[cfg(test)]
impl ReportedByChannel {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        for reported in &mut self.0 {
            let mut word = || crate::corruption::word(words);
            let report = Report {
                accounted_packets: word(),
                received_packets: word(),
                limit_packets: word(),
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
