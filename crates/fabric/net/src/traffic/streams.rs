//! Streams: sources that send frame after frame from one host to one other.
//!
//! ```text
//!   start           + interval       + 2 intervals      start + lifetime
//!     ├─ frame 0 ──────┼─ frame 1 ──────┼─ ... ────────────┤ the last one is last of the stream
//!     │███▌            │██████▌         │                       at once: all messages of a frame
//!     │█  █  █  ▌      │█ █ █ █ █ █ ▌   │                       even: spread over the interval
//! ```
//!
//! A class of streams has many sources a host, each a flow of its own ([`StreamId`]). The sizes of
//! frames are those of a trace, which wraps around, or drawn from a normal law; a frame is cut into
//! messages of one payload, of which the last carries what is left. A stream of on and off periods
//! has messages and no frames.
//!
//! Source: Yum et al. 2002, sections 5.2 and 6.2 (frames of 16,666 B on average, 30 a second, in
//! messages of 640 B); frames spread over their interval, and the deviation: Yum, Kim and Das,
//! "MediaWorm", HPCA 2000.
//!
//! Invariants: a stream has whole frames only: one begins where its interval ends before the stream
//! does, or as it does; a message knows its frame, and the last one of a stream that it is the last,
//! where the end is known.

mod plan;
mod sender;
#[cfg(test)]
mod tests;

pub use plan::{
    DataPlan, DeadlinePlan, FirstFrame, FramePlan, FrameSizes, OnOffStream, Spread, StreamPlan,
};
pub(super) use sender::Sender;

use crate::StreamId;

/// What a message of a stream is of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamPart {
    /// The stream.
    pub stream: StreamId,
    /// The frame, where the stream has frames.
    pub frame: Option<FramePart>,
    /// Whether it is the last message of the stream; never where a stream does not end.
    pub is_last: bool,
}

/// The frame of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Its number in the stream, from 0.
    pub number: u32,
    /// How many messages it is, at least 1.
    pub messages: std::num::NonZeroU32,
}
