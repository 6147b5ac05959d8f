//! Test for a trend in a series.
//!
//! ```text
//!   x_1  x_2  x_3  x_4          S = rising pairs minus falling pairs
//!    └────┴────┴────┘           z = (S -+ 1) / sqrt(var S),   slope = median of (x_j - x_i) / (j - i)
//! ```
//!
//! Mann-Kendall test: for `n` independent values with groups of `t` ties, `S` has mean zero and
//! variance
//!
//! ```text
//!   var S = ( n (n - 1) (2 n + 5) - sum t (t - 1) (2 t + 5) ) / 18
//! ```
//!
//! and is nearly normal for ten or more values (H. B. Mann, Econometrica 13, 1945; M. G. Kendall,
//! "Rank Correlation Methods", 4th ed., 1975, chapters 4 and 5). The test uses only ranks, so a
//! burst weighs no more than other values. The slope estimator is by P. K. Sen (Journal of the
//! American Statistical Association 63, 1968). Serial correlation makes false positives more
//! frequent.

/// 99.5 % quantile of the normal distribution, for 1 % false positives among series of independent
/// values.
const NORMAL: f64 = 2.575_829_303_548_901;
/// Minimum number of values for a nearly normal `S` (Kendall).
const VALUES_MIN: usize = 10;

/// Returns the rise from the first to the last value: Sen's slope times the number of steps. `None`
/// if the trend is not significant at the 1 % level.
#[must_use]
pub fn trend(values: &[f64]) -> Option<f64> {
    if values.len() < VALUES_MIN {
        return None;
    }
    let mut slopes = slopes(values);
    let steps = f64::from(u32::try_from(values.len() - 1).ok()?);
    (z(values, &slopes).abs() > NORMAL).then(|| steps * median(&mut slopes))
}

fn slopes(values: &[f64]) -> Vec<f64> {
    let mut slopes = Vec::with_capacity(values.len() * (values.len() - 1) / 2);
    for (from, first) in values.iter().enumerate() {
        let mut steps = 0.0;
        for second in &values[from + 1..] {
            steps += 1.0;
            slopes.push((second - first) / steps);
        }
    }
    slopes
}

fn z(values: &[f64], slopes: &[f64]) -> f64 {
    let sign = |slope: &f64| f64::from(i8::from(*slope > 0.0) - i8::from(*slope < 0.0));
    let excess: f64 = slopes.iter().map(sign).sum();
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let equal = sorted.chunk_by(|one, other| one.total_cmp(other).is_eq()).map(<[f64]>::len);
    let variance = (weight(values.len()) - equal.map(weight).sum::<f64>()) / 18.0;
    if excess == 0.0 || variance <= 0.0 {
        return 0.0;
    }
    (excess - excess.signum()) / variance.sqrt()
}

fn weight(count: usize) -> f64 {
    let count = crate::real(count as u128);
    count * (count - 1.0) * (2.0 * count + 5.0)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 {
        values[middle]
    } else {
        f64::midpoint(values[middle - 1], values[middle])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn z_of(values: &[f64]) -> f64 {
        z(values, &slopes(values))
    }

    #[test]
    fn trend_statistic_matches_the_formula() {
        // Of ten pairs, seven rise, two fall (3 to 2 and 4 to 3) and one is level: S = 5. With one
        // tie, the variance is (5 x 4 x 15 - 2 x 1 x 9) / 18 = 282 / 18.
        let expected = 4.0 / (282.0_f64 / 18.0).sqrt();
        assert!((z_of(&[1.0, 3.0, 2.0, 4.0, 3.0]) - expected).abs() < 1e-12);
        assert!((z_of(&[3.0, 4.0, 2.0, 3.0, 1.0]) + expected).abs() < 1e-12);
        assert!(z_of(&[7.0; 12]).abs() < 1e-12);
    }

    #[test]
    fn trend_is_the_median_slope_times_steps() {
        // Despite one outlier, 36 of 45 pairs have a slope of 2.
        let mut values: Vec<f64> = (0..10).map(|index| f64::from(2 * index)).collect();
        values[4] = 1_000.0;
        assert_eq!(trend(&values), Some(18.0));
        let falling: Vec<f64> = values.iter().map(|value| -value).collect();
        assert_eq!(trend(&falling), Some(-18.0));
    }

    #[test]
    fn oscillating_series_has_no_trend() {
        let saw: Vec<f64> = (0..24).map(|index| f64::from(index % 2)).collect();
        assert_eq!(trend(&saw), None);
        assert_eq!(trend(&[5.0; 24]), None, "nothing varies");
        assert_eq!(trend(&[]), None);
        let nine: Vec<f64> = (0..9).map(f64::from).collect();
        assert_eq!(trend(&nine), None, "nine values tell nothing");
    }

    #[test]
    fn burst_is_no_trend() {
        let mut values: Vec<f64> = (0..24).map(|index| f64::from(index * 7 % 11)).collect();
        let before = trend(&values);
        values[22] = 1e9;
        values[23] = 1e9;
        assert_eq!((before, trend(&values)), (None, None));
    }
}
