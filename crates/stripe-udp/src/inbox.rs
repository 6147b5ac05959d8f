//! What has come on a channel and is not taken yet, with the time at which the kernel had it.
//!
//! ```text
//!   batch 0  | datagram | datagram | dat. |   at 17.2 ms     what the kernel has put together came
//!   batch 1  | datagram |                     at 17.5 ms     at one time
//! ```

use std::io::{self, IoSliceMut};
use std::net::SocketAddr;

use gingham_stripe::Instant;
use quinn_udp::RecvMeta;

use crate::clock::Moment;
use crate::socket::ChannelSocket;

/// Batches in a call: at 1 Gbit/s one that the kernel has not put together is there every 12 us, so
/// that 16 of them are less than what a wake-up costs.
const BATCHES: usize = 16;

/// What the kernel puts together is at most an IP packet.
const BATCH_BYTES: usize = 1 << 16;

/// A batch, and where it came from.
#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) at: Instant,
    pub(crate) from: SocketAddr,
    bytes: &'a mut [u8],
    stride: usize,
}

impl<'a> Batch<'a> {
    /// How many datagrams it has.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len().div_ceil(self.stride)
    }

    /// One datagram after the other.
    pub(crate) fn datagrams(self) -> impl Iterator<Item = &'a mut [u8]> {
        self.bytes.chunks_mut(self.stride)
    }
}

/// What has come on a channel.
pub(crate) struct Inbox {
    bytes: Vec<u8>,
    metas: [RecvMeta; BATCHES],
    times: [Instant; BATCHES],
    next: usize,
    filled: usize,
    empty_at: Instant,
}

impl std::fmt::Debug for Inbox {
    /// Without the megabyte of buffers.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { next, filled, empty_at, .. } = self;
        f.debug_struct("Inbox")
            .field("next", next)
            .field("filled", filled)
            .field("empty_at", empty_at)
            .finish_non_exhaustive()
    }
}

impl Inbox {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            bytes: vec![0; BATCHES * BATCH_BYTES],
            metas: [RecvMeta::default(); BATCHES],
            times: [now; BATCHES],
            next: 0,
            filled: 0,
            empty_at: now,
        }
    }

    /// Takes what the kernel has. What was here is over.
    pub(crate) fn fill(&mut self, socket: &ChannelSocket, moment: &Moment) -> io::Result<()> {
        (self.next, self.filled) = (0, 0);
        let mut chunks = self.bytes.chunks_mut(BATCH_BYTES);
        let mut buffers: [_; BATCHES] =
            std::array::from_fn(|_| IoSliceMut::new(chunks.next().unwrap_or_default()));
        match socket.receive(&mut buffers, &mut self.metas) {
            Ok(filled) => self.filled = filled,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        for (at, meta) in self.times.iter_mut().zip(&self.metas[..self.filled]) {
            *at = moment.of_stamp(meta.timestamp, self.empty_at);
        }
        if self.filled < BATCHES {
            self.empty_at = moment.now;
        }
        Ok(())
    }

    /// Whether the kernel may have more.
    pub(crate) const fn was_full(&self) -> bool {
        self.filled == BATCHES
    }

    /// When the next batch came.
    pub(crate) fn next_at(&self) -> Option<Instant> {
        (self.next < self.filled).then(|| self.times[self.next])
    }

    /// The next batch.
    pub(crate) fn take(&mut self) -> Option<Batch<'_>> {
        let at = self.next_at()?;
        let meta = &self.metas[self.next];
        let bytes = &mut self.bytes[self.next * BATCH_BYTES..][..meta.len];
        self.next += 1;
        Some(Batch { at, from: meta.addr, bytes, stride: meta.stride.max(1) })
    }
}
