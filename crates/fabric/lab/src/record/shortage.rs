//! Reasons why a run is too short, and the length that it needs.
//!
//! ```text
//!   no message ─► few latencies ─► few on-off periods ─► still in warm-up ─► no confidence interval
//!     ─► wide interval ─► a trend ─► undetectable growth ─► wider than requested
//! ```
//!
//! Only the first applicable reason is reported, because it makes the later checks less reliable.
//! The advised length is sufficient for all applicable reasons. The error rates of these checks are
//! in `docs/concepts/measurement.md`.

use super::advice::{self, Need, percent};
use super::classes::estimate_of;
use super::periods::too_few_periods;
use super::verdict::Asked;
use super::view::RunView;
use crate::compile::quantity_name;
use gingham_net::measure::{ClassReport, WarmUp};

/// Relative half-width of the confidence interval above which the mean latency counts as unknown.
const WIDE: f64 = 0.2;
/// Smallest change of latency or backlog over the window that counts as a trend, as a fraction of
/// the mean.
const MATTERS: f64 = 0.1;
const LEFT_BEHIND: f64 = 0.05;
/// Number of independent messages that usually determines the mean latency to within a tenth. If
/// the interval is wider in spite of this number, latencies are correlated.
const MESSAGES_FOR_BURSTS: u64 = 500;
/// Number of half-widths of the undelivered share that should usually fit below [`LEFT_BEHIND`].
const SAFE_HALF_WIDTHS: f64 = 2.0;
/// Smallest and largest factor for lengthening a run with a trend.
const LONGER: [f64; 2] = [2.0, 10.0];

/// Minimum length of a window, in mean network latencies, if a growing backlog is to indicate
/// saturation. In a shorter window, the backlog grows even in a network that carries its load.
const LATENCIES_MIN: f64 = 5.0;

type Lack = (String, Need);

pub(super) fn shortage(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> Option<String> {
    let mut lacks = lacks(view, asked, of);
    let needs: Vec<Need> = lacks.iter().map(|(_, need)| *need).collect();
    let (reason, _) = (!lacks.is_empty()).then(|| lacks.swap_remove(0))?;
    let longer = advice::longer(view, asked.class, &needs);
    Some(format!("{reason}: {longer}{}", or_less(view, asked, of)))
}

fn lacks(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> Vec<Lack> {
    if of.created.messages == 0 {
        let reason = "its sources created no message in the window".to_owned();
        return vec![(reason, Need::Window(10.0))];
    }
    let mut lacks: Vec<Lack> = too_short(view, asked, of).into_iter().collect();
    let periods = too_few_periods(view, asked);
    lacks.extend(periods.map(|(reason, factor)| (reason, Need::Window(factor))));
    let for_backlog = factor_for_backlog(view, asked, of);
    let first = factor_for_interval(of.followed_messages).max(for_backlog);
    if view.report.class_window(asked.class).warm_up == WarmUp::TooShort {
        let drifts = "the mean latency still drifts in the second half of the run";
        lacks.push((drifts.to_owned(), Need::Run(first)));
    }
    let estimate = estimate_of(of, view.plan().stop.quantity);
    if [estimate, of.latency_ps].iter().any(|known| known.is_none_or(|it| it.half_width.is_none()))
    {
        let followed = of.followed_messages;
        let reason = format!(
            "{followed} messages are too few for an interval, which takes 20 batches of them"
        );
        lacks.push((reason, Need::Window(first)));
        return lacks;
    }
    let growth = unseen_growth(asked, of);
    let growth = growth.map(|(reason, factor)| (reason, factor.max(for_backlog)));
    let others = [wide(of), trend(asked, of), growth, wider_than_asked(view, of)];
    let needs = others.into_iter().flatten();
    lacks.extend(needs.map(|(reason, factor)| (reason, Need::Window(factor))));
    lacks
}

/// Reports a window without deliveries, or with only a few mean network latencies, during which the
/// network still fills.
pub(super) fn too_short(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> Option<Lack> {
    let window_ps = real(view.report.class_window(asked.class).span().as_ps());
    let latency_ps = of.network_latency_ps.map(|latency| latency.mean);
    // The mean needs a message that is both created and delivered in the window.
    let least_ps = || view.report.least_network_latency_ps(asked.class);
    let Some(latency_ps) = latency_ps.or_else(least_ps) else {
        let reason = "no message was delivered".to_owned();
        return Some((reason, Need::Window(LONGER[1])));
    };
    let needed_ps = LATENCIES_MIN * latency_ps;
    (asked.open_loop && window_ps < needed_ps).then(|| {
        let reason = format!(
            "the window lasts for {:.1} mean network latencies, and {LATENCIES_MIN} are needed",
            window_ps / latency_ps
        );
        (reason, Need::Window(needed_ps / window_ps.max(1.0)))
    })
}

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

fn unseen_growth(asked: Asked, of: &ClassReport) -> Option<(String, f64)> {
    let left = of.left_behind?;
    let most = left.mean + left.half_width?;
    (asked.open_loop && most > LEFT_BEHIND).then(|| {
        let [most_percent, enough] = [most, LEFT_BEHIND].map(percent);
        let reason = format!(
            "the backlog may grow by up to {most_percent} of what is created, for all that the run shows, and \
             {enough} is too much"
        );
        // A longer run leaves the undelivered share unchanged and shrinks only its half-width.
        let safe = left.mean.max(0.0) + SAFE_HALF_WIDTHS * (most - left.mean);
        (reason, (safe / LEFT_BEHIND).clamp(LONGER[0], LONGER[1]))
    })
}

fn or_less(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> String {
    match asked.offered_load {
        Some(_)
            if asked.open_loop
                && too_short(view, asked, of).is_none()
                && !advice::has_ended(view, asked.class)
                && looks_overloaded(of) =>
        {
            let class = asked.class.index();
            format!("; if that does not help, the load is too high (traffic.{class}.load)")
        }
        _ => String::new(),
    }
}

fn looks_overloaded(of: &ClassReport) -> bool {
    let rises = |rise: Option<f64>| rise.is_some_and(|rise| rise > MATTERS);
    let grows = of.left_behind.is_some_and(|left| left.mean > LEFT_BEHIND);
    let bursts = of.followed_messages >= MESSAGES_FOR_BURSTS && wide(of).is_some();
    rises(of.latency_trend) || rises(of.backlog_trend) || grows || bursts
}

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

fn factor_for_interval(followed_messages: u64) -> f64 {
    (200.0 / real(followed_messages.max(1))).max(2.0)
}

fn factor_for_backlog(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> f64 {
    let (true, Some(latency)) = (asked.open_loop, of.latency_ps) else { return 1.0 };
    let created = real(of.created.messages);
    let window_ps = real(view.report.class_window(asked.class).span().as_ps().max(1));
    messages_for_backlog(created, created * latency.mean / window_ps) / created
}

/// Returns the number of messages that rules out a growing backlog, for a run of `created` messages
/// with `in_flight` in flight. The number in flight has a Poisson distribution, with its square
/// root as the standard deviation; its values at the ends of a long batch are independent. With N
/// messages in 20 batches, the undelivered share therefore varies by 2.09 sqrt(20 * 2 * in flight)
/// / N. The first messages meet little traffic, so the number in flight is raised to correct their
/// low latencies.
fn messages_for_backlog(created: f64, in_flight: f64) -> f64 {
    let later = in_flight * (1.0 + 10.0 / created);
    SAFE_HALF_WIDTHS * 2.09 * (40.0 * later).sqrt() / LEFT_BEHIND
}

#[expect(clippy::cast_precision_loss, reason = "advice")]
fn real(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compile::compile;
    use crate::scenario::{Overrides, ScenarioSource};
    use gingham_net::ClassId;
    use gingham_net::measure::Estimate;
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

    fn found(change: impl Fn(&mut ClassReport)) -> ClassReport {
        let overrides = Overrides::default();
        let source = ScenarioSource::parse("two.toml", TWO, Path::new("."), &overrides).unwrap();
        let compiled = compile(&source, true).unwrap();
        let simulation = gingham_engine::start(Arc::clone(&compiled.plan));
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
    fn interval_above_20_percent_needs_quadratic_time() {
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
    fn undetected_backlog_growth_is_limited_to_5_percent() {
        let of = |mean, half_width, open_loop| {
            let of = found(|of| of.left_behind = Some(Estimate { mean, half_width }));
            unseen_growth(asked(open_loop), &of)
        };
        assert_eq!(of(-0.01, Some(0.05), true), None);
        assert_eq!(of(0.01, Some(0.2), false), None);
        assert_eq!(of(0.01, None, true), None);
        // The share of 3 % plus twice its half-width of 12 % is 27 %, 5.4 times the limit of 5 %.
        let (reason, factor) = of(0.03, Some(0.12), true).unwrap();
        assert!(reason.starts_with("the backlog may grow by up to 15 % of what is created"));
        assert!((factor - 5.4).abs() < 1e-9);
    }

    #[test]
    fn messages_for_backlog_follow_from_messages_in_flight() {
        // 2 * 2.09 * sqrt(40 * 4 * 1.01) / 0.05
        assert!((messages_for_backlog(1000.0, 4.0) - 1062.7).abs() < 0.1);
        // A run of only ten messages underestimates the number in flight by up to half.
        assert!((messages_for_backlog(10.0, 2.0) - 1057.5).abs() < 0.1);
    }

    #[test]
    fn overload_shows_only_in_latency_or_backlog() {
        let of = |change: fn(&mut ClassReport)| looks_overloaded(&found(change));
        let known = |mean, half_width| Some(Estimate { mean, half_width: Some(half_width) });
        assert!(!of(|_| ()));
        assert!(!looks_overloaded(&found(|of| {
            of.latency_ps = known(2543.0, 0.0);
            of.left_behind = known(0.0, 0.2);
            of.latency_trend = Some(-0.5);
        })));
        assert!(of(|of| of.latency_trend = Some(0.2)));
        assert!(of(|of| of.backlog_trend = Some(0.2)));
        let wide = |messages| {
            looks_overloaded(&found(|of| {
                of.latency_ps = known(100.0, 30.0);
                of.followed_messages = messages;
            }))
        };
        assert_eq!([wide(100), wide(1000)], [false, true]);
        assert!(looks_overloaded(&found(|of| of.left_behind = known(0.06, 0.1))));
    }

    #[test]
    fn trend_above_10_percent_matters() {
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
        // A falling backlog is harmless, and the backlog of a closed-loop class depends on the
        // network.
        assert_eq!(of(None, Some(-3.0), true), None);
        assert_eq!(of(None, Some(3.0), false), None);
    }
}
