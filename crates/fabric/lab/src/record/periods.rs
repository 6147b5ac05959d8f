//! Check that a window has enough on-off periods to determine the mean load.
//!
//! Messages within an on-period are evenly spaced, so the uncertainty of an on-off source's load
//! depends only on its periods. Let `n` sources have rates `r_i`, and let `e_i` be the relative
//! standard error of the on-time of source `i` in a window (an alternating renewal process,
//! [`gingham_net::traffic::PeriodPlan::load_error`]). The relative standard error of the class's
//! load is then
//! ```text
//!   sqrt( sum (r_i e_i)^2 ) / sum r_i
//! ```
//!
//! *(ours)* Twice this value must be at most a tenth. Each source must have at least 40 pairs of
//! on-periods and off-periods on average: two in each of the 20 batches of a confidence interval,
//! because otherwise the batches are neither independent nor nearly normal. Replies depend on the
//! periods of their requests.

use super::advice::percent;
use super::verdict::Asked;
use super::view::RunView;
use gingham_kernel::Span;
use gingham_net::traffic::{ArrivalPlan, DataPlan, MessagePlan, PeriodPlan, SourcePlan};

const PERIODS_MIN: f64 = 40.0;
const WIDTH_MAX: f64 = 0.1;
/// Factor between window lengths in the search for an advised window.
const STEP: f64 = 1.1;
const STEPS_MAX: usize = 200;

/// Periods of an on-off source, and its rate.
type Weighted<'a> = (&'a PeriodPlan, f64);

pub(super) fn too_few_periods(view: &RunView<'_>, asked: Asked) -> Option<(String, f64)> {
    let plan = view.plan();
    let byte_ps = |source: &SourcePlan| plan.byte_ps(plan.fabric.endpoint_channel(source.endpoint));
    let sources = &plan.classes[plan.reply_root(asked.class).index()].sources;
    let weigh = |source| periods_of(source, byte_ps(source));
    let sources: Vec<Weighted<'_>> = sources.iter().filter_map(weigh).collect();
    lack(&sources, view.report.class_window(asked.class).span())
}

fn lack(sources: &[Weighted<'_>], window: Span) -> Option<(String, f64)> {
    let longest = sources.iter().map(|(periods, _)| periods.cycle()).max()?;
    let periods = |factor: f64| factor * real(window) / real(longest).max(1.0);
    let width = |factor: f64| 2.0 * load_error(sources, scaled(window, factor));
    let is_enough = |factor: f64| periods(factor) >= PERIODS_MIN && width(factor) <= WIDTH_MAX;
    if is_enough(1.0) {
        return None;
    }
    let reason = if periods(1.0) < PERIODS_MIN {
        format!(
            "the window holds {:.1} on-off periods of a source on average, and {PERIODS_MIN} are needed",
            periods(1.0)
        )
    } else {
        let [width, most] = [width(1.0), WIDTH_MAX].map(percent);
        format!(
            "with so few on-off periods the offered load is known only to within {width}, and {most} is needed"
        )
    };
    let factors = std::iter::successors(Some(1.0), |factor| Some(factor * STEP));
    let mut factors = factors.take(STEPS_MAX).skip_while(|factor| !is_enough(*factor));
    Some((reason, factors.next().unwrap_or(f64::INFINITY).min(LONGEST)))
}

const LONGEST: f64 = 1e6;

fn load_error(sources: &[Weighted<'_>], span: Span) -> f64 {
    let errors = sources.iter().map(|(periods, rate)| rate * periods.load_error(span));
    let square: f64 = errors.map(|error| error * error).sum();
    square.sqrt() / sources.iter().map(|(_, rate)| rate).sum::<f64>()
}

fn periods_of(source: &SourcePlan, byte_ps: f64) -> Option<Weighted<'_>> {
    match &source.messages {
        MessagePlan::Drawn(drawn) => match &drawn.arrivals {
            ArrivalPlan::OnOff { load, periods } => Some((periods, load / byte_ps)),
            _ => None,
        },
        MessagePlan::Stream(stream) => match &*stream.data {
            DataPlan::OnOff(of) => Some((&of.periods, stream.data.bytes_per_ps())),
            DataPlan::Frames(_) => None,
        },
        MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => None,
    }
}

#[expect(clippy::cast_precision_loss, reason = "advice")]
fn real(span: Span) -> f64 {
    span.as_ps() as f64
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn scaled(span: Span, factor: f64) -> Span {
    Span::from_ps((real(span) * factor) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_net::traffic::PeriodLaw;

    fn plan() -> PeriodPlan {
        let [on_mean, off_mean] = [20_000, 80_000].map(Span::from_ns);
        PeriodPlan { on_mean, off_mean, law: PeriodLaw::Exponential }
    }

    fn lack_of(sources: usize, cycles: u64) -> Option<(String, f64)> {
        let plan = plan();
        lack(&vec![(&plan, 1.0); sources], Span::from_ns(100_000 * cycles))
    }

    #[test]
    fn source_without_periods_needs_none() {
        assert_eq!(lack(&[], Span::from_ns(1)), None);
    }

    #[test]
    fn each_source_needs_forty_periods() {
        // The load is known precisely, but 39 periods are too few for 20 batches.
        let (_, factor) = lack_of(1_000, 39).unwrap();
        assert!((factor - STEP).abs() < 1e-9, "{factor}");
        assert_eq!(lack_of(1_000, 40), None);
        // 1.1^39 = 41.1 is the first power above 40.
        let (_, factor) = lack_of(1_000, 1).unwrap();
        assert!((41.0..41.3).contains(&factor), "{factor}");
    }

    #[test]
    fn pooled_periods_must_fix_the_load_within_10_percent() {
        // With on-periods of 20 us and off-periods of 80 us on average, the variance of the on-time
        // in a window T is 2 (20 x 80)^2 / 100^3 us = 5.12 us x T. Over 40 pairs of periods, the
        // standard deviation is 143.1 us for a mean of 800 us. Twice this value is 35.8 % for one
        // source, and 10 % for n = 12.8 sources.
        assert!(lack_of(12, 40).is_some());
        assert_eq!(lack_of(13, 40), None);
        // One source needs a window that is 12.8 times as long; 1.1^27 = 13.1.
        let (_, factor) = lack_of(1, 40).unwrap();
        assert!((13.0..13.2).contains(&factor), "{factor}");
    }
}
