//! Frames of a class and their deadlines.
//!
//! Confidence intervals are computed over streams: each stream is one replication
//! (`gingham_net::measure::Deadlines`).

use crate::record::classes::{PS_PER_NS, half_width, in_ns, mean};
use crate::record::view::RunView;
use gingham_net::ClassId;
use schemars::JsonSchema;
use serde::Serialize;

/// Frame statistics of a class's streams, from time zero to the end of the window. Half-widths are
/// those of 95 % confidence intervals; each stream is one replication.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct FrameSummary {
    /// Number of streams of the class; 0 for a class without streams.
    #[schemars(extend("x-unit" = "streams"))]
    pub streams: usize,
    /// Number of frames excluded as warm-up: the first frames of each stream that arrived
    /// completely before the window ended.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames_warm_up: u64,
    /// Number of counted frames: they arrived completely before the window ended, after the
    /// warm-up.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames_counted: u64,
    /// Number of frames that never arrive, because policing dropped a message of the frame.
    #[schemars(extend("x-unit" = "frames"))]
    pub frames_lost: u64,
    /// Share of the counted frames that arrived after their deadline (DMP). The deadline is one
    /// interval after the deadline of the previous frame, or after this frame's arrival if it
    /// missed its deadline.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed: Option<f64>,
    /// Half-width of the 95 % confidence interval of `deadlines_missed`.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_half_width: Option<f64>,
    /// Mean lateness of the frames that missed their deadline (DMT), in nanoseconds after the
    /// deadline.
    #[schemars(extend("x-unit" = "ns"))]
    pub deadline_late_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `deadline_late_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub deadline_late_half_width_ns: Option<f64>,
    /// Share of frames that would miss their deadline if frame latencies were independent, whatever
    /// their distribution: the law of records.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_law: Option<f64>,
    /// Share of the counted frames that arrived later than a fixed clock plus the slack. The clock
    /// starts at the arrival of the stream's first frame, and advances by one interval for each
    /// later frame.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_fixed: Option<f64>,
    /// Half-width of the 95 % confidence interval of `deadlines_missed_fixed`.
    #[schemars(extend("x-unit" = "1"))]
    pub deadlines_missed_fixed_half_width: Option<f64>,
    /// Mean time between the deliveries of successive frames of a stream, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub frame_interval_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `frame_interval_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub frame_interval_half_width_ns: Option<f64>,
    /// Standard deviation of the frame interval within streams, in nanoseconds.
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
