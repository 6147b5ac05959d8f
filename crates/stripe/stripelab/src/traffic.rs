//! Sources: what is sent when.
//!
//! ```text
//!   clocked sources ──tick──► packets ──► queue before the sender ──► sender
//!   backlogged ones ◄───────────── pull ─────────────────────────────┘ when the queue is empty
//!   transports      ◄── acknowledgements, timeouts ──► packets
//! ```
//!
//! Invariant: what a source sends depends on its plan, the seed and, for a transport, on what came
//! of its packets; a source more or less changes nobody else's draws.

mod far_end;
mod lengths;
mod round_trip;
mod source;
mod transport;
mod window;

pub(crate) use source::Source;
pub(crate) use transport::Transport;

use gingham_entry::Ecn;
use gingham_kernel::Time;
use gingham_stripe::{Class, TAG_BYTES, TAG_BYTES_MAX, Tag};

/// A packet from its source to whoever reads it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    /// Its number in the pipe, in the order of sending, from 1; 0 before.
    pub(crate) number: u64,
    /// Its source.
    pub(crate) source: u16,
    /// The channel it went on.
    pub(crate) channel: u8,
    pub(crate) bytes: u32,
    /// Its number at its source; of a transport, its segment.
    pub(crate) of_source: u64,
    /// How it goes over the channels.
    pub(crate) class: Class,
    /// The frame that it is a part of, from 1; 0 where there are none.
    pub(crate) frame: u32,
    /// Whether it can be marked, and is.
    pub(crate) ecn: Ecn,
    /// When its source gave it.
    pub(crate) created: Time,
    /// When it went on its channel.
    pub(crate) sent: Time,
    /// What stands before it on the wire, where the order is guaranteed.
    pub(crate) tag: Option<Tag>,
}

impl Packet {
    /// The tag of a copy is so much longer than another.
    #[expect(clippy::cast_possible_truncation, reason = "eight")]
    pub(crate) const BYTES_OF_COPY: u32 = (TAG_BYTES_MAX - TAG_BYTES) as u32;

    /// Whether it is a copy of one that was lost.
    pub(crate) fn is_copy(&self) -> bool {
        self.tag.is_some_and(|tag| tag.repair_of.is_some())
    }
}

/// Backlogged sources, asked in turn.
#[derive(Debug, Default)]
pub(crate) struct Turn {
    next: usize,
}

impl Turn {
    /// Returns a packet of the next backlogged source that has one. A source waits while `may_go`
    /// rejects even its shortest packet. Its first packet is returned in any case, and dropped
    /// later.
    pub(crate) fn pull(
        &mut self,
        sources: &mut [Source],
        now: Time,
        may_go: impl Fn(u32) -> bool,
    ) -> Option<Packet> {
        let count = sources.len();
        for step in 0..count {
            let index = (self.next + step) % count;
            if let Some(packet) = sources[index].pull(now, &may_go) {
                self.next = (index + 1) % count;
                return Some(packet);
            }
        }
        None
    }
}
