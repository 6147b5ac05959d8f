//! Guard against a run whose simulated time stops advancing.
//!
//! A step is an event, or a packet offered to the sender. The number of steps per call is limited,
//! so that the caller can handle signals even if simulated time never advances.

use core::fmt;
use gingham_kernel::Time;

/// Error: simulated time stopped advancing.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoProgress {
    /// Simulated time when the run stopped.
    pub at: Time,
    /// Steps taken at this simulated time.
    pub steps: u64,
    /// Source of the last packet sent or dropped at this time.
    pub source: Option<usize>,
}

impl NoProgress {
    /// Returns the scenario key to blame: a source, or `stripe`.
    pub fn key(&self) -> String {
        self.source.map_or_else(|| "stripe".to_owned(), |source| format!("source.{source}"))
    }
}

impl fmt::Display for NoProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, steps, .. } = self;
        let at_ns = at.as_ps() / 1_000;
        write!(
            f,
            "simulated time stands still at {at_ns} ns: {steps} steps at one instant, and the run \
             would never end: give the source a rate (`kind.constant.rate`) or shorter `packets`, \
             or the channels a shorter `queue`"
        )
    }
}

impl core::error::Error for NoProgress {}

#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    left: u64,
    at_instant: u64,
    at_instant_max: u64,
    source: Option<u16>,
}

impl Steps {
    pub(super) const fn new(at_instant_max: u64) -> Self {
        Self { left: 0, at_instant: 0, at_instant_max, source: None }
    }

    pub(super) const fn allow(&mut self, steps: u64) {
        self.left = steps;
    }

    pub(super) const fn are_left(&self) -> bool {
        self.left > 0
    }

    pub(super) const fn take(&mut self, is_later: bool) {
        if is_later {
            (self.at_instant, self.source) = (0, None);
        }
        self.at_instant += 1;
        self.left = self.left.saturating_sub(1);
    }

    pub(super) const fn see(&mut self, source: u16) {
        self.source = Some(source);
    }

    pub(super) const fn is_stuck(&self) -> bool {
        self.at_instant >= self.at_instant_max
    }

    pub(super) fn no_progress(&self, at: Time) -> NoProgress {
        NoProgress { at, steps: self.at_instant, source: self.source.map(usize::from) }
    }
}
