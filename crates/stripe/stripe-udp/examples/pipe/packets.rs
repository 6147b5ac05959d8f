//! Synthetic packets: a number, the sending time, and zeros.

use gingham_stripe::Instant;
use gingham_stripe_udp::{Source, now};

use crate::arguments::{Arguments, Offer};

/// Maximum backlog of a paced source, as time at its rate.
const BACKLOG_NS: u64 = 20_000_000;

#[derive(Debug)]
pub(crate) struct Packets {
    offer: Option<Offer>,
    length: usize,
    length_max: usize,
    next_at_ns: u64,
    ends_at_ns: u64,
    now_ns: u64,
    pub(crate) taken: u64,
}

impl Packets {
    pub(crate) fn new(arguments: &Arguments, ends_at: Instant) -> Self {
        let now_ns = now().nanoseconds();
        Self {
            offer: arguments.offer,
            length: arguments.packet_bytes as usize,
            length_max: arguments.packet_bytes as usize,
            next_at_ns: now_ns,
            ends_at_ns: ends_at.nanoseconds(),
            now_ns,
            taken: 0,
        }
    }

    pub(crate) fn refill(&mut self, now: Instant, longest_bytes: u32) {
        self.length = self.length_max.min(longest_bytes as usize);
        self.now_ns = now.nanoseconds();
        self.next_at_ns = self.next_at_ns.max(self.now_ns.saturating_sub(BACKLOG_NS));
    }

    pub(crate) fn next_at(&self) -> Option<Instant> {
        let is_paced = matches!(self.offer, Some(Offer::BytesPerSecond(_)));
        let next_at = || Instant::from_nanoseconds(self.next_at_ns);
        (is_paced && self.next_at_ns > self.now_ns).then(next_at)
    }
}

impl Source for Packets {
    fn next_bytes(&mut self) -> Option<usize> {
        let is_there = match self.offer {
            None => false,
            Some(Offer::All) => true,
            Some(Offer::BytesPerSecond(_)) => self.next_at_ns <= self.now_ns,
        };
        (is_there && self.now_ns < self.ends_at_ns).then_some(self.length)
    }

    fn take(&mut self, buffer: &mut Vec<u8>) {
        if let Some(Offer::BytesPerSecond(rate)) = self.offer {
            self.next_at_ns += self.length as u64 * 1_000_000_000 / rate;
        }
        let end = buffer.len() + self.length;
        buffer.extend(self.taken.to_be_bytes());
        buffer.extend(now().nanoseconds().to_be_bytes());
        buffer.resize(end, 0);
        self.taken += 1;
    }
}
