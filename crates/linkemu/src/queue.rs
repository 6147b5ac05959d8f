//! The queue of a channel and what empties it: one packet after the other, at the rate.
//!
//! ```text
//!   offered ──► ▒▒▒▒▒▒▒▒▒▒▒▒▒░░░ ──► on the wire, `rate` bytes a second
//!               waiting    being sent
//!              └── backlog ──┘  at most `queue_bytes`, or the packet that is offered is not taken (tail drop)
//! ```
//!
//! The backlog is in bytes that were not sent yet, so that a full queue is emptied in `queue_bytes
//! / rate`, whatever the lengths of its packets. No packet is remembered: since it was idle last,
//! the queue knows when that ended and how many bytes it took. From these the end of a packet is
//! exact, and rounded up to a picosecond once: no error adds up over a long backlog.
//!
//! Invariants: the backlog never exceeds `queue_bytes`; the packets whose last byte leaves within
//! any span `t` have at most `rate x t` bytes, and one packet.

use crate::parameters::{PS_PER_SECOND, sending_ps};
use gingham_kernel::{Rate, Span, Time};

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    rate: Rate,
    room_bytes: u64,
    /// When the queue was idle last, and what it took since.
    busy_from: Time,
    busy_bytes: u128,
    /// When all that it took is sent.
    idle_at: Time,
}

/// When a packet is on the wire: from its first byte's start to its last byte's end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sending {
    pub(crate) start: Time,
    pub(crate) end: Time,
}

impl Queue {
    pub(crate) const fn new(rate: Rate, room_bytes: u64) -> Self {
        Self { rate, room_bytes, busy_from: Time::ZERO, busy_bytes: 0, idle_at: Time::ZERO }
    }

    /// From `now` on what is left is emptied at another rate.
    pub(crate) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.busy_bytes = u128::from(self.backlog_bytes(now));
        self.busy_from = now;
        self.rate = rate;
        self.idle_at = now + Span::from_ps(self.busy_ps());
    }

    /// How long what was taken since the queue was idle last keeps it busy.
    fn busy_ps(&self) -> u64 {
        let busy_ps = u64::try_from(sending_ps(self.rate, self.busy_bytes));
        busy_ps.expect("simulated time fits 64 bits")
    }

    /// Bytes that were taken and not sent by `now`.
    pub(crate) fn backlog_bytes(&self, now: Time) -> u64 {
        if now >= self.idle_at {
            return 0;
        }
        let busy_ps = u128::from(now.since(self.busy_from).as_ps());
        let sent_bytes =
            busy_ps * u128::from(self.rate.bytes_per_second()) / u128::from(PS_PER_SECOND);
        u64::try_from(self.busy_bytes - sent_bytes).expect("a backlog is at most the room")
    }

    /// Takes a packet, if there is room for it.
    pub(crate) fn take(&mut self, now: Time, length_bytes: u32) -> Option<Sending> {
        let backlog_bytes = self.backlog_bytes(now);
        if u64::from(length_bytes) > self.room_bytes - backlog_bytes {
            return None;
        }
        if now >= self.idle_at {
            (self.busy_from, self.busy_bytes, self.idle_at) = (now, 0, now);
        }
        let start = self.idle_at;
        self.busy_bytes += u128::from(length_bytes);
        self.idle_at = self.busy_from + Span::from_ps(self.busy_ps());
        Some(Sending { start, end: self.idle_at })
    }
}
