//! Mean and 95 % confidence interval by batch means.
//!
//! ```text
//!   sections   | 1 | 2 | 3 | 4 | 5 | 6 | 7 | ...       two sections per batch for 40 to 59 sections, three
//!   batches    |     1     |   2   |   3   | ...       for 60 to 79; the remainder joins the first batch
//! ```
//!
//! Every mean is a ratio of sums, such as latency over messages. With sums `S_i` over `N_i` in
//! batch `i` of `k`, the mean is `R = sum S / sum N` and
//!
//! ```text
//!   half-width = t x sqrt( sum (S_i - R N_i)^2 / (k - 1) / k ) / mean(N),   t for k - 1 degrees of freedom
//! ```
//!
//! the ratio estimator of sampling theory (Cochran, "Sampling Techniques", 3rd ed., 1977, section
//! 6.4) for nearly independent batches (Law, "Simulation Modeling and Analysis", 5th ed., section
//! 9.5.3). A positive lag-1 correlation `r` of the residuals `S_i - R N_i` widens the interval by
//! `sqrt((1 + r) / (1 - r))` (Tafazzoli, Steiger and Wilson, "N-Skart", IEEE Transactions on
//! Automatic Control 56(2), 2011). Batches without data are ignored.
//!
//! [`Estimate::of_sections`] applies two corrections:
//!
//! - **Skewness.** If the mean of skewed data is low by chance, so is its standard error.
//!   [`skewed_point`] therefore replaces `t`; it is computed from section residuals, which
//!   outnumber the batches.
//! - **Edges.** With constant arrivals and fixed destinations, for example, only the messages cut
//!   off by section edges vary ([`edges_half_width`]).
//!
//! Functions of several sums use the jackknife interval. Let `F` be the value over all batches,
//! `F_i` the value without batch `i`, and `F.` the mean of the `F_i`. Batch `i` deviates by
//! `d_i = (k - 1) (F. - F_i)`, and
//!
//! ```text
//!   half-width = t x sqrt( sum d_i^2 / (k - 1) / k ) + (k - 1) |F. - F|
//! ```
//!
//! widened for positive correlation as above. The second term is the jackknife's bias estimate
//! (Efron, "The Jackknife, the Bootstrap and Other Resampling Plans", SIAM 1982, chapters 2 and 3),
//! which matters for `F` near its largest or smallest value.

use crate::correction::{edges_half_width, skewed_point};
use crate::student_t;
use std::ops::Range;

const BATCHES_MIN: usize = 20;

/// Mean with its confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// Estimated mean.
    pub mean: f64,
    /// Half-width of the 95 % confidence interval; `None` for fewer than 20 batches with data.
    pub half_width: Option<f64>,
}

/// Ratio as numerator and divisor.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Ratio {
    /// Numerator, such as total latency or bytes.
    pub sum: f64,
    /// Divisor, such as messages or time.
    pub over: f64,
}

impl Estimate {
    /// Estimates the ratio of the sums over all sections; `None` if the divisors sum to zero.
    pub fn of_sections(sections: &[Ratio]) -> Option<Self> {
        let mean = ratio(sections)?;
        Some(Self { mean, half_width: half_width(sections, mean) })
    }

    /// Estimates the ratio without the two corrections. `point` returns the half-width in standard
    /// errors for the given degrees of freedom.
    pub fn of_sections_to(sections: &[Ratio], mut point: impl FnMut(u32) -> f64) -> Option<Self> {
        let mean = ratio(sections)?;
        let error = standard_error(sections, mean);
        let half_width = error.map(|(degrees, error)| point(degrees) * error);
        Some(Self { mean, half_width })
    }

    /// Estimates `of(sums)`, a function of several sums such as the bytes of each flow, with the
    /// jackknife interval. `sums` returns the sums over a range of sections; none may be negative.
    pub fn by_jackknife(
        sections: usize,
        sums: impl Fn(Range<usize>) -> Vec<f64>,
        of: impl Fn(&[f64]) -> Option<f64>,
    ) -> Option<Self> {
        let whole = sums(0..sections);
        let mean = of(&whole)?;
        // Holds the sums of only one batch at a time, because a batch may have many sums.
        let without = |batch: Range<usize>| {
            let own = sums(batch);
            own.iter().any(|sum| *sum > 0.0).then(|| {
                let rest: Vec<f64> = whole.iter().zip(own).map(|(all, own)| all - own).collect();
                of(&rest)
            })
        };
        let without: Vec<Option<f64>> = batches(sections).filter_map(without).collect();
        Some(Self { mean, half_width: jackknife(&without, mean) })
    }

    /// Multiplies mean and half-width by a unit conversion factor.
    #[must_use]
    pub fn scaled(self, factor: f64) -> Self {
        let half_width = self.half_width.map(|half_width| half_width * factor.abs());
        Self { mean: self.mean * factor, half_width }
    }

    /// Returns the half-width divided by the mean; `None` if the mean is zero or has no interval.
    pub fn relative_width(&self) -> Option<f64> {
        (self.mean != 0.0).then_some(self.half_width? / self.mean.abs())
    }
}

fn ratio(sections: &[Ratio]) -> Option<f64> {
    let whole = total(sections);
    (whole.over > 0.0).then(|| whole.sum / whole.over)
}

fn total(parts: &[Ratio]) -> Ratio {
    parts.iter().fold(Ratio::default(), |all, part| Ratio {
        sum: all.sum + part.sum,
        over: all.over + part.over,
    })
}

fn batches(sections: usize) -> impl Iterator<Item = Range<usize>> {
    let size = (sections / BATCHES_MIN).max(1);
    let left_over = sections % size;
    (0..sections / size).map(move |batch| {
        let from = if batch == 0 { 0 } else { left_over + batch * size };
        from..left_over + (batch + 1) * size
    })
}

fn jackknife(without: &[Option<f64>], mean: f64) -> Option<f64> {
    let degrees = degrees(without.len())?;
    let without: Vec<f64> = without.iter().copied().collect::<Option<_>>()?;
    let count = real(without.len() as u128);
    let centre = without.iter().sum::<f64>() / count;
    let deviations: Vec<f64> = without.iter().map(|one| (count - 1.0) * (centre - one)).collect();
    let squares: f64 = deviations.iter().map(|deviation| deviation * deviation).sum();
    let standard_error = (squares / (count - 1.0) / count).sqrt();
    let bias = (count - 1.0) * (centre - mean).abs();
    Some(student_t(degrees) * standard_error * widening(&deviations, squares) + bias)
}

fn degrees(batches: usize) -> Option<u32> {
    (batches >= BATCHES_MIN).then(|| u32::try_from(batches - 1).ok())?
}

/// Returns the mean of each batch with data.
#[must_use]
pub fn batch_means(sections: &[Ratio]) -> Vec<f64> {
    filled(sections).iter().map(|batch| batch.sum / batch.over).collect()
}

fn filled(sections: &[Ratio]) -> Vec<Ratio> {
    let sums = batches(sections.len()).map(|batch| total(&sections[batch]));
    sums.filter(|batch| batch.over > 0.0).collect()
}

fn half_width(sections: &[Ratio], mean: f64) -> Option<f64> {
    let (degrees, error) = standard_error(sections, mean)?;
    let point = student_t(degrees);
    let residuals = residuals(sections, mean);
    let over = total(sections).over;
    let edges = edges_half_width(&residuals, over, point).unwrap_or(f64::INFINITY);
    let holding = sections.iter().zip(residuals).filter(|(section, _)| section.over > 0.0);
    let holding: Vec<f64> = holding.map(|(_, residual)| residual).collect();
    Some(edges.min(skewed_point(point, &holding) * error))
}

fn standard_error(sections: &[Ratio], mean: f64) -> Option<(u32, f64)> {
    let batches = filled(sections);
    let degrees = degrees(batches.len())?;
    let count = real(batches.len() as u128);
    let residuals = residuals(&batches, mean);
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let over_mean = total(&batches).over / count;
    let standard_error = (squares / (count - 1.0) / count).sqrt() / over_mean;
    Some((degrees, standard_error * widening(&residuals, squares)))
}

fn residuals(parts: &[Ratio], mean: f64) -> Vec<f64> {
    parts.iter().map(|part| part.sum - mean * part.over).collect()
}

fn widening(residuals: &[f64], squares: f64) -> f64 {
    if squares == 0.0 {
        return 1.0;
    }
    let products: f64 = residuals.windows(2).map(|pair| pair[0] * pair[1]).sum();
    let correlation = (products / squares).max(0.0);
    ((1.0 + correlation) / (1.0 - correlation)).sqrt()
}

/// Converts a sum to floating point.
#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
pub fn real(sum: u128) -> f64 {
    sum as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(sums: impl IntoIterator<Item = f64>, over: f64) -> Vec<Ratio> {
        sums.into_iter().map(|sum| Ratio { sum, over }).collect()
    }

    #[test]
    fn twenty_equal_batches_give_the_student_t_interval() {
        // The batch means have a variance of 20 x 100 / 19, so the standard error is
        // sqrt(100 / 19). The negative lag-1 correlation and zero skewness do not widen the
        // interval.
        let sums = (0..20).map(|index| if (index + 1) % 4 < 2 { 90.0 } else { 110.0 });
        let sections = each(sums, 1.0);
        let estimate = Estimate::of_sections(&sections).unwrap();
        assert!((estimate.mean - 100.0).abs() < 1e-12);
        let expected = 2.093_024_054_408_263 * (100.0_f64 / 19.0).sqrt();
        assert!((estimate.half_width.unwrap() - expected).abs() < 1e-9);
    }

    #[test]
    fn ratio_estimate_weights_batches_by_size() {
        // Mean: (190 + 228) / (19 + 19) = 11. Residuals: 19 of 10 - 11 = -1 and one of
        // 228 - 19 x 11 = 19, with a sum of squares of 19 + 361 = 380. Squared standard error of
        // the sum: 380 / 19 / 20 = 1. Mean divisor: 38 / 20 = 1.9.
        let mut sections = each([10.0; 19], 1.0);
        sections.push(Ratio { sum: 228.0, over: 19.0 });
        let estimate = Estimate::of_sections_to(&sections, student_t).unwrap();
        assert!((estimate.mean - 11.0).abs() < 1e-12);
        assert!((estimate.half_width.unwrap() - 2.093_024_054_408_263 / 1.9).abs() < 1e-9);
    }

    #[test]
    fn correlated_batches_widen_the_interval() {
        // Of the 19 products of successive residuals, 18 are +100 and one is -100; all 20 squares
        // are 100. Hence r = 17 / 20, and the interval grows by
        // sqrt((1 + r) / (1 - r)) = sqrt(37 / 3).
        let sections = each((0..20).map(|index| if index < 10 { 90.0 } else { 110.0 }), 1.0);
        let half_width = Estimate::of_sections(&sections).unwrap().half_width.unwrap();
        let expected = 2.093_024_054_408_263 * (100.0_f64 / 19.0).sqrt() * (37.0_f64 / 3.0).sqrt();
        assert!((half_width - expected).abs() < 1e-9);
        assert_eq!(Estimate::of_sections(&each([5.0; 20], 1.0)).unwrap().half_width, Some(0.0));
    }

    #[test]
    fn sections_are_grouped_into_20_to_39_batches() {
        for (sections, expected) in
            [(20, 20), (39, 39), (40, 20), (41, 20), (59, 29), (60, 20), (64, 21)]
        {
            assert_eq!(batches(sections).count(), expected);
        }
        let found: Vec<_> = batches(41).collect();
        assert_eq!((found[0].clone(), found[1].clone(), found[19].clone()), (0..3, 3..5, 39..41));
    }

    fn jackknife_of(sections: &[Vec<f64>], of: impl Fn(&[f64]) -> Option<f64>) -> Option<Estimate> {
        let parties = 0..sections[0].len();
        let sums = |range: Range<usize>| {
            let of_party =
                |party: usize| sections[range.clone()].iter().map(|own| own[party]).sum();
            parties.clone().map(of_party).collect()
        };
        Estimate::by_jackknife(sections.len(), sums, of)
    }

    #[test]
    fn jackknife_of_equal_batches_matches_the_ratio_interval() {
        // Divisors of 1 make the ratio linear and unbiased.
        let sums: Vec<f64> = (0..20).map(|index| f64::from(index * index % 7)).collect();
        let by_party: Vec<Vec<f64>> = sums.iter().map(|sum| vec![*sum, 1.0]).collect();
        let found = jackknife_of(&by_party, |sums| Some(sums[0] / sums[1])).unwrap();
        let expected = Estimate::of_sections_to(&each(sums, 1.0), student_t).unwrap();
        assert!((found.mean - expected.mean).abs() < 1e-12);
        assert!((found.half_width.unwrap() - expected.half_width.unwrap()).abs() < 1e-9);
    }

    #[test]
    fn jackknife_half_width_includes_the_bias() {
        // The squared total is 40^2 = 1,600; without one batch, it is 39^2 or 37^2, on average
        // 1,445. The bias is 19 x (1,600 - 1,445). Deviations alternate between 19 x -76 and
        // 19 x 76, so the standard error is 19 x 76 / sqrt(19).
        let sections: Vec<Vec<f64>> =
            (0..20).map(|index| vec![if index % 2 == 0 { 1.0 } else { 3.0 }]).collect();
        let found = jackknife_of(&sections, |sums| Some(sums[0] * sums[0])).unwrap();
        assert!((found.mean - 1_600.0).abs() < 1e-9);
        let expected = 2.093_024_054_408_263 * 19.0_f64.sqrt() * 76.0 + 19.0 * 155.0;
        assert!((found.half_width.unwrap() - expected).abs() < 1e-6);
        let few = jackknife_of(&sections[1..], |sums| Some(sums[0])).unwrap();
        assert_eq!(few, Estimate { mean: 39.0, half_width: None });
        assert_eq!(jackknife_of(&sections, |_| None), None);
    }

    #[test]
    fn too_little_data_gives_no_interval() {
        assert_eq!(Estimate::of_sections(&[]), None);
        assert_eq!(Estimate::of_sections(&each([0.0; 30], 0.0)), None);
        let few = Estimate::of_sections(&each([7.0; 19], 1.0)).unwrap();
        assert_eq!(few, Estimate { mean: 7.0, half_width: None });
        let mut gap = each([7.0; 20], 1.0);
        gap[3] = Ratio::default();
        assert_eq!(Estimate::of_sections(&gap).unwrap().half_width, None);
    }
}
