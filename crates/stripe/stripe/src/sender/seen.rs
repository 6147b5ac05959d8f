//! What is seen of a channel between two plans of shares.

/// No channel is waited for longer than two years, and nothing counted so often.
const NS_MAX: u64 = 1 << 56;
const COUNT_MAX: u64 = 1 << 32;

/// What was seen of a channel since the last plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) reports: u64,
    /// How long the pipe waited for it.
    pub(super) waited_ns: u64,
    /// How long it could have sent while the pipe waited for another.
    pub(super) idle_ns: u64,
    /// When what was sent before the last plan has got through.
    pub(super) settled_at_ns: u64,
    /// The first and the last report since: when it came, and how many bytes had come.
    pub(super) came: Option<((u64, u64), (u64, u64))>,
}

impl Seen {
    /// Counts that can be added to, and added up over all channels.
    pub(super) const fn is_sound(&self) -> bool {
        self.reports < COUNT_MAX && self.waited_ns < NS_MAX && self.idle_ns < NS_MAX
    }
}

#[cfg(test)]
crate::corruption::corrupt!(Seen: reports, waited_ns, idle_ns, settled_at_ns, came);
