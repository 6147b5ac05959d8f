//! Where a channel begins: what it carries, and what its sender knows of the buffer at its end.
//!
//! ```text
//!   blocks since time zero    sent ──── free ────► limit ──── updates under way ────► holds + came free
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

/// The beginning of a channel.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    /// What it carries; it is idle if that is nothing.
    pub(crate) sending: Option<Sending>,
    /// How it chooses among its lanes.
    pub(crate) arbiter: LaneArbiter,
    /// By lane: the input port of the last packet that started, at a switch.
    pub(crate) last_port: Vec<Option<usize>>,
    /// By lane: its buffer, where outputs of switches have some.
    pub(crate) buffer: Option<Vec<OutputLane>>,
    /// By lane; none where a host takes in all that comes.
    pub(crate) credits: Option<Vec<Credits>>,
    /// The same in place of credits, where receivers pause lanes.
    pub(crate) pausing: Option<Pausing>,
    /// Bytes of packets that have left.
    pub(crate) sent_bytes: u64,
    /// Total time spent waiting for credits.
    pub(crate) wait: CreditWait,
}

/// A packet on a channel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sending {
    pub(crate) packet: JourneyId,
    pub(crate) started: Time,
    pub(crate) wire_bytes: u64,
    pub(crate) from: Leaves,
}

/// What a packet leaves as its tail goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Leaves {
    Host,
    /// The buffer of an input and lane.
    Input {
        channel: ChannelId,
        lane: u8,
    },
    /// The buffer of the output's own lane.
    Output {
        lane: u8,
    },
}

/// What a sender knows of a buffer, in blocks since time zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Credits {
    /// What it sent.
    pub(crate) sent: u64,
    /// Up to which count it may.
    pub(crate) limit: u64,
    /// What the buffer holds.
    pub(crate) capacity: u64,
    /// Whether a host has asked in vain since the last update.
    pub(crate) is_awaited: bool,
}

impl Credits {
    pub(crate) fn new(capacity: u64) -> Self {
        Self { sent: 0, limit: capacity, capacity, is_awaited: false }
    }

    /// Blocks that the sender knows to be free.
    pub(crate) fn free(&self) -> u64 {
        self.limit - self.sent
    }
}

impl Output {
    /// Whether the sender knows of so many free blocks on a lane.
    pub(crate) fn has_space(&self, lane: u8, blocks: u64) -> bool {
        if let Some(pausing) = &self.pausing {
            return !pausing.lanes[usize::from(lane)].is_paused;
        }
        let Some(credits) = &self.credits else { return true };
        let credits = &credits[usize::from(lane)];
        assert!(blocks <= credits.capacity, "a buffer holds the longest packet");
        credits.free() >= blocks
    }

    /// Picoseconds up to `end` with the sender held by flow control: any lane was paused or, with
    /// credits, a packet was ready but had none.
    pub(crate) fn stopped_ps(&self, end: Time) -> u64 {
        self.pausing.as_ref().map_or(self.wait.until_ps(end), |of| of.paused_ps(end))
    }

    /// Data bytes that have started before `end`, which is not past.
    pub(crate) fn bytes_before(&self, end: Time, bytes: ByteTime) -> u64 {
        let of_sending =
            |sending: &Sending| bytes.started(end.since(sending.started)).min(sending.wire_bytes);
        self.sent_bytes + self.sending.as_ref().map_or(0, of_sending)
    }

    /// The same of those that start at `end`, too.
    pub(crate) fn bytes_until(&self, end: Time, bytes: ByteTime) -> u64 {
        self.bytes_before(end + Span::from_ps(1), bytes)
    }
}
