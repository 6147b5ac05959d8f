//! Frames of streams against their deadlines.
//!
//! ```text
//!   frame       0        1        2          3        4
//!   arrives     a0       a1       a2         a3       a4
//!   deadline    -        a0 + T   a0 + 2 T   a2 + T   a2 + 2 T       frame 2 came after a0 + 2 T: a miss
//! ```
//!
//! A frame has arrived when all its messages have, in whatever order, and frames are judged in the
//! order of their numbers. The first sets the clock; every deadline is that of the frame before and
//! an interval, or after a miss the arrival of the missed frame and an interval. The share of
//! frames that miss is DMP, their mean lateness DMT.
//!
//! Such a miss is a record: a frame that is later against its own clock, `a - i T`, than all before
//! it. Of frames that are independent of each other and alike, frame `k` is a record with probability
//! `1 / k`, so that of `n` frames after `W` there miss `(H(W + n) - H(W)) / n`, whatever their
//! latencies ([`law_of_records`]). Therefore misses against a fixed clock, `a0 + i T + slack`,
//! and the time from one delivery to the next, stand beside it.
//!
//! Source: deadlines, DMP and DMT: Yum et al. 2002, section 6.2; mean and deviation of the
//! interval of delivery: Yum, Kim and Das 2000 (MediaWorm); records: Rényi 1962 (as in Arnold,
//! Balakrishnan and Nagaraja, "Records", 1998, section 2.5); the fixed clock: ours.
//!
//! Invariants: a frame with a message that policing dropped never arrives, and moves the clock on
//! by an interval; the first frames of each stream are not counted, as many as its plan says; a
//! stream takes the memory of its frames under way and of a few sums.

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

/// The streams of a run.
#[derive(Clone, Debug)]
pub struct Deadlines {
    /// By [`StreamId`]; nothing for a stream without frames.
    streams: Vec<Option<StreamFrames>>,
}

impl Deadlines {
    pub(super) fn new(plan: &Plan) -> Self {
        let stream =
            |stream: &crate::traffic::StreamPlan| stream.data.frames().map(StreamFrames::new);
        Self { streams: plan.streams().map(|(_, _, of)| stream(of)).collect() }
    }

    /// A message was created.
    pub(super) fn created(&mut self, part: StreamPart) {
        if let (Some(stream), Some(frame)) = (self.stream(part.stream), part.frame) {
            stream.created(frame);
        }
    }

    /// A message will never be delivered.
    pub(super) fn dropped(&mut self, part: StreamPart) {
        if let (Some(stream), Some(frame)) = (self.stream(part.stream), part.frame) {
            stream.dropped(frame);
        }
    }

    /// A message was delivered.
    pub(super) fn delivered(&mut self, part: StreamPart, now: Time) {
        if let (Some(stream), Some(frame)) = (self.stream(part.stream), part.frame) {
            stream.delivered(frame, now);
        }
    }

    fn stream(&mut self, stream: StreamId) -> Option<&mut StreamFrames> {
        self.streams[stream.index()].as_mut()
    }
}
