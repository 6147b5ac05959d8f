//! Streams: sources that send frame after frame from one host to another.
//!
//! ```text
//!   start           + interval       + 2 intervals      start + lifetime
//!     ├─ frame 0 ──────┼─ frame 1 ──────┼─ ... ────────────┤ the last one is last of the stream
//!     │███▌            │██████▌         │                       at once: all messages of a frame
//!     │█  █  █  ▌      │█ █ █ █ █ █ ▌   │                       even: spread over the interval
//! ```
//!
//! Each of the many streams of a host and class is a flow of its own ([`StreamId`]). A frame is cut
//! into messages of equal payload, except that the last carries the remainder. A stream of on and
//! off periods has messages without frames.
//!
//! Source: Yum et al. 2002, sections 5.2 and 6.2 (frames of 16,666 B on average, 30 a second, in
//! messages of 640 B); spread frames and the deviation: Yum, Kim and Das, "MediaWorm", HPCA 2000.
//!
//! Invariants: a frame starts only if its interval ends before or with the stream; the last message
//! of a stream is marked, if the end is known.

mod plan;

pub use plan::{
    DataPlan, DeadlinePlan, FirstFrame, FramePlan, FrameSizes, OnOffStream, Spread, StreamPlan,
};

use crate::StreamId;

/// Position of a message in its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamPart {
    /// Id of the stream.
    pub stream: StreamId,
    /// Frame, if the stream has frames.
    pub frame: Option<FramePart>,
    /// Whether it is the last message of the stream; never set in a stream without an end.
    pub is_last: bool,
}

/// Frame to which a message belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Number of the frame in its stream, from 0.
    pub number: u32,
    /// Number of messages of the frame.
    pub messages: std::num::NonZeroU32,
}
