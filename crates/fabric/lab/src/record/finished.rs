//! Runs whose workload ends: schedules, classes that stop, and streams with a lifetime.

use super::advice;
use super::view::RunView;
use crate::mechanisms::admission::columns::refusals;
use gingham_kernel::{Span, Time};
use gingham_net::ClassId;
use gingham_net::measure::{ClassReport, WarmUp};

pub(super) fn of_class(view: &RunView<'_>, id: ClassId, of: &ClassReport) -> Option<String> {
    view.report.makespan()?;
    let sent = delivered(of.followed_messages, of.dropped.messages);
    Some(format!("{sent}{}{}", refused(view, [id]), scope(view)))
}

pub(super) fn of_run(view: &RunView<'_>, makespan: Span) -> String {
    let classes = || ClassId::first(view.plan().classes.len());
    let dropped = classes().map(|id| view.report.class(id).dropped.messages).sum();
    let messages = delivered(view.report.followed_messages(), dropped);
    let by = advice::short(makespan.as_ps());
    format!("{messages}, the last after {by}{}{}", refused(view, classes()), scope(view))
}

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

fn refused(view: &RunView<'_>, classes: impl IntoIterator<Item = ClassId>) -> String {
    let refusals = classes.into_iter().filter_map(|id| refusals(view, id));
    refusals.fold(String::new(), |all, refusals| all + "; " + &refusals)
}

fn scope(view: &RunView<'_>) -> String {
    let start = view.report.window().start;
    if view.report.window().warm_up == WarmUp::Whole || start == Time::ZERO {
        "; the results describe the whole workload, not a steady state".to_owned()
    } else {
        let from = advice::short(start.as_ps());
        format!("; the results describe messages created from {from} on, not a steady state")
    }
}
