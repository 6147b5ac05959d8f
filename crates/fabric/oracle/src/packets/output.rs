//! Sending end of a channel: the current transmission, and the sender's view of the buffer at the
//! other end.
//!
//! ```text
//!   blocks since time zero    sent ──── free ────► limit ──── updates on their way ────► capacity + freed
//! ```
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 7.9: credits are absolute.

use crate::credit_wait::CreditWait;
use crate::packets::host::Pausing;
use crate::packets::journey::JourneyId;
use crate::packets::switch::OutputLane;
use gingham_kernel::{ByteTime, Span, Time};
use gingham_net::LaneArbiter;
use gingham_topology::ChannelId;

#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) sending: Option<Sending>,
    pub(crate) arbiter: LaneArbiter,
    /// Input port of the last packet that was started on each lane of a switch output.
    pub(crate) last_port: Vec<Option<usize>>,
    pub(crate) buffer: Option<Vec<OutputLane>>,
    /// Credits of each lane; `None` if lanes are paused instead, or if the receiver is a host,
    /// which accepts every packet.
    pub(crate) credits: Option<Vec<Credits>>,
    pub(crate) pausing: Option<Pausing>,
    pub(crate) sent_bytes: u64,
    pub(crate) wait: CreditWait,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) packet: JourneyId,
    pub(crate) started: Time,
    pub(crate) wire_bytes: u64,
    pub(crate) from: Leaves,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaves {
    Host,
    Input {
        channel: ChannelId,
        lane: u8,
    },
    /// Output buffer of the same channel.
    Output {
        lane: u8,
    },
}

/// The sender's view of a buffer, in blocks since time zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credits {
    pub(crate) sent: u64,
    pub(crate) limit: u64,
    pub(crate) capacity: u64,
    /// Whether a host has found no space since the last update.
    pub(crate) is_awaited: bool,
}

impl Credits {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { sent: 0, limit: capacity, capacity, is_awaited: false }
    }

    pub(crate) fn free(&self) -> u64 {
        self.limit - self.sent
    }
}

impl Output {
    /// Returns whether at least `blocks` blocks are known to be free or, with pauses, whether the
    /// lane is not paused.
    pub(crate) fn has_space(&self, lane: u8, blocks: u64) -> bool {
        if let Some(pausing) = &self.pausing {
            return !pausing.lanes[usize::from(lane)].is_paused;
        }
        let Some(credits) = &self.credits else { return true };
        let credits = &credits[usize::from(lane)];
        assert!(blocks <= credits.capacity, "a buffer holds the longest packet");
        credits.free() >= blocks
    }

    /// Returns the total time up to `end`, in ps, when at least one lane was paused or, with
    /// credits, when packets were ready but lacked credits.
    pub(crate) fn stopped_ps(&self, end: Time) -> u64 {
        self.pausing.as_ref().map_or(self.wait.until_ps(end), |of| of.paused_ps(end))
    }

    pub(crate) fn bytes_before(&self, end: Time, bytes: ByteTime) -> u64 {
        let of_sending =
            |sending: &Sending| bytes.started(end.since(sending.started)).min(sending.wire_bytes);
        self.sent_bytes + self.sending.as_ref().map_or(0, of_sending)
    }

    pub(crate) fn bytes_until(&self, end: Time, bytes: ByteTime) -> u64 {
        self.bytes_before(end + Span::from_ps(1), bytes)
    }
}
