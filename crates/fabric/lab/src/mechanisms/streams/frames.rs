//! How the frames of a class met their deadlines.
//!
//! Invariant: half-widths go over streams, as if they were replications
//! (`gingham_net::measure::Deadlines`).

use crate::record::classes::{PS_PER_NS, half_width, in_ns, mean};
use crate::record::view::RunView;
use gingham_net::ClassId;
use schemars::JsonSchema;
use serde::Serialize;

/// What the streams of a class made of their frames, from the beginning of the run to the end of the
/// window.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct FrameSummary {
    /// Its streams; none where its sources are hosts.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams: usize,
    /// Frames that arrived whole before the window ended and are not counted: the first of each
    /// stream.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames_warm_up: u64,
    /// Frames that arrived whole before the window ended and are counted.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames_counted: u64,
    /// Frames of which policing dropped a message, so that they never arrive.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames_lost: u64,
    /// Share of the frames counted that were later than their deadline (DMP): that of the frame before
    /// and an interval, or after a miss its arrival and an interval.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed: Option<f64>,
    /// Half-width of that share, over streams as if they were replications.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_half_width: Option<f64>,
    /// Mean lateness of the frames that missed their deadline (DMT), in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub deadline_late_mean_ns: Option<f64>,
    /// Half-width of the mean lateness, over streams.
    #[schemars(extend("x-unit" = "ns"))]
    pub deadline_late_half_width_ns: Option<f64>,
    /// The share that would miss if frames were independent of each other, whatever their latencies:
    /// the law of records.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_law: Option<f64>,
    /// Share of the frames counted that were later than a fixed clock and the slack: the arrival of the
    /// first frame of the stream, and an interval for each after it.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_fixed: Option<f64>,
    /// Half-width of that share, over streams.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_fixed_half_width: Option<f64>,
    /// Mean time from the delivery of a frame to that of the next one, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub frame_interval_mean_ns: Option<f64>,
    /// Half-width of the mean interval, over streams.
    #[schemars(extend("x-unit" = "ns"))]
    pub frame_interval_half_width_ns: Option<f64>,
    /// Standard deviation of the interval within streams, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub frame_interval_deviation_ns: Option<f64>,
}

impl FrameSummary {
    pub(crate) fn of(view: &RunView<'_>, id: ClassId) -> Self {
        let class = &view.plan().classes[id.index()];
        let streams = class.sources.iter().filter(|source| source.stream().is_some()).count();
        let deadlines = view.simulation.collector().deadlines();
        let Some(of) = deadlines.class(view.plan(), id) else {
            return Self { streams, ..Self::default() };
        };
        let [late, interval] = [of.late_ps, of.interval_ps].map(in_ns);
        Self {
            streams,
            frames_warm_up: of.warm_up_frames,
            frames_counted: of.frames,
            frames_lost: of.lost_frames,
            deadlines_missed: mean(of.missed),
            deadlines_missed_half_width: half_width(of.missed),
            deadline_late_mean_ns: mean(late),
            deadline_late_half_width_ns: half_width(late),
            deadlines_missed_law: of.law,
            deadlines_missed_fixed: mean(of.missed_fixed),
            deadlines_missed_fixed_half_width: half_width(of.missed_fixed),
            frame_interval_mean_ns: mean(interval),
            frame_interval_half_width_ns: half_width(interval),
            frame_interval_deviation_ns: of.interval_deviation_ps.map(|ps| ps / PS_PER_NS),
        }
    }
}
