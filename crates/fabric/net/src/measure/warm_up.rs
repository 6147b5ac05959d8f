//! MSER-5: length of the warm-up at the start of a series.
//!
//! The marginal standard error rule (White, "An Effective Truncation Heuristic for Bias Reduction
//! in Simulation Output", Simulation 69(6), 1997; in batches of five: White, Cobb and Spratt, WSC
//! 2000; Franklin and White, WSC 2008) cuts the first `d` of `n` values, where `d` is at most
//! `n / 2` and minimises
//!
//! ```text
//!   MSER(d) = sum over i >= d of (x_i - mean of all x_i, i >= d)^2 / (n - d)^2
//! ```
//!
//! Near saturation, this rule cuts after a burst of high latencies, so the mean of the rest is too
//! low. *(ours)* It is therefore applied to logarithms, which make a burst less of an outlier and
//! the empty start more of one, and the shallowest cut with an MSER within 10 % of the minimum is
//! used. If this cut lies in the last fifth of the first half, the series is too short.
//!
//! A network fills from empty: high values at the start are mostly chance, and cutting them makes
//! the mean too low and its interval too narrow. They are cut only if the cut more than halves the
//! MSER. *(ours)* Figures: `docs/concepts/measurement.md`.

/// Minimum number of values for a decision *(ours)*.
pub(super) const VALUES_MIN: usize = 10;
const GOOD_ENOUGH: f64 = 1.1;
const KEEPS_HIGH: f64 = 2.0;

/// Returns the number of initial latencies in the warm-up; `None` if the series is too short.
pub(super) fn truncation(latencies: &[f64]) -> Option<usize> {
    if latencies.len() < VALUES_MIN {
        return None;
    }
    let values: Vec<f64> = latencies.iter().map(|latency| libm::log1p(*latency)).collect();
    let cuts = || marginal_errors(&values).filter(|(cut, _)| *cut <= values.len() / 2);
    let smallest = cuts().map(|(_, error)| error).fold(f64::INFINITY, f64::min);
    let good = cuts().filter(|(_, error)| *error <= GOOD_ENOUGH * smallest);
    let cut = good.map(|(cut, _)| cut).min().expect("the smallest is good enough");
    let uncut = cuts().map(|(_, error)| error).last().expect("one cuts nothing");
    if uncut <= KEEPS_HIGH * smallest && falls_at(cut, &values) {
        return Some(0);
    }
    (5 * cut < 2 * values.len()).then_some(cut)
}

fn falls_at(cut: usize, values: &[f64]) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "at most some hundreds of values")]
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (before, after) = values.split_at(cut);
    cut > 0 && mean(before) > mean(after)
}

/// Returns `(d, MSER(d))` for every cut that leaves at least one value, deepest cut first.
fn marginal_errors(values: &[f64]) -> impl Iterator<Item = (usize, f64)> {
    // Sums of differences from one value lose less precision than sums of the values.
    let origin = values[values.len() - 1];
    let mut sums = (0.0, 0.0, 0.0);
    values.iter().enumerate().rev().map(move |(cut, value)| {
        let difference = value - origin;
        let (count, sum, squares) = &mut sums;
        *count += 1.0;
        *sum += difference;
        *squares += difference * difference;
        (cut, (*squares - *sum * *sum / *count).max(0.0) / (*count * *count))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_kernel::{Purpose, Stream};

    #[test]
    fn constructed_transient_is_truncated_exactly() {
        let mut values = vec![100.0; 8];
        values.extend((0..40).map(|index| if index % 2 == 0 { 9.0 } else { 11.0 }));
        assert_eq!(truncation(&values), Some(8));
    }

    #[test]
    fn marginal_errors_match_the_mser_definition() {
        // Series: 4, 0, 2, 0, 2, ...
        let values: Vec<f64> = (0..12)
            .map(|index| if index == 0 { 4.0 } else { f64::from(index % 2) * -2.0 + 2.0 })
            .collect();
        for (cut, error) in marginal_errors(&values) {
            let left = &values[cut..];
            #[expect(clippy::cast_precision_loss, reason = "twelve values")]
            let count = left.len() as f64;
            let mean = left.iter().sum::<f64>() / count;
            let squares: f64 = left.iter().map(|value| (value - mean) * (value - mean)).sum();
            assert!((error - squares / (count * count)).abs() < 1e-12, "cut {cut}");
        }
        assert_eq!(marginal_errors(&values).map(|(cut, _)| cut).min(), Some(0));
        assert_eq!(marginal_errors(&values).map(|(cut, _)| cut).max(), Some(11));
    }

    #[test]
    fn series_without_transient_is_kept_whole() {
        let values: Vec<f64> = (0..50).map(|index| [9.0, 10.0, 11.0][index % 3]).collect();
        assert_eq!(truncation(&values), Some(0));
        assert_eq!(truncation(&[7.0; 30]), Some(0), "nothing varies");
    }

    #[test]
    fn series_growing_to_its_end_is_too_short() {
        let values: Vec<f64> = (0..200).map(f64::from).collect();
        assert_eq!(truncation(&values), None);
        assert_eq!(truncation(&values[..9]), None, "nine values tell nothing");
    }

    #[test]
    fn long_transient_is_found_below_noise() {
        let mut stream = Stream::new(1, "transient", Purpose::Shuffle);
        for _ in 0..50 {
            let value = |index: u32| {
                100.0 - 80.0 * libm::exp(-f64::from(index) / 20.0) + 10.0 * stream.unit()
            };
            let values: Vec<f64> = (0..200).map(value).collect();
            let cut = truncation(&values).unwrap();
            assert!((20..=79).contains(&cut), "cut {cut}");
        }
    }

    #[test]
    fn single_burst_is_not_truncated() {
        // A cut after one high value has the smallest MSER, but only slightly smaller than without
        // a cut.
        let mut stream = Stream::new(2, "burst", Purpose::Shuffle);
        for place in 5..20 {
            let mut values: Vec<f64> = (0..200).map(|_| 100.0 + 40.0 * stream.unit()).collect();
            values[place] = 180.0;
            let cut = truncation(&values).unwrap();
            assert!(cut < place, "cut {cut} behind the burst at {place}");
        }
    }

    #[test]
    fn random_waits_are_rarely_truncated() {
        // One message in ten waits; no value belongs to the warm-up.
        let mut stream = Stream::new(3, "chance", Purpose::Shuffle);
        let mut cut = 0;
        for _ in 0..200 {
            let latency = |_| {
                let waits = stream.unit() < 0.1;
                100.0 + if waits { stream.exponential(100.0) } else { 0.0 }
            };
            let values: Vec<f64> = (0..200).map(latency).collect();
            cut += u32::from(truncation(&values) != Some(0));
        }
        assert!(cut <= 4, "{cut} of 200 series are cut");
    }

    #[test]
    fn initial_storm_is_truncated() {
        let mut stream = Stream::new(4, "storm", Purpose::Shuffle);
        for _ in 0..50 {
            let value = |index| (100.0 + 20.0 * stream.unit()) * if index < 20 { 3.0 } else { 1.0 };
            let values: Vec<f64> = (0..200).map(value).collect();
            assert_eq!(truncation(&values), Some(20));
        }
    }
}
