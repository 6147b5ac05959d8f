//! Deadlines of the frames of streams.
//!
//! ```text
//!   frame       0        1        2          3        4
//!   arrives     a0       a1       a2         a3       a4
//!   deadline    -        a0 + T   a0 + 2 T   a2 + T   a2 + 2 T       frame 2 came after a0 + 2 T: a miss
//! ```
//!
//! A frame has arrived when all its messages have; frames are judged in the order of their numbers.
//! The first frame sets the clock. Every other deadline is one interval after that of the frame
//! before or, after a miss, after the arrival of the missed frame. DMP is the fraction of frames
//! that miss their deadline, DMT their mean lateness.
//!
//! A miss is a record: a frame later against its own clock, `a - i T`, than all before it. If
//! frames are independent and identically distributed, frame `k` is a record with probability `1 /
//! k`: the expected fraction of misses among `n` frames after `W` is `(H(W + n) - H(W)) / n` for
//! any distribution of latencies ([`law_of_records`]). Misses against a fixed clock,
//! `a0 + i T + slack`, and the time between deliveries are therefore also reported.
//!
//! Source: deadlines, DMP and DMT: Yum et al. 2002, section 6.2; mean and deviation of the interval
//! of delivery: Yum, Kim and Das 2000 (MediaWorm); records: Rényi 1962 (as in Arnold, Balakrishnan
//! and Nagaraja, "Records", 1998, section 2.5); the fixed clock: ours.
//!
//! Invariants: a frame with a message dropped by policing never arrives, and advances the clock by
//! an interval; memory is used only for frames in progress and a few sums.

mod clock;
mod report;
mod stream;
#[cfg(test)]
mod tests;

pub use report::{ClassDeadlines, StreamReport, law_of_records, over_streams};

use crate::traffic::StreamPart;
use crate::{Plan, StreamId};
use gingham_kernel::Time;
use stream::StreamFrames;

/// Deadlines of all streams.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// Frames of each stream, by [`StreamId`]; `None` for a stream without frames.
    streams: Vec<Option<StreamFrames>>,
}

impl Deadlines {
    pub(super) fn new(plan: &Plan) -> Self {
        let stream =
            |stream: &crate::traffic::StreamPlan| stream.data.frames().map(StreamFrames::new);
        Self { streams: plan.streams().map(|(_, _, of)| stream(of)).collect() }
    }

    pub(super) fn created(&mut self, part: StreamPart) {
        if let (Some(stream), Some(frame)) = (self.stream(part.stream), part.frame) {
            stream.created(frame);
        }
    }

    pub(super) fn dropped(&mut self, part: StreamPart) {
        if let (Some(stream), Some(frame)) = (self.stream(part.stream), part.frame) {
            stream.dropped(frame);
        }
    }

    pub(super) fn delivered(&mut self, part: StreamPart, now: Time) {
        if let (Some(stream), Some(frame)) = (self.stream(part.stream), part.frame) {
            stream.delivered(frame, now);
        }
    }

    fn stream(&mut self, stream: StreamId) -> Option<&mut StreamFrames> {
        self.streams[stream.index()].as_mut()
    }
}
