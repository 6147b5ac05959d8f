//! Time during which a sender was ready to send a packet or flit but lacked credits.

use gingham_kernel::Time;

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct CreditWait {
    since: Option<Time>,
    past_ps: u64,
}

impl CreditWait {
    pub(crate) fn set(&mut self, waits: bool, now: Time) {
        if waits != self.since.is_some() {
            self.past_ps = self.until_ps(now);
            self.since = waits.then_some(now);
        }
    }

    /// Returns the total waiting time up to `end`, in ps. `end` must not precede the last change.
    pub(crate) fn until_ps(&self, end: Time) -> u64 {
        let lasting = |since: Time| end.as_ps().saturating_sub(since.as_ps());
        self.past_ps + self.since.map_or(0, lasting)
    }
}
