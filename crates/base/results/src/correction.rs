//! Corrections of batch-means confidence intervals for skewness and section edges.
//!
//! ```text
//!   sections       |  1  |  2  |  3  | ... |  k  |     a message that crosses a boundary is missing
//!   residuals        -2    +3    -1    ...   +1        in one section and counted in the next
//!   cumulative     0    -2    +1     0     -1    0     random walk if sections are independent, else bounded
//! ```
//!
//! The residual `y_i` is the sum of section `i` minus the sum expected from the overall mean.

/// Threshold of Watson's `U²`; for independent residuals, `U²` is below it in 0.1 % of series.
const EDGES_ALONE: f64 = 0.0142;
/// Squared standard error caused by section edges, divided by the variance of the cumulative
/// residuals.
const EDGES_VARIANCES: f64 = 6.0;
/// Smallest `b` for the closed form, which loses precision for smaller values.
const SKEWNESS_SMALL: f64 = 1e-4;

/// Returns the half-width of the confidence interval for skewed data, in standard errors; `point`
/// is Student's quantile.
///
/// Willink (Communications in Statistics, Theory and Methods 34, 2005) places the interval ends for
/// `k` values of skewness `g` at `G(t)` and `G(-t)` standard errors, with
///
/// ```text
///   G(z) = ((1 + 6 b (z - b))^(1/3) - 1) / 2b      b = g / (6 sqrt(k))
/// ```
///
/// The half-width is half the length of this interval. For small `b`, the half-width exceeds
/// Student's quantile by `b^2 (4 t + 20/3 t^3)`.
pub(crate) fn skewed_point(point: f64, residuals: &[f64]) -> f64 {
    let b = (skewness(residuals) / (6.0 * count(residuals).sqrt())).abs();
    if b < SKEWNESS_SMALL {
        return point + b * b * (4.0 * point + 20.0 / 3.0 * point * point * point);
    }
    let end = |z: f64| libm::cbrt(1.0 + 6.0 * b * (z - b));
    (end(point) - end(-point)) / (4.0 * b)
}

fn skewness(residuals: &[f64]) -> f64 {
    let moment = |power| {
        let powers = residuals.iter().map(|residual| libm::pow(*residual, power));
        powers.sum::<f64>() / count(residuals)
    };
    let variance = moment(2.0);
    if variance > 0.0 { moment(3.0) / (variance * variance.sqrt()) } else { 0.0 }
}

/// Returns the half-width of the ratio's confidence interval if only section edges cause variation,
/// otherwise `None`. `over` is the sum of the divisors and `point` Student's quantile.
///
/// The test is Watson's `U²` (Biometrika 48, 1961): the variance `V` of the cumulative residuals
/// divided by the sum of squared residuals. For independent residuals, `U² < u` has Kolmogorov's
/// probability
///
/// ```text
///   P(U² < u) = sqrt(2 / (pi u)) sum over odd m of exp(-m^2 / (8 u))
/// ```
///
/// With edge effects alone, the cumulative residuals stay bounded and `U²` is about `1 / 2k`, which
/// is detected for `k` >= 45.
///
/// The error of the ratio then comes from the first and the last boundary alone. The message count
/// of a sender with a constant period deviates from its mean by a sawtooth with a variance of 1/12
/// message². The mean squared difference between two boundaries is at most 1/4 message², or three
/// times this variance. We use twice this maximum, since the test can miss random contributions of
/// equal size.
pub(crate) fn edges_half_width(residuals: &[f64], over: f64, point: f64) -> Option<f64> {
    let squares: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let mut sum = 0.0;
    let sums = residuals.iter().map(|residual| {
        sum += residual;
        sum
    });
    let sums: Vec<f64> = sums.collect();
    let mean = sums.iter().sum::<f64>() / count(residuals);
    let deviations = sums.iter().map(|sum| (sum - mean) * (sum - mean));
    let variance = deviations.sum::<f64>() / count(residuals);
    (variance <= EDGES_ALONE * squares).then(|| point * (EDGES_VARIANCES * variance).sqrt() / over)
}

#[expect(clippy::cast_precision_loss, reason = "at most some dozens of sections")]
fn count(residuals: &[f64]) -> f64 {
    residuals.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Estimate, Ratio, student_t};

    struct Uniform(u64);

    impl Uniform {
        fn next(&mut self) -> f64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = self.0;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            let high = u32::try_from((bits ^ (bits >> 31)) >> 32).unwrap();
            (f64::from(high) + 1.0) / 4_294_967_296.0
        }

        fn exponential(&mut self) -> f64 {
            -libm::log(self.next())
        }

        fn normal(&mut self) -> f64 {
            let radius = (2.0 * self.exponential()).sqrt();
            radius * libm::cos(std::f64::consts::TAU * self.next())
        }
    }

    const SERIES: usize = 4_000;

    /// Returns the percentages of series whose 95 % interval contains `mean`, with the corrections
    /// and without.
    fn held(mean: f64, mut series: impl FnMut() -> Vec<f64>) -> [f64; 2] {
        let mut held = [0_u32; 2];
        for _ in 0..SERIES {
            let sections: Vec<Ratio> =
                series().into_iter().map(|sum| Ratio { sum, over: 1.0 }).collect();
            let plain = Estimate::of_sections_to(&sections, student_t).unwrap();
            for (held, found) in
                held.iter_mut().zip([Estimate::of_sections(&sections).unwrap(), plain])
            {
                *held += u32::from((found.mean - mean).abs() <= found.half_width.unwrap());
            }
        }
        held.map(|held| f64::from(held) / 40.0)
    }

    fn cubic(end: f64, b: f64) -> f64 {
        end + b + 2.0 * b * end * end + 4.0 / 3.0 * b * b * end * end * end
    }

    #[test]
    fn skewed_interval_bounds_solve_the_cubic() {
        let mut residuals = vec![-1.0; 19];
        residuals.push(19.0);
        let b = 18.0 / 19.0_f64.sqrt() / (6.0 * 20.0_f64.sqrt());
        assert!((skewness(&residuals) - 18.0 / 19.0_f64.sqrt()).abs() < 1e-12);
        let t = student_t(19);
        let end = |z: f64| {
            let (mut low, mut high) = (-100.0, 100.0);
            while high - low > 1e-13 {
                let middle = f64::midpoint(low, high);
                *(if cubic(middle, b) < z { &mut low } else { &mut high }) = middle;
            }
            low
        };
        let expected = (end(t) - end(-t)) / 2.0;
        assert!((skewed_point(t, &residuals) - expected).abs() < 1e-9);
        assert!(expected > 1.3 * t, "{expected} of {t}");
        let other: Vec<f64> = residuals.iter().map(|residual| -residual).collect();
        assert!((skewed_point(t, &other) - expected).abs() < 1e-9);
    }

    #[test]
    fn interval_without_skewness_uses_student_t() {
        assert!((skewed_point(2.0, &[-1.0, 1.0, -1.0, 1.0]) - 2.0).abs() < 1e-12);
        assert!((skewed_point(2.0, &[0.0; 20]) - 2.0).abs() < 1e-12);
        // The skewness is about 3/2 e, so the values of `b` lie on both sides of `SKEWNESS_SMALL`.
        let small = |e: f64| [-1.0, 1.0 + e, -e].repeat(10);
        for e in [1e-4, 1e-3, 3e-3] {
            let b = skewness(&small(e)) / 6.0 / 30.0_f64.sqrt();
            let series = 2.0 + b * b * (8.0 + 160.0 / 3.0);
            assert!((skewed_point(2.0, &small(e)) - series).abs() < 1e-10, "{b}");
        }
    }

    #[test]
    fn intervals_of_exponential_values_cover_the_mean() {
        let mut uniform = Uniform(1);
        let [corrected, plain] = held(1.0, || (0..64).map(|_| uniform.exponential()).collect());
        assert!((94.0..=97.0).contains(&corrected), "{corrected} %");
        assert!(corrected > plain + 0.4, "{corrected} %, Student's {plain} %");
        let mut few = || (0..22).map(|_| uniform.exponential()).collect();
        let [corrected, plain] = held(1.0, &mut few);
        assert!((93.5..=97.0).contains(&corrected), "{corrected} %");
        assert!(corrected > plain + 0.8, "{corrected} %, Student's {plain} %");
    }

    #[test]
    fn intervals_of_normal_values_cover_the_mean() {
        let mut uniform = Uniform(2);
        for sections in [22, 39, 58, 64] {
            let [corrected, _] = held(0.0, || (0..sections).map(|_| uniform.normal()).collect());
            assert!((94.0..=97.0).contains(&corrected), "{corrected} % of {sections} sections");
        }
    }

    #[test]
    fn intervals_of_an_autoregressive_series_cover_the_mean() {
        // Values `n` steps apart have a correlation of exp(-n).
        let mut uniform = Uniform(3);
        let (of_last, new) = (libm::exp(-1.0), (1.0 - libm::exp(-2.0)).sqrt());
        let series = || {
            let mut value = uniform.normal();
            let next = |_| {
                value = of_last * value + new * uniform.normal();
                value
            };
            (0..58).map(next).collect()
        };
        let [corrected, _] = held(0.0, series);
        assert!((92.0..=97.0).contains(&corrected), "{corrected} %");
    }

    /// Returns the moving average `x_i - share x_(i-1)` of independent normal `x`.
    fn moving_average(uniform: &mut Uniform, share: f64) -> Vec<f64> {
        let noise: Vec<f64> = (0..65).map(|_| uniform.normal()).collect();
        noise.windows(2).map(|pair| pair[1] - share * pair[0]).collect()
    }

    #[test]
    fn intervals_cover_any_mix_of_edge_and_random_effects() {
        // The series range from independent values (0.0) to pure edge effects (1.0).
        for (share, seed) in [(0.0, 4), (0.5, 5), (0.8, 6), (0.9, 7), (0.95, 8), (1.0, 9)] {
            let mut uniform = Uniform(seed);
            let [corrected, plain] = held(0.0, || moving_average(&mut uniform, share));
            assert!(corrected >= 94.0, "{corrected} %, Student's {plain} % of {share}");
        }
    }

    #[test]
    fn pure_edge_effects_give_an_interval_of_two_edges() {
        let residuals: Vec<f64> = (0..64).map(|at| if at % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let found = edges_half_width(&residuals, 64.0, 2.0).unwrap();
        assert!((found - 2.0 * 1.5_f64.sqrt() / 64.0).abs() < 1e-12);
        assert_eq!(edges_half_width(&[0.0; 20], 20.0, 2.0), Some(0.0), "nothing varies");
        // Sixteen sections are too few to distinguish edge effects from chance.
        assert_eq!(edges_half_width(&residuals[..16], 16.0, 2.0), None);
    }

    #[test]
    fn false_edge_detection_rate_is_0_1_percent() {
        let closed = |u: f64| (2.0 / std::f64::consts::PI / u).sqrt() * libm::exp(-0.125 / u);
        assert!((closed(EDGES_ALONE) - 0.001).abs() < 2e-5);
        let mut uniform = Uniform(10);
        let mut corrected = 0;
        for _ in 0..10 * SERIES {
            let values: Vec<f64> = (0..64).map(|_| uniform.normal()).collect();
            let mean = values.iter().sum::<f64>() / 64.0;
            let residuals: Vec<f64> = values.iter().map(|value| value - mean).collect();
            corrected += u32::from(edges_half_width(&residuals, 64.0, 2.0).is_some());
        }
        assert!(corrected <= 40, "{corrected}");
    }

    #[test]
    fn narrow_interval_of_constant_senders_covers_the_mean() {
        // In each series, sixteen senders with a period of 1 are measured in sections of a random
        // length from 1 to 3.
        let mut uniform = Uniform(11);
        let (mut held, mut corrected, mut squares, mut widths) = (0, 0, 0.0, [0.0; 2]);
        for _ in 0..500 {
            let width = 1.0 + 2.0 * uniform.next();
            let senders: Vec<[f64; 2]> =
                (0..16).map(|_| [uniform.next(), uniform.exponential()]).collect();
            let sent = |phase: f64, until: f64| (until - phase).ceil().max(0.0);
            let section = |at: u32| {
                let [from, to] = [f64::from(at) * width, f64::from(at + 1) * width];
                senders.iter().fold(Ratio::default(), |all, [phase, latency]| {
                    let messages = sent(*phase, to) - sent(*phase, from);
                    Ratio { sum: all.sum + messages * latency, over: all.over + messages }
                })
            };
            let sections: Vec<Ratio> = (0..64).map(section).collect();
            let truth = senders.iter().map(|[_, latency]| latency).sum::<f64>() / 16.0;
            let found = Estimate::of_sections(&sections).unwrap();
            let plain = Estimate::of_sections_to(&sections, student_t).unwrap();
            let [half, plain] = [found, plain].map(|found| found.half_width.unwrap());
            held += u32::from((found.mean - truth).abs() <= half);
            corrected += u32::from(half < plain);
            squares += (found.mean - truth) * (found.mean - truth) / 500.0;
            widths[0] += half / 500.0;
            widths[1] += plain / 500.0;
        }
        assert!(held >= 490, "{held} of 500");
        // Edge effects resemble a random walk if the section length is close to a multiple of the
        // period.
        assert!(corrected >= 300, "{corrected} of 500 are told");
        let [ratio, plain] = widths.map(|width| width / f64::sqrt(squares));
        assert!((2.0..=6.0).contains(&ratio), "{ratio} errors, Student's {plain}");
        assert!(plain > 1.5 * ratio, "{ratio} errors, Student's {plain}");
    }
}
