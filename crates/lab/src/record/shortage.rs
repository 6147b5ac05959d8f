//! What a run is too short for, if anything, and how much longer it should be.
//!
//! ```text
//!   no message ─► in the warm-up ─► no interval ─► wide interval ─► a trend ─► unseen growth ─► wider than asked
//! ```
//!
//! The first that holds is the reason of `not-converged`: those in front make those behind worth
//! less. `docs/concepts/measurement.md` says how often each is wrong.

use super::advice::{self, percent};
use super::classes::estimate_of;
use super::verdict::Asked;
use super::view::RunView;
use crate::compile::quantity_name;
use gingham_model::measure::{ClassReport, WarmUp};

/// A mean latency whose interval is wider, as a share of it, is not known.
const WIDE: f64 = 0.2;
/// Over the window a trend must move what it moves by this share of its mean to matter.
const MATTERS: f64 = 0.1;
/// A run must show that less of what is created stays behind than this share.
const LEFT_BEHIND: f64 = 0.05;
/// What bounds advice on trends: so many times as long, at the least and at the most.
const LONGER: [f64; 2] = [2.0, 10.0];

/// What there is too little of, if anything, and how much more would do.
pub(super) fn shortage(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> Option<String> {
    let more = |factor: f64| advice::more(view, asked.class, factor);
    if of.created.messages == 0 {
        return Some(format!("its sources created no message in the window: {}", more(10.0)));
    }
    if view.report.class_window(asked.class).warm_up == WarmUp::TooShort {
        let drifts = "the mean latency still drifts in the second half of the run";
        let factor = factor_for_interval(of.followed_messages);
        let longer = advice::longer_in_all(view, asked.class, factor);
        return Some(format!("{drifts}: {longer}{}", or_less(view, asked)));
    }
    let estimate = estimate_of(of, view.plan().stop.quantity);
    if [estimate, of.latency_ps].iter().any(|known| known.is_none_or(|it| it.half_width.is_none()))
    {
        let followed = of.followed_messages;
        return Some(format!(
            "{followed} messages are too few for an interval, which takes 20 batches of them: {}",
            more(factor_for_interval(followed))
        ));
    }
    let unsteady = wide(of).or_else(|| trend(asked, of)).or_else(|| unseen_growth(asked, of));
    if let Some((reason, factor)) = unsteady {
        return Some(format!("{reason}: {}{}", more(factor), or_less(view, asked)));
    }
    let (reason, factor) = wider_than_asked(view, of)?;
    Some(format!("{reason}: {}", more(factor)))
}

/// An interval that says hardly anything, and by what factor the run is too short for a better one.
fn wide(of: &ClassReport) -> Option<(String, f64)> {
    let known = of.latency_ps?.relative_width()?;
    (known > WIDE).then(|| {
        let (known_percent, wide) = (percent(known), percent(WIDE));
        let reason = format!(
            "the half-width of latency is {known_percent} of the mean, above {wide}: latencies come in \
             bursts that are long for this run"
        );
        (reason, known / WIDE * (known / WIDE))
    })
}

/// A trend over the window, and by what factor the run is too short for one that does not matter.
fn trend(asked: Asked, of: &ClassReport) -> Option<(String, f64)> {
    let matters = |rise: &f64| rise.abs() > MATTERS;
    let latency = of.latency_trend.filter(matters).map(|rise| ("latencies", rise));
    let backlog = of.backlog_trend.filter(|rise| asked.open_loop && *rise > MATTERS);
    let (what, rise) = latency.or_else(|| Some(("messages under way", backlog?)))?;
    let verb = if rise > 0.0 { "rise" } else { "fall" };
    let share = percent(rise.abs());
    let reason = format!("{what} {verb} by {share} of their mean over the window");
    Some((reason, (rise.abs() / MATTERS).clamp(LONGER[0], LONGER[1])))
}

/// A backlog that may grow by much without the run showing it, and by what factor it is too short.
fn unseen_growth(asked: Asked, of: &ClassReport) -> Option<(String, f64)> {
    let left = of.left_behind?;
    let most = left.mean + left.half_width?;
    (asked.open_loop && most > LEFT_BEHIND).then(|| {
        let [most_percent, enough] = [most, LEFT_BEHIND].map(percent);
        let reason = format!(
            "the backlog may grow by up to {most_percent} of what is created, for all that the run shows, and \
             {enough} is too much"
        );
        (reason, (most / LEFT_BEHIND * (most / LEFT_BEHIND)).clamp(LONGER[0], LONGER[1]))
    })
}

/// What else may help a class that creates messages whatever becomes of them.
fn or_less(view: &RunView<'_>, asked: Asked) -> String {
    match asked.offered_load {
        Some(_) if asked.open_loop && !advice::has_ended(view, asked.class) => {
            let class = asked.class.index();
            format!("; if that does not help, the load is too high (traffic.{class}.load)")
        }
        _ => String::new(),
    }
}

/// An interval that is wider than `stop.relative_width`, and by what factor the run is too short.
fn wider_than_asked(view: &RunView<'_>, of: &ClassReport) -> Option<(String, f64)> {
    let stop = &view.plan().stop;
    let wanted = stop.relative_width?;
    let estimate = estimate_of(of, stop.quantity);
    let known = estimate.and_then(|estimate| estimate.relative_width()).unwrap_or(f64::INFINITY);
    (known > wanted).then(|| {
        let name = quantity_name(stop.quantity);
        let (known_percent, wanted_percent) = (percent(known), percent(wanted));
        let reason = format!(
            "the half-width of {name} is {known_percent} of the mean, and {wanted_percent} was wanted"
        );
        (reason, known / wanted * (known / wanted))
    })
}

/// How much longer a run must last for some messages in each of 20 batches.
#[expect(clippy::cast_precision_loss, reason = "advice")]
fn factor_for_interval(followed_messages: u64) -> f64 {
    (200.0 / followed_messages.max(1) as f64).max(2.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::scenario::{Overrides, ScenarioSource};
    use gingham_model::ClassId;
    use gingham_model::measure::Estimate;
    use std::path::Path;
    use std::sync::Arc;

    const TWO: &str = r#"
        topology.generate.star.hosts = 2
        network.preset = "myrinet-1280"

        [[traffic]]
        load = 0.1
        length = { fixed = "512 B" }

        [stop]
        time = "10 ms"
    "#;

    /// What is found of a class before anything happens, but for this.
    fn found(change: impl Fn(&mut ClassReport)) -> ClassReport {
        let overrides = Overrides::default();
        let source = ScenarioSource::parse("two.toml", TWO, Path::new("."), &overrides).unwrap();
        let compiled = compile(&source, true).unwrap();
        let simulation = gingham_fabric::start(Arc::clone(&compiled.plan));
        let mut of = simulation.collector().report().class(ClassId::new(0));
        change(&mut of);
        of
    }

    fn asked(open_loop: bool) -> Asked {
        Asked {
            class: ClassId::new(0),
            open_loop,
            offered_load: Some(0.1),
            generated_load: 0.1,
            accepted_load: 0.1,
        }
    }

    #[test]
    fn an_interval_above_a_fifth_is_wide_and_takes_the_square_of_the_time() {
        let of = |half_width: Option<f64>| {
            let latency = Estimate { mean: 100.0, half_width };
            wide(&found(|of| of.latency_ps = Some(latency)))
        };
        assert_eq!(of(Some(20.0)), None);
        assert_eq!(of(None), None);
        let (reason, factor) = of(Some(60.0)).unwrap();
        assert!(reason.starts_with("the half-width of latency is 60 % of the mean, above 20 %"));
        assert!((factor - 9.0).abs() < 1e-9);
    }

    #[test]
    fn what_may_stay_behind_unseen_is_a_twentieth_at_most() {
        let of = |mean, half_width, open_loop| {
            let of = found(|of| of.left_behind = Some(Estimate { mean, half_width }));
            unseen_growth(asked(open_loop), &of)
        };
        assert_eq!(of(-0.01, Some(0.05), true), None);
        assert_eq!(of(0.01, Some(0.2), false), None);
        assert_eq!(of(0.01, None, true), None);
        let (reason, factor) = of(0.03, Some(0.12), true).unwrap();
        assert!(reason.starts_with("the backlog may grow by up to 15 % of what is created"));
        assert!((factor - 9.0).abs() < 1e-9);
    }

    #[test]
    fn a_trend_matters_from_a_tenth_on() {
        let of = |latency_trend, backlog_trend, open_loop| {
            let of = found(|of| {
                of.latency_trend = latency_trend;
                of.backlog_trend = backlog_trend;
            });
            trend(asked(open_loop), &of)
        };
        assert_eq!(of(None, None, true), None);
        assert_eq!(of(Some(0.09), Some(0.1), true), None);
        let over = "of their mean over the window";
        assert_eq!(
            of(Some(-0.4), None, true).unwrap(),
            (format!("latencies fall by 40 % {over}"), 4.0)
        );
        let (reason, factor) = of(None, Some(3.0), true).unwrap();
        assert_eq!((reason, factor), (format!("messages under way rise by 300 % {over}"), 10.0));
        // A backlog that falls empties; one of a class that waits for the network is its own.
        assert_eq!(of(None, Some(-3.0), true), None);
        assert_eq!(of(None, Some(3.0), false), None);
    }
}
