//! What is seen of a channel between two plans of shares.

/// No channel is waited for longer than two years, and nothing counted so often.
const WAITED_NS_MAX: u64 = 1 << 56;
const COUNT_MAX: u64 = 1 << 32;

/// When, in nanoseconds, how many bytes were accounted for.
type Accounted = (u64, u64);

/// What was seen of a channel since the last plan.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    pub(super) levels_bytes: u64,
    pub(super) reports: u64,
    pub(super) full_reports: u64,
    pub(super) waited_ns: u64,
    /// When what was sent before has got through; and the first and the last that was accounted for
    /// since.
    pub(super) settled_at_ns: u64,
    pub(super) settled: Option<(Accounted, Accounted)>,
    /// Plans in a row before which the channel had no queue while the pipe waited for others.
    pub(super) loose_plans: usize,
}

impl Seen {
    /// Counts that can be added to, and added up over all channels.
    pub(super) fn is_sound(&self) -> bool {
        let counts = [self.reports, self.full_reports, self.loose_plans as u64];
        counts.iter().all(|count| *count < COUNT_MAX) && self.waited_ns < WAITED_NS_MAX
    }
}

#[cfg(test)]
impl Seen {
    pub(super) fn corrupt(&mut self, words: &mut dyn FnMut() -> u64) {
        (self.levels_bytes, self.reports, self.full_reports) = (words(), words(), words());
        (self.waited_ns, self.settled_at_ns) = (words(), words());
        self.settled = Some(((words(), words()), (words(), words())));
        self.loose_plans = crate::corruption::index(words);
    }
}
