//! Competing traffic: packets of other senders in a channel's queue.
//!
//! The traffic does not react to loss. It bypasses the policer, which only limits our traffic.
//!
//! Invariants: competing traffic does not change the random draws of our packets; packet `n`, from
//! 0, of evenly spaced traffic arrives at `from + n x packet_bytes / rate`, rounded up to a ps; at
//! equal arrival times, a competing packet precedes ours.

use crate::error::ParameterError;
use crate::parameters::sending_ps;
use gingham_kernel::{Purpose, Rate, Stream, Time};

/// Competing traffic.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Competing {
    /// Mean rate.
    pub rate: Rate,
    /// Packet length in bytes.
    pub packet_bytes: u32,
    /// Distribution of the times between packets.
    pub spacing: Spacing,
    /// Start time.
    pub from: Time,
    /// End time, exclusive.
    pub until: Time,
}

/// Distribution of the times between packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// Constant intervals; the first packet arrives at the start time.
    Even,
    /// Exponentially distributed intervals, including the interval from the start time to the first
    /// packet.
    Poisson,
}

impl Competing {
    pub(crate) fn check(&self) -> Result<(), ParameterError> {
        if self.packet_bytes == 0 {
            return Err(ParameterError::NoCompetingBytes);
        }
        if self.until <= self.from {
            let (from_ps, until_ps) = (self.from.as_ps(), self.until.as_ps());
            return Err(ParameterError::NoCompetingTime { from_ps, until_ps });
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Competitor {
    competing: Competing,
    words: Stream,
    given: u64,
    next: Option<Time>,
}

impl Competitor {
    pub(crate) fn new(competing: Competing, seed: u64, name: &str) -> Self {
        let words = Stream::new(seed, name, Purpose::Arrival);
        let mut competitor = Self { competing, words, given: 0, next: None };
        let first = match competing.spacing {
            Spacing::Even => Some(competing.from),
            Spacing::Poisson => competitor.after(competing.from),
        };
        competitor.next = competitor.in_time(first);
        competitor
    }

    pub(crate) const fn next(&self) -> Option<Time> {
        self.next
    }

    pub(crate) fn give(&mut self) -> u32 {
        let now = self.next.expect("there is a next packet");
        self.given += 1;
        let next = match self.competing.spacing {
            Spacing::Even => self.even(),
            Spacing::Poisson => self.after(now),
        };
        self.next = self.in_time(next);
        self.competing.packet_bytes
    }

    fn in_time(&self, next: Option<Time>) -> Option<Time> {
        next.filter(|next| *next < self.competing.until)
    }

    fn even(&self) -> Option<Time> {
        let bytes = u128::from(self.given) * u128::from(self.competing.packet_bytes);
        later(self.competing.from, u64::try_from(sending_ps(self.competing.rate, bytes)).ok()?)
    }

    fn after(&mut self, now: Time) -> Option<Time> {
        let mean_ps = sending_ps(self.competing.rate, self.competing.packet_bytes.into());
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw needs few digits, is not negative, and saturates behind any end"
        )]
        let space_ps = self.words.exponential(mean_ps as f64) as u64;
        later(now, space_ps)
    }
}

fn later(instant: Time, span_ps: u64) -> Option<Time> {
    instant.as_ps().checked_add(span_ps).map(Time::from_ps)
}
