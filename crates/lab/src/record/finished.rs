//! Runs whose workload ends: schedules, classes that stop, streams with a lifetime.
//!
//! Such a run has no steady state. Its window is the whole workload, and its main result is the
//! makespan: the time from zero to the last delivery.

use super::advice;
use super::view::RunView;
use gingham_kernel::{Span, Time};
use gingham_model::measure::{ClassReport, WarmUp};

/// Describes the delivered messages of a class, if the workload of the run ended.
pub(super) fn of_class(view: &RunView<'_>, of: &ClassReport) -> Option<String> {
    view.report.makespan()?;
    Some(format!("{}{}", delivered(of.followed_messages), scope(view)))
}

/// Describes the delivered messages of the run and its makespan, if the workload ended.
pub(super) fn of_run(view: &RunView<'_>, makespan: Span) -> String {
    let messages = delivered(view.report.followed_messages());
    let by = advice::short(makespan.as_ps());
    format!("{messages}, the last after {by}{}", scope(view))
}

fn delivered(messages: u64) -> String {
    match messages {
        0 => "no message was sent".to_owned(),
        1 => "the only message was delivered".to_owned(),
        _ => format!("all {messages} messages were delivered"),
    }
}

/// States the part of the workload that the results describe.
fn scope(view: &RunView<'_>) -> String {
    let start = view.report.window().start;
    if view.report.window().warm_up == WarmUp::Whole || start == Time::ZERO {
        "; the results describe the whole workload, not a steady state".to_owned()
    } else {
        let from = advice::short(start.as_ps());
        format!("; the results describe messages created from {from} on, not a steady state")
    }
}
