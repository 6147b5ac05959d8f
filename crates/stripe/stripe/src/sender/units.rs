//! Time spans in nanoseconds.

use core::time::Duration;

pub(super) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Returns whether a wait is over. A remaining wait above `most_ns` must be corrupt, and counts as
/// over.
pub(super) const fn is_over(now_ns: u64, until_ns: u64, most_ns: u64) -> bool {
    now_ns >= until_ns || until_ns - now_ns > most_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wait_ends_at_its_deadline_or_if_that_is_impossible() {
        assert!(!is_over(10, 11, 5) && is_over(11, 11, 5));
        assert!(!is_over(10, 15, 5) && is_over(10, 16, 5) && is_over(10, u64::MAX, 5));
    }
}
