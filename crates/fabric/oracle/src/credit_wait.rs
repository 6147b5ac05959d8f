//! Time that a channel waited for credits.

use gingham_kernel::Time;

/// Time during which the sender of a channel had something ready but no credits for it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CreditWait {
    /// Start of the current wait; `None` while the channel does not wait.
    since: Option<Time>,
    /// Duration of all completed waits, in ps.
    past_ps: u64,
}

impl CreditWait {
    /// Records whether the channel waits from `now` on.
    pub(crate) fn set(&mut self, waits: bool, now: Time) {
        if waits != self.since.is_some() {
            self.past_ps = self.until_ps(now);
            self.since = waits.then_some(now);
        }
    }

    /// Returns the total wait up to `end`, in ps. `end` is not before the tick or event of the last
    /// change.
    pub(crate) fn until_ps(&self, end: Time) -> u64 {
        let lasting = |since: Time| end.as_ps().saturating_sub(since.as_ps());
        self.past_ps + self.since.map_or(0, lasting)
    }
}
