//! Runs whose workload ends: schedules, classes that stop, streams with a lifetime.
//!
//! Such a run has no steady state. Its window is the whole workload, and its main result is the
//! makespan: the time from zero to the last delivery.

use super::advice;
use super::view::RunView;
use crate::mechanisms::admission::columns::refusals;
use gingham_kernel::{Span, Time};
use gingham_net::ClassId;
use gingham_net::measure::{ClassReport, WarmUp};

/// Describes the delivered messages of a class, if the workload of the run ended.
pub(super) fn of_class(view: &RunView<'_>, id: ClassId, of: &ClassReport) -> Option<String> {
    view.report.makespan()?;
    let sent = delivered(of.followed_messages, of.dropped.messages);
    Some(format!("{sent}{}{}", refused(view, [id]), scope(view)))
}

/// Describes the delivered messages of the run and its makespan, if the workload ended.
pub(super) fn of_run(view: &RunView<'_>, makespan: Span) -> String {
    let classes = || ClassId::first(view.plan().classes.len());
    let dropped = classes().map(|id| view.report.class(id).dropped.messages).sum();
    let messages = delivered(view.report.followed_messages(), dropped);
    let by = advice::short(makespan.as_ps());
    format!("{messages}, the last after {by}{}{}", refused(view, classes()), scope(view))
}

/// Describes the delivery of the created messages; policing dropped `dropped` of them.
fn delivered(messages: u64, dropped: u64) -> String {
    if dropped > 0 {
        let created = messages + dropped;
        let plural = if created == 1 { "" } else { "s" };
        return format!(
            "{messages} of {created} message{plural} delivered, {dropped} dropped by policing"
        );
    }
    match messages {
        0 => "no message was sent".to_owned(),
        1 => "the only message was delivered".to_owned(),
        _ => format!("all {messages} messages were delivered"),
    }
}

/// Describes the streams of these classes that admission control refused, if any.
fn refused(view: &RunView<'_>, classes: impl IntoIterator<Item = ClassId>) -> String {
    let refusals = classes.into_iter().filter_map(|id| refusals(view, id));
    refusals.fold(String::new(), |all, refusals| all + "; " + &refusals)
}

/// Describes the part of the workload covered by the results.
fn scope(view: &RunView<'_>) -> String {
    let start = view.report.window().start;
    if view.report.window().warm_up == WarmUp::Whole || start == Time::ZERO {
        "; the results describe the whole workload, not a steady state".to_owned()
    } else {
        let from = advice::short(start.as_ps());
        format!("; the results describe messages created from {from} on, not a steady state")
    }
}
