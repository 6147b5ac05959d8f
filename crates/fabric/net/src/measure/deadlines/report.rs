//! Deadline results, by stream and by class.
//!
//! Confidence intervals treat the streams of a class as replications (ratio estimator, Student's
//! t), although contending streams are not independent.

use super::Deadlines;
use super::clock::FrameSums;
use super::stream::StreamFrames;
use crate::{ClassId, Plan, StreamId};
use gingham_results::{Estimate, Ratio, student_t};

/// Deadline results of one stream, over the counted frames (after the warm-up) unless stated
/// otherwise.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct StreamReport {
    /// Identifier of the stream.
    pub stream: StreamId,
    /// Class of the stream.
    pub class: ClassId,
    /// Frames with at least one created message, including the warm-up.
    pub begun_frames: u32,
    /// Frames with a message dropped by policing, including the warm-up.
    pub lost_frames: u32,
    /// Warm-up frames that have arrived.
    pub warm_up_frames: u32,
    /// Counted frames that have arrived.
    pub frames: u32,
    /// Counted frames that arrived after their deadline.
    pub missed_frames: u32,
    /// Mean lateness of missed frames; `None` without misses.
    pub late_mean_ps: Option<f64>,
    /// Expected fraction of missed frames if frames were independent.
    pub law: Option<f64>,
    /// Frames that arrived after the fixed clock's deadline plus slack.
    pub missed_fixed_frames: u32,
    /// Mean time between consecutive frame arrivals.
    pub interval_mean_ps: Option<f64>,
    /// Standard deviation of the time between frame arrivals.
    pub interval_deviation_ps: Option<f64>,
}

/// Deadline results over all streams of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ClassDeadlines {
    /// Number of streams.
    pub streams: usize,
    /// Warm-up frames that have arrived.
    pub warm_up_frames: u64,
    /// Counted frames that have arrived.
    pub frames: u64,
    /// Frames with a message dropped by policing.
    pub lost_frames: u64,
    /// Counted frames that arrived after their deadline.
    pub missed_frames: u64,
    /// Fraction of missed frames (deadline missing probability).
    pub missed: Option<Estimate>,
    /// Mean lateness of missed frames (deadline missing time).
    pub late_ps: Option<Estimate>,
    /// Expected fraction of missed frames if frames were independent.
    pub law: Option<f64>,
    /// Fraction of frames that arrived after the fixed clock's deadline plus slack.
    pub missed_fixed: Option<Estimate>,
    /// Mean time between consecutive frame arrivals.
    pub interval_ps: Option<Estimate>,
    /// Standard deviation of the time between frame arrivals within a stream.
    pub interval_deviation_ps: Option<f64>,
}

/// Returns the expected fraction of records (frames later than all previous frames) among `frames`
/// frames after `before` earlier frames, if lateness is independent and identically distributed.
/// The very first frame is not a record. `None` without frames.
pub fn law_of_records(before: u32, frames: u32) -> Option<f64> {
    (frames > 0).then(|| records(before, frames) / f64::from(frames))
}

fn records(before: u32, frames: u32) -> f64 {
    let first = u64::from(before.max(1)) + 1;
    let last = u64::from(before) + u64::from(frames);
    (first..=last).rev().map(|number| 1.0 / real(number.into())).sum()
}

impl Deadlines {
    /// Returns the results of each stream; `None` for a stream without frames.
    pub fn streams<'a>(
        &'a self,
        plan: &'a Plan,
    ) -> impl Iterator<Item = Option<StreamReport>> + 'a {
        let of = |(index, ((class, _, _), frames)): (usize, (_, &Option<StreamFrames>))| {
            Some(frames.as_ref()?.report(StreamId::new(index), class))
        };
        plan.streams().zip(&self.streams).enumerate().map(of)
    }

    /// Returns the results of a class; `None` if no stream of the class has frames.
    pub fn class(&self, plan: &Plan, class: ClassId) -> Option<ClassDeadlines> {
        let streams = plan.streams().zip(&self.streams);
        let own = streams.filter(|((of, _, _), _)| *of == class);
        let own: Vec<&StreamFrames> = own.filter_map(|(_, frames)| frames.as_ref()).collect();
        let interval_ps = real(own.first()?.clock.interval().as_ps().into());
        let all =
            |of: fn(&StreamFrames) -> u32| own.iter().map(|frames| u64::from(of(frames))).sum();
        let over = |of: fn(&FrameSums) -> Ratio| {
            over_streams(&own.iter().map(|frames| of(&frames.clock.sums)).collect::<Vec<_>>())
        };
        let counted: u64 = all(|frames| frames.clock.sums.frames);
        let expected: f64 = own.iter().map(|frames| frames.records()).sum();
        let excess =
            over(|sums| Ratio { sum: signed(sums.excess_ps), over: sums.intervals.into() });
        Some(ClassDeadlines {
            streams: own.len(),
            warm_up_frames: all(|frames| frames.clock.warm_up_frames()),
            frames: counted,
            lost_frames: all(|frames| frames.lost),
            missed_frames: all(|frames| frames.clock.sums.missed),
            missed: over(|sums| ratio(sums.missed.into(), sums.frames)),
            late_ps: over(|sums| ratio(real(sums.late_ps), sums.missed)),
            law: (counted > 0).then(|| expected / real(counted.into())),
            missed_fixed: over(|sums| ratio(sums.missed_fixed.into(), sums.frames)),
            interval_ps: excess.map(|of| Estimate { mean: interval_ps + of.mean, ..of }),
            interval_deviation_ps: deviation_within(&own),
        })
    }
}

impl StreamFrames {
    fn report(&self, stream: StreamId, class: ClassId) -> StreamReport {
        let sums = &self.clock.sums;
        let mean = |sum: f64, over: u32| (over > 0).then(|| sum / f64::from(over));
        let interval_ps = real(self.clock.interval().as_ps().into());
        let warm_up_frames = self.clock.warm_up_frames();
        StreamReport {
            stream,
            class,
            begun_frames: self.begun,
            lost_frames: self.lost,
            warm_up_frames,
            frames: sums.frames,
            missed_frames: sums.missed,
            late_mean_ps: mean(real(sums.late_ps), sums.missed),
            law: law_of_records(warm_up_frames, sums.frames),
            missed_fixed_frames: sums.missed_fixed,
            interval_mean_ps: mean(signed(sums.excess_ps), sums.intervals)
                .map(|excess| interval_ps + excess),
            interval_deviation_ps: deviation_within(&[self]),
        }
    }

    fn records(&self) -> f64 {
        records(self.clock.warm_up_frames(), self.clock.sums.frames)
    }
}

fn deviation_within(streams: &[&StreamFrames]) -> Option<f64> {
    let (mut squares, mut degrees) = (0.0, 0.0);
    for sums in streams.iter().map(|frames| &frames.clock.sums).filter(|sums| sums.intervals > 1) {
        let (sum, count) = (signed(sums.excess_ps), f64::from(sums.intervals));
        squares += real(sums.excess_squared_ps) - sum * sum / count;
        degrees += count - 1.0;
    }
    (degrees > 0.0).then(|| libm::sqrt((squares / degrees).max(0.0)))
}

/// Returns the mean over streams, treated as replications. The confidence interval requires at
/// least two streams with data.
pub fn over_streams(streams: &[Ratio]) -> Option<Estimate> {
    let filled: Vec<Ratio> = streams.iter().filter(|stream| stream.over > 0.0).copied().collect();
    let sum: f64 = filled.iter().map(|stream| stream.sum).sum();
    let over: f64 = filled.iter().map(|stream| stream.over).sum();
    let mean = (over > 0.0).then(|| sum / over)?;
    let count = real(filled.len() as u128);
    let squares: f64 =
        filled.iter().map(|stream| stream.sum - mean * stream.over).map(|left| left * left).sum();
    let degrees = u32::try_from(filled.len() - 1).ok().filter(|degrees| *degrees > 0);
    let half_width = degrees.map(|degrees| {
        student_t(degrees) * libm::sqrt(squares / f64::from(degrees) / count) * count / over
    });
    Some(Estimate { mean, half_width })
}

fn ratio(sum: f64, over: u32) -> Ratio {
    Ratio { sum, over: over.into() }
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
fn real(value: u128) -> f64 {
    value as f64
}

#[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
fn signed(value: i128) -> f64 {
    value as f64
}
