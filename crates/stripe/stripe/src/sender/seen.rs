//! Measurements of a channel between two plans of shares.

/// Bounds of a sound measurement: a wait of two years, and a count of 2^32.
const NS_MAX: u64 = 1 << 56;
const COUNT_MAX: u64 = 1 << 32;

/// Measurements of a channel since the last plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) reports: u64,
    /// Time that the pipe waited for the channel.
    pub(super) waited_ns: u64,
    /// Time that it could have sent while the pipe waited for another.
    pub(super) idle_ns: u64,
    /// Time when everything sent before the last plan has arrived.
    pub(super) settled_at_ns: u64,
    /// First and last report since: time of arrival, and bytes received.
    pub(super) came: Option<((u64, u64), (u64, u64))>,
}

impl Seen {
    /// Whether the counts can be increased, and summed over all channels, without overflow.
    pub(super) const fn is_sound(&self) -> bool {
        self.reports < COUNT_MAX && self.waited_ns < NS_MAX && self.idle_ns < NS_MAX
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Seen: reports, waited_ns, idle_ns, settled_at_ns, came);
