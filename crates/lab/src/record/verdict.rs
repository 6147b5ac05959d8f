//! Verdicts: what a run's numbers are worth.

use super::ClassSummary;
use gingham_model::Status;
use serde::Serialize;

/// What a result is worth, from best to worst.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The numbers describe a steady state.
    Ok,
    /// A class was offered more than the network took.
    Saturated,
    /// Too little was measured for an interval.
    NotConverged,
    /// The run was ended before its end.
    Interrupted,
    /// Worms wait for each other for ever.
    Deadlocked,
}

/// The verdict of a run and its reason.
pub(super) fn of_run(status: &Status, classes: &[ClassSummary]) -> (Verdict, String) {
    match status {
        Status::Deadlocked(_) => {
            let reason = "worms wait for each other in a circle; choose a routing algorithm whose \
                          proof succeeds, such as up-down";
            (Verdict::Deadlocked, reason.to_owned())
        }
        Status::Running => {
            let reason = "ended before its time; the numbers hold for what was simulated";
            (Verdict::Interrupted, reason.to_owned())
        }
        Status::Finished | Status::Drained => worst(classes),
    }
}

fn worst(classes: &[ClassSummary]) -> (Verdict, String) {
    let verdict = classes.iter().map(|class| class.verdict).max().unwrap_or(Verdict::Ok);
    let of: Vec<_> = classes
        .iter()
        .filter(|class| class.verdict == verdict)
        .map(|class| format!("`{}`", class.name))
        .collect();
    let (of, was) = match &of[..] {
        [one] => (format!("class {one}"), "was"),
        several => (format!("classes {}", several.join(", ")), "were"),
    };
    let reason = match verdict {
        Verdict::Saturated => format!(
            "{of} {was} offered more than the network took and its source queues grew: \
             latencies depend on the length of the run; lower the load"
        ),
        Verdict::NotConverged => {
            format!("{of} delivered too little for an interval; let the run last longer (stop)")
        }
        _ => "accepted load follows the offered load, and every mean has its interval".to_owned(),
    };
    (verdict, reason)
}
