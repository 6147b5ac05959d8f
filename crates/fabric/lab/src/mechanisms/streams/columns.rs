//! Table of streams.

use crate::record::messages::Names;
use crate::record::view::RunView;
use gingham_net::measure::StreamReport;
use gingham_net::{ClassId, traffic::SourcePlan, traffic::StreamPlan};
use gingham_results::{Builder, Table};

const PS_PER_NS: f64 = 1e3;
const PS_PER_S: f64 = 1e12;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Row<'a> {
    number: u64,
    class: ClassId,
    source: &'a SourcePlan,
    stream: &'a StreamPlan,
    frames: Option<StreamReport>,
}

pub(crate) fn table(names: &Names, view: &RunView<'_>) -> Table {
    let plan = view.plan();
    let deadlines = view.simulation.collector().deadlines();
    let rows: Vec<Row<'_>> = (0..)
        .zip(plan.streams().zip(deadlines.streams(plan)))
        .map(|(number, ((class, source, stream), frames))| Row {
            number,
            class,
            source,
            stream,
            frames,
        })
        .collect();
    columns(names, &rows)
}

pub(crate) fn columns(names: &Names, rows: &[Row<'_>]) -> Table {
    let Names { classes, endpoints } = names.clone();
    let columns = Builder::new(rows)
        .integers(("stream", ""), "running number of the stream in the run", |row| row.number)
        .words("class", "traffic class", classes, |row| row.class.index())
        .words("source", "sending host", endpoints.clone(), |row| row.source.endpoint.index())
        .words("destination", "receiving host", endpoints, |row| row.stream.destination.index())
        .reals(("mean_bytes_per_s", "B/s"), "mean rate of its payload, as planned", |row| {
            row.stream.data.bytes_per_ps() * PS_PER_S
        })
        .reals(
            ("solicited_bytes_per_s", "B/s"),
            "rate that it solicits from an admission control",
            |row| row.stream.solicited_bytes_per_ps() * PS_PER_S,
        )
        .integers(
            ("frames_begun", "frames"),
            "frames that had begun when the window ended",
            count(|frames| frames.begun_frames),
        )
        .integers(
            ("frames_lost", "frames"),
            "frames that lost a message to policing",
            count(|frames| frames.lost_frames),
        )
        .integers(
            ("frames_warm_up", "frames"),
            "frames that arrived whole in the window and before it, and are not counted: the first ones",
            count(|frames| frames.warm_up_frames),
        )
        .integers(
            ("frames_counted", "frames"),
            "frames that arrived whole before the window ended, and are counted",
            count(|frames| frames.frames),
        )
        .integers(
            ("frames_missed", "frames"),
            "of these, later than their deadline",
            count(|frames| frames.missed_frames),
        );
    shares(columns)
        .build(
            "streams",
            "one row per stream, from the beginning of the run to the end of the window; columns of frames apply \
             only to streams that have frames",
        )
}

fn count(of: fn(&StreamReport) -> u32) -> impl Fn(&Row<'_>) -> u64 {
    move |row| row.frames.as_ref().map_or(0, |frames| u64::from(of(frames)))
}

fn shares<'a, 'r>(columns: Builder<'a, Row<'r>>) -> Builder<'a, Row<'r>> {
    let share = |of: fn(&StreamReport) -> u32| {
        move |row: &Row<'_>| {
            let frames = row.frames.as_ref().filter(|frames| frames.frames > 0)?;
            Some(f64::from(of(frames)) / f64::from(frames.frames))
        }
    };
    let ns = |of: fn(&StreamReport) -> Option<f64>| {
        move |row: &Row<'_>| row.frames.as_ref().and_then(of).map(|ps| ps / PS_PER_NS)
    };
    columns
        .known(
            ("deadlines_missed", "1"),
            "share of those counted that were later than their deadline (DMP)",
            share(|frames| frames.missed_frames),
        )
        .known(
            ("deadline_late_mean_ns", "ns"),
            "mean lateness of those that missed their deadline (DMT)",
            ns(|frames| frames.late_mean_ps),
        )
        .known(
            ("deadlines_missed_law", "1"),
            "share that would miss if frames were independent of each other: the law of records",
            |row| row.frames.as_ref().and_then(|frames| frames.law),
        )
        .known(
            ("deadlines_missed_fixed", "1"),
            "share of those counted that were later than a fixed clock and the slack",
            share(|frames| frames.missed_fixed_frames),
        )
        .known(
            ("frame_interval_mean_ns", "ns"),
            "mean time from the delivery of a frame to that of the next one",
            ns(|frames| frames.interval_mean_ps),
        )
        .known(
            ("frame_interval_deviation_ns", "ns"),
            "standard deviation of that time",
            ns(|frames| frames.interval_deviation_ps),
        )
}
