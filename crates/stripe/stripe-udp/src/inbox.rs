//! Received batches with kernel timestamps.
//!
//! ```text
//!   batch 0  | datagram | datagram | dat. |   at 17.2 ms
//!   batch 1  | datagram |                     at 17.5 ms
//! ```
//!
//! Datagrams coalesced by the kernel share a timestamp.

use std::io;
use std::net::SocketAddr;

use gingham_stripe::Instant;

use crate::clock::Moment;
use crate::link::{Arrival, Batches, Payload};

#[derive(Debug)]
pub(crate) struct Batch<'a> {
    pub(crate) at: Instant,
    pub(crate) payload: Payload,
    pub(crate) is_ours: bool,
    pub(crate) from: Option<SocketAddr>,
    pub(crate) ecn: u8,
    bytes: &'a mut [u8],
    stride: usize,
}

impl<'a> Batch<'a> {
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len().div_ceil(self.stride)
    }

    pub(crate) const fn bytes(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn datagrams(self) -> impl Iterator<Item = &'a mut [u8]> {
        self.bytes.chunks_mut(self.stride)
    }
}

#[derive(Default)]
pub(crate) struct Inbox {
    batch_bytes: usize,
    bytes: Vec<u8>,
    arrivals: Vec<Arrival>,
    times: Vec<Instant>,
    next: usize,
    filled: usize,
    empty_at: Instant,
}

impl std::fmt::Debug for Inbox {
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
    pub(crate) fn new(batches: Batches, now: Instant) -> Self {
        Self {
            batch_bytes: batches.bytes,
            bytes: vec![0; batches.count * batches.bytes],
            arrivals: vec![Arrival::default(); batches.count],
            times: vec![now; batches.count],
            next: 0,
            filled: 0,
            empty_at: now,
        }
    }

    pub(crate) fn fill(
        &mut self,
        receive: impl FnOnce(&mut [u8], &mut [Arrival]) -> io::Result<usize>,
        moment: &Moment,
    ) -> io::Result<()> {
        (self.next, self.filled) = (0, 0);
        match receive(&mut self.bytes, &mut self.arrivals) {
            Ok(filled) => self.filled = filled,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            Err(error) => return Err(error),
        }
        for (at, arrival) in self.times.iter_mut().zip(&self.arrivals[..self.filled]) {
            *at = moment.of_stamp(arrival.stamp, self.empty_at);
        }
        if !self.was_full() {
            self.empty_at = moment.now;
        }
        Ok(())
    }

    pub(crate) fn was_full(&self) -> bool {
        self.filled == self.arrivals.len()
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        (self.next < self.filled).then(|| self.times[self.next])
    }

    pub(crate) fn take(&mut self) -> Option<Batch<'_>> {
        let at = self.next_at()?;
        let Arrival { bytes, stride, payload, is_ours, from, ecn, .. } = self.arrivals[self.next];
        let bytes = &mut self.bytes[self.next * self.batch_bytes..][..bytes];
        self.next += 1;
        Some(Batch { at, payload, is_ours, from, ecn, bytes, stride })
    }
}
