//! Tables for plots: histogram of latencies, and series over time.

use super::load::Capacity;
use super::view::RunView;
use gingham_net::ClassId;
use gingham_net::measure::{Bar, Step};
use gingham_results::{Builder, Table};

type Of<T> = (usize, T);

fn names(view: &RunView<'_>) -> Vec<String> {
    view.plan().classes.iter().map(|class| class.name.clone()).collect()
}

fn rows<T>(view: &RunView<'_>, of_class: impl Fn(ClassId) -> Vec<T>) -> Vec<Of<T>> {
    let rows_of = |id: ClassId| of_class(id).into_iter().map(move |row| (id.index(), row));
    ClassId::first(view.plan().classes.len()).flat_map(rows_of).collect()
}

pub(super) fn histogram(view: &RunView<'_>) -> Table {
    histogram_columns(names(view), &rows(view, |id| view.report.histogram(id)))
}

pub(super) fn histogram_columns(classes: Vec<String>, rows: &[Of<Bar>]) -> Table {
    Builder::new(rows)
        .words("class", "traffic class", classes, |(class, _)| *class)
        .integers(("from_ps", "ps"), "shortest latency counted", |(_, bar)| bar.from.as_ps())
        .integers(("below_ps", "ps"), "end of the bar: shorter than this", |(_, bar)| {
            bar.below.as_ps()
        })
        .integers(
            ("messages", "messages"),
            "messages created in the window with such a latency",
            |row| row.1.messages,
        )
        .build(
            "histogram",
            "one row per class and bar of the histogram of latencies; empty bars are left out",
        )
}

#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct LoadedStep {
    step: Step,
    generated_load: f64,
    accepted_load: f64,
}

pub(super) fn series(view: &RunView<'_>) -> Table {
    let steps = |id: ClassId| {
        let capacity = Capacity::of(view.plan(), id);
        let loaded = |step: Step| {
            let span = step.to.since(step.from);
            let generated_load = capacity.load(step.created.bytes, span);
            LoadedStep {
                step,
                generated_load,
                accepted_load: capacity.load(step.delivered.bytes, span),
            }
        };
        view.report.series(id).into_iter().map(loaded).collect()
    };
    series_columns(names(view), &rows(view, steps))
}

pub(super) fn series_columns(classes: Vec<String>, rows: &[Of<LoadedStep>]) -> Table {
    Builder::new(rows)
        .words("class", "traffic class", classes, |(class, _)| *class)
        .integers(("from_ps", "ps"), "start of the step", |(_, row)| row.step.from.as_ps())
        .integers(("to_ps", "ps"), "end of the step", |(_, row)| row.step.to.as_ps())
        .reals(("generated_load", "1"), "load that the sources generated in it", |(_, row)| {
            row.generated_load
        })
        .reals(("accepted_load", "1"), "load delivered in it", |(_, row)| row.accepted_load)
        .integers(("messages_created", "messages"), "created in it", |(_, row)| {
            row.step.created.messages
        })
        .integers(("messages_delivered", "messages"), "delivered in it", |(_, row)| {
            row.step.delivered.messages
        })
        .known(("latency_mean_ns", "ns"), "mean latency of those created in it", |(_, row)| {
            row.step.latency_mean_ps.map(|ps| ps / 1e3)
        })
        .build("series", "one row per class and time step, from zero to the end of the window")
}
