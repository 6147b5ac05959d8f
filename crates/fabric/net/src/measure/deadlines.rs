//! Deadlines of stream frames.
//!
//! ```text
//!   frame       0        1        2          3        4
//!   arrives     a0       a1       a2         a3       a4
//!   deadline    -        a0 + T   a0 + 2 T   a2 + T   a2 + 2 T       frame 2 arrived after a0 + 2 T: a miss
//! ```
//!
//! A frame arrives with its last message; frames are judged in numerical order. The first frame
//! sets the clock. Each later deadline is one interval T after the previous deadline or, if the
//! previous frame missed its deadline, after the arrival of that frame.
//!
//! A miss is a record: the frame is later relative to its nominal time, `a - i T`, than all frames
//! before it. If frames are independent and identically distributed, the `k`-th frame is a record
//! with probability `1 / k`. The expected fraction of misses among `n` frames after `W` earlier
//! frames is then `(H(W + n) - H(W)) / n` for any latency distribution ([`law_of_records`]), where
//! `H` denotes harmonic numbers. Reports therefore also cover misses against a fixed clock, `a0 + i
//! T + slack`, and the time between arrivals.
//!
//! Sources: deadlines and misses: Yum et al. 2002, section 6.2; mean and deviation of the
//! delivery interval: Yum, Kim and Das 2000 (MediaWorm); records: Rényi 1962 (as in Arnold,
//! Balakrishnan and Nagaraja, "Records", 1998, section 2.5); fixed clock: ours.
//!
//! Invariants: a frame with a message dropped by policing never counts as arrived, and advances the
//! clock by one interval. Memory is proportional to the number of frames in progress.

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

/// Deadline statistics of all streams.
#[derive(Clone, Debug)]
pub struct Deadlines {
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
