//! Traffic sources.
//!
//! Invariant: a source's packets depend only on its plan, the seed and, for a transport, the fate
//! of its packets; other sources do not change its random draws.

mod lengths;
mod receiver;
mod round_trip;
mod source;
mod transport;
mod window;

pub(crate) use source::Source;
pub(crate) use transport::Transport;

use gingham_entry::Ecn;
use gingham_kernel::Time;
use gingham_stripe::{Class, TAG_BYTES, TAG_BYTES_MAX, Tag};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Packet {
    /// Number in sending order, from 1; 0 before the packet is sent.
    pub(crate) number: u64,
    pub(crate) source: u16,
    pub(crate) channel: u8,
    pub(crate) bytes: u32,
    /// Number at its source, from 1; for a transport, the segment number.
    pub(crate) of_source: u64,
    pub(crate) class: Class,
    /// Frame number, from 1; 0 without frames.
    pub(crate) frame: u32,
    pub(crate) ecn: Ecn,
    pub(crate) created: Time,
    pub(crate) sent: Time,
    /// Tag; set only if the order is guaranteed.
    pub(crate) tag: Option<Tag>,
}

impl Packet {
    #[expect(clippy::cast_possible_truncation, reason = "eight")]
    pub(crate) const BYTES_OF_COPY: u32 = (TAG_BYTES_MAX - TAG_BYTES) as u32;

    pub(crate) fn is_copy(&self) -> bool {
        self.tag.is_some_and(|tag| tag.repair_of.is_some())
    }
}

#[derive(Debug, Default)]
pub(crate) struct Turn {
    next: usize,
}

impl Turn {
    /// Returns the next packet of the backlogged sources, in round-robin order. A source waits
    /// while `may_go` rejects even its shortest length, except for its first packet.
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
