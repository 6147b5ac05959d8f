//! Bytes, spans and rates in whole numbers.

/// Bytes a second, of so many bytes in a span.
pub fn rate(bytes: u64, span_ns: u64) -> u64 {
    let rate = u128::from(bytes) * 1_000_000_000 / u128::from(span_ns.max(1));
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// Bytes that a rate carries in a span.
pub fn carried(bytes_per_second: u64, span_ns: u64) -> u64 {
    let bytes = u128::from(bytes_per_second) * u128::from(span_ns) / 1_000_000_000;
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// So many hundredths of something.
pub fn percent_of(whole: u64, percent: u64) -> u64 {
    let part = u128::from(whole) * u128::from(percent) / 100;
    u64::try_from(part).unwrap_or(u64::MAX)
}

/// How long a rate takes for so many bytes.
pub fn time_ns(bytes: u64, bytes_per_second: u64) -> u64 {
    let span = u128::from(bytes) * 1_000_000_000 / u128::from(bytes_per_second.max(1));
    u64::try_from(span).unwrap_or(u64::MAX)
}

/// A mean moved by a share of the difference; rounding never stops it short of it for ever.
pub(crate) const fn smooth(mean: u64, sample: u64, share: u64) -> u64 {
    if sample >= mean {
        mean + (sample - mean).div_ceil(share)
    } else {
        mean - (mean - sample).div_ceil(share)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_and_what_they_carry_are_each_other_back() {
        assert_eq!(rate(25_000, 20_000_000), 1_250_000);
        assert_eq!(carried(1_250_000, 20_000_000), 25_000);
        assert_eq!((time_ns(25_000, 1_250_000), time_ns(u64::MAX, 0)), (20_000_000, u64::MAX));
        assert_eq!((rate(u64::MAX, 0), carried(u64::MAX, u64::MAX)), (u64::MAX, u64::MAX));
        assert_eq!((percent_of(200, 125), percent_of(u64::MAX, 200)), (250, u64::MAX));
    }

    #[test]
    fn a_mean_gets_to_what_stays_the_same() {
        assert_eq!((smooth(80, 160, 8), smooth(80, 0, 8), smooth(80, 81, 8)), (90, 70, 81));
        assert_eq!((smooth(81, 80, 8), smooth(5, 5, 16)), (80, 5));
    }
}
