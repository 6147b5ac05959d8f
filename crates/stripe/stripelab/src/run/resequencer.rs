//! Reception by sequence numbers, as in PPP Multilink.
//!
//! Source: RFC 1990, sections 4.1 (detecting loss by the minimum over all links) and 3 (header). If
//! a channel falls silent or reorders packets, a timeout or the buffer limit ends the wait.
//!
//! Invariant: the numbers of delivered packets increase; a late packet is discarded.

use super::memory::Memory;
use crate::traffic::Packet;
use gingham_kernel::{Span, Time};
use gingham_stripe::ReceiverOptions;
use std::collections::{BTreeMap, VecDeque};

#[derive(Debug)]
pub(crate) struct Resequencer {
    next: u64,
    waiting: BTreeMap<u64, Packet>,
    /// Arrival times and numbers of packets, in arrival order. The first entry always belongs to a
    /// waiting packet.
    arrivals: VecDeque<(Time, u64)>,
    seen: Vec<u64>,
    buffered: Vec<usize>,
    memory: Memory,
    wait: Span,
}

impl Resequencer {
    /// Length in bytes of the long header with a 24-bit sequence number (RFC 1990, section 3).
    pub(crate) const HEADER_BYTES: u32 = 4;

    pub(crate) fn new(channels: usize, options: &ReceiverOptions) -> Self {
        let wait_ps = u64::try_from(options.wait.as_nanos() * 1_000).unwrap_or(u64::MAX);
        Self {
            next: 1,
            waiting: BTreeMap::new(),
            arrivals: VecDeque::new(),
            seen: vec![0; channels],
            buffered: vec![0; channels],
            memory: Memory::new(options),
            wait: Span::from_ps(wait_ps),
        }
    }

    pub(crate) fn take(&mut self, now: Time, channel: usize, packet: Packet) -> bool {
        self.seen[channel] = self.seen[channel].max(packet.number);
        let is_new = packet.number >= self.next && !self.waiting.contains_key(&packet.number);
        let kept = is_new && self.memory.take(packet.bytes);
        if kept {
            self.buffered[channel] += 1;
            self.arrivals.push_back((now, packet.number));
            self.waiting.insert(packet.number, packet);
        }
        kept
    }

    pub(crate) fn poll(&mut self, now: Time) -> Option<Packet> {
        let first = *self.waiting.first_key_value()?.0;
        let shown = self.seen.iter().copied().min().unwrap_or_default();
        let is_due = first == self.next || first <= shown || self.timeout()? <= now;
        if !is_due {
            return None;
        }
        let packet = self.waiting.remove(&first).expect("the first is there");
        self.memory.give(packet.bytes);
        self.buffered[usize::from(packet.channel)] -= 1;
        self.next = first + 1;
        while self.arrivals.front().is_some_and(|(_, number)| !self.waiting.contains_key(number)) {
            self.arrivals.pop_front();
        }
        Some(packet)
    }

    pub(crate) fn timeout(&self) -> Option<Time> {
        self.arrivals.front().map(|(since, _)| *since + self.wait)
    }

    pub(crate) fn buffered_packets(&self, channel: usize) -> usize {
        self.buffered[channel]
    }
}
