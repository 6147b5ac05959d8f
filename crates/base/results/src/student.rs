//! Quantiles of Student's t distribution.
//!
//! The probability of `|T| <= t` with `n` degrees of freedom is, with `t / sqrt(n) = tan a`,
//!
//! ```text
//!   n odd:    2/pi (a + sin a (cos a + 2/3 cos³a + ... + (2·4···(n-3))/(3·5···(n-2)) cos^(n-2) a))
//!   n even:   sin a (1 + 1/2 cos²a + (1·3)/(2·4) cos⁴a + ... + (1·3···(n-3))/(2·4···(n-2)) cos^(n-2) a)
//! ```
//!
//! (Abramowitz and Stegun, "Handbook of Mathematical Functions", 26.7.3 and 26.7.4). Beyond a
//! thousand degrees of freedom, the expansion around the normal distribution (26.7.5) is accurate
//! to ten digits.

use std::f64::consts::FRAC_2_PI;

/// 97.5 % quantile of the normal distribution.
const NORMAL: f64 = 1.959_963_984_540_054;
/// Upper bound of the search, above `student_t(1)`.
const HIGHEST: f64 = 13.0;
const SERIES_DEGREES_MAX: u32 = 1_000;

/// Returns the 97.5 % quantile of Student's t, the half-width of a 95 % confidence interval in
/// standard errors. Infinite for zero degrees of freedom.
#[must_use]
pub fn student_t(degrees: u32) -> f64 {
    match degrees {
        0 => f64::INFINITY,
        1..=SERIES_DEGREES_MAX => halved(|t| within(t, degrees) < 0.95),
        _ => expanded(f64::from(degrees)),
    }
}

/// Returns the value that Student's t exceeds with probability `chance` (below 1/2). Infinite
/// for zero degrees of freedom.
///
/// Above a thousand degrees of freedom, the value for a thousand is used, which is less than 1 %
/// larger. With one degree of freedom, cancellation in the arcsine causes a relative error of 3e-6
/// at a chance of 1e-6.
#[must_use]
pub fn student_t_beyond(degrees: u32, chance: f64) -> f64 {
    debug_assert!(chance > 0.0 && chance < 0.5, "a tail of the distribution");
    match degrees.min(SERIES_DEGREES_MAX) {
        0 => f64::INFINITY,
        degrees => {
            let ends = (0.0, chance.recip().max(HIGHEST));
            halved_between(ends, |t| within(t, degrees) < 1.0 - 2.0 * chance)
        }
    }
}

fn halved(is_below: impl Fn(f64) -> bool) -> f64 {
    halved_between((NORMAL, HIGHEST), is_below)
}

fn halved_between((mut low, mut high): (f64, f64), is_below: impl Fn(f64) -> bool) -> f64 {
    loop {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            return middle;
        }
        *(if is_below(middle) { &mut low } else { &mut high }) = middle;
    }
}

fn within(t: f64, degrees: u32) -> f64 {
    let n = f64::from(degrees);
    let (sine, cosine) = (t / (n + t * t).sqrt(), (n / (n + t * t)).sqrt());
    let even = degrees.is_multiple_of(2);
    let first = if even { 1.0 } else { cosine };
    let (mut term, mut sum) = (first, 0.0);
    let mut power = degrees % 2;
    while power + 2 <= degrees {
        sum += term;
        power += 2;
        term *= cosine * cosine * f64::from(power - 1) / f64::from(power);
    }
    if even { sine * sum } else { FRAC_2_PI * (libm::asin(sine) + sine * sum) }
}

fn expanded(degrees: f64) -> f64 {
    let z = NORMAL;
    let (z3, z5) = (z * z * z, z * z * z * z * z);
    z + (z3 + z) / (4.0 * degrees) + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * degrees * degrees)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn student_t_of_few_degrees_matches_closed_forms() {
        // One degree of freedom is the Cauchy distribution: t = tan(0.475 pi).
        let cauchy = libm::tan(0.475 * std::f64::consts::PI);
        assert!((student_t(1) - cauchy).abs() < 1e-9);
        // Two degrees of freedom: t / sqrt(2 + t²) = 0.95, hence t = 0.95 sqrt(2 / (1 - 0.95²)).
        assert!((student_t(2) - 0.95 * (2.0_f64 / 0.0975).sqrt()).abs() < 1e-12);
        // Four degrees of freedom: sin a (1 + cos²a / 2) = 0.95; with s = sin a, 3 s - s³ = 1.9.
        let sine = (4.0 / student_t(4) / student_t(4) + 1.0).sqrt().recip();
        assert!((3.0 * sine - sine * sine * sine - 1.9).abs() < 1e-12);
        assert!(student_t(0).is_infinite());
    }

    #[test]
    fn student_t_leaves_5_percent_outside() {
        for degrees in (1..=40).chain([100, 999, 1_000, 1_001, 5_000]) {
            let n = f64::from(degrees);
            let point = student_t(degrees);
            let share = density_integral(point, n);
            assert!((share - 0.95).abs() < 1e-8, "{degrees} degrees: {share}");
        }
    }

    #[test]
    fn student_t_of_any_tail_matches_closed_forms() {
        // Cauchy distribution: the tail beyond tan(pi (1/2 - p)) is p.
        for chance in [0.25, 0.025, 1e-3, 1e-4] {
            let cauchy = libm::tan(std::f64::consts::PI * (0.5 - chance));
            let found = student_t_beyond(1, chance);
            assert!((found / cauchy - 1.0).abs() < 1e-6, "{chance}: {found}, not {cauchy}");
        }
        for degrees in [2, 19, 63, 1_000] {
            let usual = student_t(degrees);
            assert!((student_t_beyond(degrees, 0.025) - usual).abs() < 1e-9);
        }
        // Two degrees of freedom: the tail beyond t is (1 - t / sqrt(2 + t²)) / 2.
        for chance in [1e-4, 1e-6] {
            let t = student_t_beyond(2, chance);
            assert!(((1.0 - t / (2.0 + t * t).sqrt()) / 2.0 / chance - 1.0).abs() < 1e-6);
        }
        assert!(student_t_beyond(0, 0.1).is_infinite());
    }

    #[test]
    fn student_t_decreases_with_degrees() {
        let points: Vec<f64> = (1..=1_100).map(student_t).collect();
        assert!(points.windows(2).all(|pair| pair[0] > pair[1]));
        assert!((student_t(u32::MAX) - NORMAL).abs() < 1e-9);
    }

    /// Computes the probability of `|T| <= end` by Simpson's rule: with `t = sqrt(n) tan a`,
    /// Student's density in `a` is `cos^(n-1) a` up to a constant.
    fn density_integral(end: f64, degrees: f64) -> f64 {
        let below = |angle: f64| {
            let steps = 20_000_u32;
            let width = angle / f64::from(steps);
            let density = |a: f64| libm::pow(libm::cos(a), degrees - 1.0);
            let weight = |step| match step {
                0 => 1.0,
                step if step == steps => 1.0,
                step if step % 2 == 1 => 4.0,
                _ => 2.0,
            };
            (0..=steps).map(|step| weight(step) * density(f64::from(step) * width)).sum::<f64>()
                * width
                / 3.0
        };
        below(libm::atan(end / degrees.sqrt())) / below(std::f64::consts::FRAC_PI_2)
    }
}
