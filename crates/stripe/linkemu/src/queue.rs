//! Channel queue, drained at the channel's rate.
//!
//! A byte bound limits the backlog including the offered packet. A time bound limits the offered
//! packet's wait for its first byte, at the current rate. If the rate falls, queued packets may
//! wait longer, and new packets are dropped until the wait is within the bound again.
//!
//! Departure times are computed from all bytes since the last idle period and rounded up to a ps,
//! so that rounding errors do not accumulate.
//!
//! Invariant: packets that finish transmission within any span `t` have at most `rate x t` bytes,
//! plus one packet.

use crate::Parameters;
use crate::error::ParameterError;
use crate::parameters::{PS_PER_SECOND, sending_ps};
use gingham_kernel::{Bytes, Rate, Span, Time};
use std::fmt;
use std::str::FromStr;

/// Queue limit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueBound {
    /// Maximum backlog in bytes, including the offered packet and the unsent rest of the packet in
    /// service.
    Bytes(u64),
    /// Maximum wait until an accepted packet's first byte is sent.
    Time(Span),
}

impl QueueBound {
    /// Returns the limit in bytes: a time limit is converted at `rate` and rounded down.
    pub fn bytes_at(self, rate: Rate) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes,
            Self::Time(longest) => {
                u64::try_from(waiting_bytes(rate, longest.as_ps())).unwrap_or(u64::MAX)
            }
        }
    }

    /// Returns whether a packet of this length never fits.
    pub fn is_too_short_for(self, length_bytes: u64) -> bool {
        matches!(self, Self::Bytes(bytes) if bytes < length_bytes)
    }

    pub(crate) fn check(self, rate: Rate) -> Result<(), ParameterError> {
        match self {
            Self::Bytes(0) => Err(ParameterError::NoQueue),
            Self::Time(Span::ZERO) => Err(ParameterError::NoWait),
            Self::Time(longest) if waiting_bytes(rate, longest.as_ps()) >= 1 << 63 => {
                Err(ParameterError::EndlessQueue { span_ps: longest.as_ps() })
            }
            Self::Bytes(_) | Self::Time(_) => Ok(()),
        }
    }

    pub(crate) fn longest_ps(self, rate: Rate) -> u128 {
        match self {
            Self::Bytes(bytes) => sending_ps(rate, u128::from(bytes)),
            Self::Time(longest) => u128::from(longest.as_ps()),
        }
    }
}

impl fmt::Display for QueueBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => Bytes(*bytes).fmt(f),
            Self::Time(longest) => longest.fmt(f),
        }
    }
}

impl FromStr for QueueBound {
    type Err = ParameterError;

    fn from_str(text: &str) -> Result<Self, ParameterError> {
        let bytes = text.parse().map(|Bytes(bytes)| Self::Bytes(bytes));
        bytes.or_else(|_| text.parse().map(Self::Time)).map_err(|_| ParameterError::NoBound)
    }
}

fn waiting_bytes(rate: Rate, span_ps: u64) -> u128 {
    u128::from(span_ps) * u128::from(rate.bytes_per_second()) / u128::from(PS_PER_SECOND)
}

#[derive(Clone, Debug)]
pub(crate) struct Queue {
    rate: Rate,
    bound: QueueBound,
    busy_from: Time,
    busy_bytes: u128,
    idle_at: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Sending {
    pub(crate) start: Time,
    pub(crate) end: Time,
}

impl Queue {
    pub(crate) const fn new(rate: Rate, bound: QueueBound) -> Self {
        Self { rate, bound, busy_from: Time::ZERO, busy_bytes: 0, idle_at: Time::ZERO }
    }

    pub(crate) fn set_rate(&mut self, now: Time, rate: Rate) {
        self.busy_bytes = u128::from(self.backlog_bytes(now));
        self.busy_from = now;
        self.rate = rate;
        self.idle_at = now + Span::from_ps(self.busy_ps());
    }

    fn busy_ps(&self) -> u64 {
        let busy_ps = u64::try_from(sending_ps(self.rate, self.busy_bytes));
        busy_ps.expect("simulated time fits 64 bits")
    }

    pub(crate) fn backlog_bytes(&self, now: Time) -> u64 {
        if now >= self.idle_at {
            return 0;
        }
        let sent_bytes = waiting_bytes(self.rate, now.since(self.busy_from).as_ps());
        u64::try_from(self.busy_bytes - sent_bytes).expect("a backlog is about the bound at most")
    }

    pub(crate) fn wait(&self, now: Time) -> Span {
        if now < self.idle_at { self.idle_at.since(now) } else { Span::ZERO }
    }

    /// Returns whether the queue accepts a packet. A time bound never accepts a packet whose
    /// transmission takes more than a day.
    fn has_room(&self, now: Time, length_bytes: u32) -> bool {
        match self.bound {
            QueueBound::Bytes(bytes) => u64::from(length_bytes) <= bytes - self.backlog_bytes(now),
            QueueBound::Time(longest) => {
                let wire_ps = sending_ps(self.rate, u128::from(length_bytes));
                self.wait(now) <= longest && wire_ps <= u128::from(Parameters::WAY_PS_MAX)
            }
        }
    }

    pub(crate) fn take(&mut self, now: Time, length_bytes: u32) -> Option<Sending> {
        if !self.has_room(now, length_bytes) {
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
