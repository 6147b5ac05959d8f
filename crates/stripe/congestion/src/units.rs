//! Integer arithmetic on bytes, time spans and rates.

/// Returns `value * factor / divisor`; saturates. Products below 2^64 use 64-bit division, which is
/// ten times as fast.
pub(crate) fn scaled(value: u64, factor: u64, divisor: u64) -> u64 {
    if let Some(product) = value.checked_mul(factor) {
        return product / divisor;
    }
    let quotient = u128::from(value) * u128::from(factor) / u128::from(divisor);
    u64::try_from(quotient).unwrap_or(u64::MAX)
}

/// Returns the rate in bytes per second that transfers `bytes` in `span_ns`.
pub fn rate(bytes: u64, span_ns: u64) -> u64 {
    scaled(bytes, 1_000_000_000, span_ns.max(1))
}

/// Returns the number of bytes transferred at a rate in a time span.
pub fn carried(bytes_per_second: u64, span_ns: u64) -> u64 {
    scaled(bytes_per_second, span_ns, 1_000_000_000)
}

/// Returns `percent` per cent of a quantity.
pub fn percent_of(whole: u64, percent: u64) -> u64 {
    scaled(whole, percent, 100)
}

/// Returns the time in ns to transfer a number of bytes at a rate.
pub fn time_ns(bytes: u64, bytes_per_second: u64) -> u64 {
    scaled(bytes, 1_000_000_000, bytes_per_second.max(1))
}

/// Returns the moving mean after a sample of weight 1 / `share`. The change is rounded up, so that
/// the mean reaches a constant sample.
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
    fn rate_bytes_and_time_convert_back_and_forth() {
        assert_eq!(rate(25_000, 20_000_000), 1_250_000);
        assert_eq!(carried(1_250_000, 20_000_000), 25_000);
        assert_eq!((time_ns(25_000, 1_250_000), time_ns(u64::MAX, 0)), (20_000_000, u64::MAX));
        assert_eq!((rate(u64::MAX, 0), carried(u64::MAX, u64::MAX)), (u64::MAX, u64::MAX));
        assert_eq!((percent_of(200, 125), percent_of(u64::MAX, 200)), (250, u64::MAX));
    }

    #[test]
    fn quotients_are_exact_beyond_64_bit_products() {
        let most = u64::MAX / 1_000_000_000;
        assert_eq!(
            (time_ns(most, 1 << 30), time_ns(most + 1, 1 << 30)),
            (17_179_869_183, 17_179_869_184)
        );
        assert_eq!(
            (carried(1 << 40, 1 << 23), carried(1 << 40, 1 << 25)),
            (9_223_372_036, 36_893_488_147)
        );
    }

    #[test]
    fn smoothed_mean_converges_to_a_constant_sample() {
        assert_eq!((smooth(80, 160, 8), smooth(80, 0, 8), smooth(80, 81, 8)), (90, 70, 81));
        assert_eq!((smooth(81, 80, 8), smooth(5, 5, 16)), (80, 5));
    }
}
