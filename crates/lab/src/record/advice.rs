//! Numbers in advice: rounded as a person would.

use super::Reading;
use gingham_kernel::{Span, Time};
use gingham_model::Status;

/// More than what is needed by the estimate, because the estimate has an error of its own.
const MARGIN: f64 = 1.1;

/// What to change for a window that is so many times as long.
#[expect(clippy::cast_precision_loss, reason = "advice")]
pub(super) fn more(reading: &Reading<'_>, factor: f64) -> String {
    let stop = &reading.plan().stop;
    let window = reading.measured.window();
    let factor = factor * MARGIN;
    if *reading.simulation.status() == Status::Drained {
        return "its sources had ended; let them send for longer".to_owned();
    }
    if let (true, Some(messages)) = (window.end < stop.time, stop.messages) {
        let enough = two_digits_above(messages as f64 * factor);
        return format!("raise stop.messages to about {enough:.0}");
    }
    let warm_up_ps = window.start.as_ps() as f64;
    let enough_ps = warm_up_ps + window.span().as_ps().max(1) as f64 * factor;
    let enough = enough_ps.max(stop.time.as_ps() as f64 * MARGIN);
    format!("let the run last about {} (stop.time)", span(two_digits_above(enough)))
}

/// A share as a percentage of two digits.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent >= 10.0 { format!("{percent:.0} %") } else { format!("{percent:.1} %") }
}

/// A span in three digits at the most.
pub(super) fn short(exact: Span) -> Span {
    let mut unit = 1;
    while exact.as_ps() / unit >= 1_000 {
        unit *= 10;
    }
    Span::from_ps((exact.as_ps() + unit / 2) / unit * unit)
}

/// The largest number of two digits that is no larger.
pub(super) fn two_digits_below(value: f64) -> f64 {
    in_two_digits(value, f64::floor)
}

/// The smallest number of two digits that is no smaller.
pub(super) fn two_digits_above(value: f64) -> f64 {
    in_two_digits(value, f64::ceil)
}

fn in_two_digits(value: f64, round: impl Fn(f64) -> f64) -> f64 {
    if value <= 0.0 || !value.is_finite() {
        return value;
    }
    // Multiplied or divided by a power of ten that is exact: 0.38 stays what a person writes.
    let (mut digits, mut power) = (value, 0_i32);
    while digits >= 100.0 {
        digits /= 10.0;
        power += 1;
    }
    while digits < 10.0 {
        digits *= 10.0;
        power -= 1;
    }
    let scale = (0..power.abs()).fold(1.0, |scale, _| scale * 10.0);
    if power >= 0 { round(digits) * scale } else { round(digits) / scale }
}

/// Picoseconds as a span; beyond any run the longest that can be written.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "positive and saturating"
)]
fn span(ps: f64) -> Span {
    Span::from_ps((ps as u64).min(Time::MAX.as_ps() / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_digits_are_those_that_a_person_writes() {
        assert_eq!(two_digits_below(0.38911).to_string(), "0.38");
        assert_eq!(two_digits_below(0.0389).to_string(), "0.038");
        assert_eq!(two_digits_above(26_100_000_001.0).to_string(), "27000000000");
        assert_eq!(two_digits_below(0.1).to_string(), "0.1");
        assert_eq!(two_digits_above(90.0).to_string(), "90");
        assert_eq!(two_digits_below(0.0).to_string(), "0");
    }

    #[test]
    fn a_span_is_short() {
        assert_eq!(short(Span::from_ps(1_234_567)), Span::from_ps(1_230_000));
        assert_eq!(short(Span::from_ps(999)), Span::from_ps(999));
        assert_eq!(short(Span::from_ps(99_951)), Span::from_ps(100_000));
    }
}
