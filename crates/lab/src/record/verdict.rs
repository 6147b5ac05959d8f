//! Verdicts: what a run's numbers are worth, why, and what to do next.

use super::ClassSummary;
use super::advice::{self, percent, two_digits_below};
use super::classes::estimate_of;
use super::view::RunView;
use crate::compile::quantity_name;
use crate::error::DeadlockReport;
use gingham_kernel::Time;
use gingham_model::measure::{ClassReport, WarmUp};
use gingham_model::{ClassId, Status};
use schemars::JsonSchema;
use serde::Serialize;

/// A load at which a saturated class should be safe, as a fraction of what the network took.
const SAFE: f64 = 0.95;
/// Channels of a cycle that a sentence names.
const CHANNELS_NAMED: usize = 3;

/// What a result is worth, from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The numbers describe a steady state, each mean with its interval.
    Ok,
    /// A class was offered more than the network took, and its source queues grew: its accepted
    /// load says what the network takes, its latencies only how long the run was.
    Saturated,
    /// Too little was measured: no interval, no end of the warm-up in the first half of the run, or
    /// an interval wider than `stop.relative_width`.
    NotConverged,
    /// The run was ended before its time, as by Ctrl-C; the numbers hold for what was simulated.
    Interrupted,
    /// Packets wait for each other for ever; the numbers describe no steady state.
    Deadlocked,
}

impl Verdict {
    /// The name in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Saturated => "saturated",
            Self::NotConverged => "not-converged",
            Self::Interrupted => "interrupted",
            Self::Deadlocked => "deadlocked",
        }
    }
}

/// What a verdict on a class needs to know beside what was measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) class: ClassId,
    /// Whether the class creates messages whatever becomes of them.
    pub(super) open_loop: bool,
    pub(super) offered_load: Option<f64>,
    pub(super) generated_load: f64,
    pub(super) accepted_load: f64,
    /// Whether policing makes its messages wait.
    pub(super) is_delayed: bool,
}

/// The verdict of a class and its reason.
pub(super) fn of_class(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> (Verdict, String) {
    if asked.open_loop && of.is_saturated {
        return (Verdict::Saturated, saturated(asked));
    }
    match shortage(view, of) {
        Some(reason) => (Verdict::NotConverged, reason),
        None => (Verdict::Ok, sound(view, asked, of)),
    }
}

fn saturated(asked: Asked) -> String {
    let Asked { accepted_load, generated_load, is_delayed, .. } = asked;
    let took = format!(
        "the network{} took a load of {accepted_load:.3} of {:.3}; source queues grew, so that \
         latencies depend on the length of the run",
        if is_delayed { ", behind the policing of the class," } else { "" },
        asked.offered_load.unwrap_or(generated_load)
    );
    let class = asked.class.index();
    let or_allow_more = if is_delayed {
        format!(", or let more pass with traffic.{class}.policing.rate")
    } else {
        String::new()
    };
    match asked.offered_load {
        Some(_) => format!(
            "{took}: offer less, such as traffic.{class}.load = {}{or_allow_more}",
            two_digits_below(SAFE * accepted_load)
        ),
        None => format!("{took}: offer less{or_allow_more}"),
    }
}

/// What there is too little of, if anything, and how much more would do.
fn shortage(view: &RunView<'_>, of: &ClassReport) -> Option<String> {
    let more = |factor: f64| advice::more(view, factor);
    if of.created.messages == 0 {
        return Some(format!("its sources created no message in the window: {}", more(10.0)));
    }
    if view.report.window().warm_up == WarmUp::TooShort {
        let drifts = "the mean latency still drifts in the second half of the run";
        let factor = factor_for_interval(of.followed_messages);
        return Some(format!("{drifts}: {}", advice::longer_in_all(view, factor)));
    }
    let quantity = view.plan().stop.quantity;
    let estimate = estimate_of(of, quantity);
    if [estimate, of.latency_ps].iter().any(|known| known.is_none_or(|it| it.half_width.is_none()))
    {
        let followed = of.followed_messages;
        return Some(format!(
            "{followed} messages are too few for an interval, which takes 20 batches of them: {}",
            more(factor_for_interval(followed))
        ));
    }
    let wanted = view.plan().stop.relative_width?;
    let known = estimate.and_then(|estimate| estimate.relative_width()).unwrap_or(f64::INFINITY);
    (known > wanted).then(|| {
        let name = quantity_name(quantity);
        let (known_percent, wanted_percent) = (percent(known), percent(wanted));
        let narrower = known / wanted;
        format!(
            "the half-width of {name} is {known_percent} of the mean, and {wanted_percent} was wanted: {}",
            more(narrower * narrower)
        )
    })
}

/// How much longer a run must last for some messages in each of 20 batches.
#[expect(clippy::cast_precision_loss, reason = "advice")]
fn factor_for_interval(followed_messages: u64) -> f64 {
    (200.0 / followed_messages.max(1) as f64).max(2.0)
}

fn sound(view: &RunView<'_>, asked: Asked, of: &ClassReport) -> String {
    let follows = match (asked.open_loop, of.dropped.messages) {
        (false, _) if asked.is_delayed => {
            "the class sent all that its policing and the network took".to_owned()
        }
        (false, _) => "the class sent all that the network took".to_owned(),
        (true, 0) => "accepted load follows the offered load".to_owned(),
        (true, dropped) => format!(
            "accepted load follows the offered load less {dropped} messages that policing dropped"
        ),
    };
    let known = of.latency_ps.and_then(|latency| latency.relative_width());
    let known = known.map_or_else(String::new, |width| {
        format!(", and the mean latency is known to {}", percent(width))
    });
    let censored = match of.censored_messages() {
        0 => String::new(),
        messages => format!(
            "; {messages} messages were not followed to their delivery, without which the mean is too \
             good: raise stop.follow beyond {}",
            view.plan().stop.follow
        ),
    };
    format!("{follows}{known}{censored}")
}

/// The verdict of a run and its reason.
pub(super) fn of_run(view: &RunView<'_>, classes: &[ClassSummary]) -> (Verdict, String) {
    match view.simulation.status() {
        Status::Deadlocked(cycle) => {
            let report = DeadlockReport::of_run(view.plan(), cycle);
            (Verdict::Deadlocked, deadlocked(view.plan().switching.packets(), &report.channels))
        }
        Status::Running => (Verdict::Interrupted, interrupted(view, classes)),
        Status::Finished | Status::Drained => worst(classes),
    }
}

fn deadlocked(packets: &str, channels: &[String]) -> String {
    let named = channels[..channels.len().min(CHANNELS_NAMED)].join(", ");
    let rest = if channels.len() > CHANNELS_NAMED { ", ..." } else { "" };
    format!(
        "{} {packets} wait for each other in a cycle ({named}{rest}): choose routes that are proven \
         free of deadlock, such as routing.algorithm = up-down",
        channels.len()
    )
}

fn interrupted(view: &RunView<'_>, classes: &[ClassSummary]) -> String {
    let [now, time] = [view.simulation.now(), view.plan().stop.time].map(Time::as_ps);
    let of = format!("ended at {} of {}", advice::short(now), advice::short(time));
    let window = view.report.window();
    let [start, end] = [window.start, window.end].map(|at| advice::short(at.as_ps()));
    match worst(classes) {
        _ if window.start == window.end => format!("{of}, before anything was measured"),
        (Verdict::Ok, _) => {
            format!(
                "{of}; the numbers hold for the window from {start} to {end}, with their intervals"
            )
        }
        (_, reason) => format!("{of}; in the window from {start} to {end} {reason}"),
    }
}

fn worst(classes: &[ClassSummary]) -> (Verdict, String) {
    let verdict = classes.iter().map(|class| class.verdict).max().unwrap_or(Verdict::Ok);
    let mut of = classes.iter().filter(|class| class.verdict == verdict);
    let Some(first) = of.next() else { return (verdict, "nothing was sent".to_owned()) };
    if verdict == Verdict::Ok {
        let less = match classes.iter().map(|class| class.messages_dropped).sum() {
            0 => String::new(),
            dropped => format!(" less {dropped} messages that policing dropped"),
        };
        let reason = format!(
            "accepted load follows the offered load{less}, and every mean has its interval"
        );
        return (verdict, reason);
    }
    let others: Vec<_> = of.map(|class| format!("`{}`", class.name)).collect();
    let likewise = match others.len() {
        0 => String::new(),
        1..=4 => format!("; likewise {}", others.join(", ")),
        many => format!("; likewise {many} other classes"),
    };
    (verdict, format!("class `{}`: {}{likewise}", first.name, first.verdict_reason))
}
