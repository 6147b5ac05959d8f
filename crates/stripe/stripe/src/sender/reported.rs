//! What the receiver has last said of each channel, and when that came.

use crate::{Instant, Report};

/// The last report on a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(Default))]
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
crate::corruption::corrupt!(Reported: at, report);
#[cfg(test)]
crate::corruption::corrupt!(ReportedByChannel: 0);
