//! Streams: sources that send frame after frame from one host to another.
//!
//! ```text
//!   start           + interval       + 2 intervals      start + lifetime
//!     ├─ frame 0 ──────┼─ frame 1 ──────┼─ ... ────────────┤ the last message is flagged
//!     │███▌            │██████▌         │                       at once: all messages of a frame
//!     │█  █  █  ▌      │█ █ █ █ █ █ ▌   │                       even: spread over the interval
//! ```
//!
//! Each stream is a separate flow ([`StreamId`]); a host may have many streams in a class. A frame
//! consists of messages of equal payload, except that the last message carries the remainder.
//!
//! Source: Yum et al. 2002, sections 5.2 and 6.2; spread frames and the deviation of intervals:
//! Yum, Kim and Das, "MediaWorm", HPCA 2000.
//!
//! Invariants: a frame starts only if its interval ends no later than the stream. The last message
//! of a stream is flagged, if the end of the stream is known.

mod plan;

pub use plan::{
    DataPlan, DeadlinePlan, FirstFrame, FramePlan, FrameSizes, OnOffStream, Spread, StreamPlan,
};

use crate::StreamId;

/// Position of a message in its stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamPart {
    /// Identifier of the stream.
    pub stream: StreamId,
    /// Frame of the message; `None` for a stream without frames.
    pub frame: Option<FramePart>,
    /// Whether the message is the last of the stream; never set in a stream without an end.
    pub is_last: bool,
}

/// Frame of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Index of the frame in its stream.
    pub number: u32,
    /// Number of messages in the frame.
    pub messages: std::num::NonZeroU32,
}
