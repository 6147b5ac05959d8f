//! Bytes, spans and rates in whole numbers.

use core::time::Duration;

/// Bytes a second, of so many bytes in a span.
pub(super) fn rate(bytes: u64, span_ns: u64) -> u64 {
    let rate = u128::from(bytes) * 1_000_000_000 / u128::from(span_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Bytes that a rate carries in a span.
pub(super) fn carried(bytes_per_second: u64, span_ns: u64) -> u64 {
    let bytes = u128::from(bytes_per_second) * u128::from(span_ns) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// So many hundredths of something.
pub(super) fn percent_of(whole: u64, percent: u64) -> u64 {
    let part = u128::from(whole) * u128::from(percent) / 100;
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// A span in nanoseconds; the longest that there are for what is longer.
pub(super) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Whether a wait that is never longer than `most_ns` is over. One that seems longer was written
/// over, and is over, too, lest anything waits for ever.
pub(super) const fn is_over(now_ns: u64, until_ns: u64, most_ns: u64) -> bool {
    now_ns >= until_ns || until_ns - now_ns > most_ns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_carries_so_much() {
        assert_eq!(rate(25_000, 20_000_000), 1_250_000);
        assert_eq!(carried(1_250_000, 20_000_000), 25_000);
        assert_eq!(carried(u64::MAX, u64::MAX), u64::MAX);
        assert_eq!((percent_of(200, 125), percent_of(u64::MAX, 200)), (250, u64::MAX));
    }

    #[test]
    fn a_wait_is_over_when_it_is_or_could_not_be() {
        assert!(!is_over(10, 11, 5) && is_over(11, 11, 5));
        assert!(!is_over(10, 15, 5) && is_over(10, 16, 5) && is_over(10, u64::MAX, 5));
    }
}
