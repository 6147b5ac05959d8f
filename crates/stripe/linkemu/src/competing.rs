//! Competing traffic: what others send through the queue of a channel.
//!
//! ```text
//!   ours   ──► policer ──► ┌───────┐
//!                          │ queue │ ──► rate ──► ours goes on, theirs is gone
//!   theirs ──────────────► └───────┘
//! ```
//!
//! It takes its place in the queue and its time on the wire, or finds no room and is dropped; where
//! it goes behind that is nobody's concern. It hears of no loss and slows down for nobody. It passes
//! no policer, which is between us and whoever carries us.
//!
//! Invariants: it takes no number of a packet of ours, so that nobody's draws change; the `n`th
//! packet of even traffic comes at `from + n x packet / rate`, rounded up once; of packets of one
//! instant, those of traffic that was given first come first, and ours last.

use crate::error::ParameterError;
use crate::parameters::sending_ps;
use gingham_kernel::{Purpose, Rate, Stream, Time};

/// Traffic that competes for a channel, from one instant to before another.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Competing {
    /// How fast it comes; in the mean, where spaces are drawn.
    pub rate: Rate,
    /// The length of each packet.
    pub packet_bytes: u32,
    /// How its packets are spaced.
    pub spacing: Spacing,
    /// The first instant of it.
    pub from: Time,
    /// The first instant after it.
    pub until: Time,
}

/// How packets are spaced.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Spacing {
    /// Evenly, the first at the first instant.
    Even,
    /// Exponentially, the first so long after the first instant.
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

/// Competing traffic under way.
#[derive(Clone, Debug)]
pub(crate) struct Competitor {
    competing: Competing,
    words: Stream,
    given: u64,
    next: Option<Time>,
}

impl Competitor {
    /// `name` is stable: its random numbers hang on it and on the seed.
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

    /// When its next packet comes.
    pub(crate) const fn next(&self) -> Option<Time> {
        self.next
    }

    /// Its next packet comes: tells its length.
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
