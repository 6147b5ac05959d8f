//! What a channel is like: its parameters, and which of them make no sense.
//!
//! A clean channel has a rate, a queue and a delay; everything that goes wrong is added to it:
//!
//! ```
//! use gingham_kernel::{Rate, Span};
//! use gingham_linkemu::{Channel, Loss, Parameters, Probability};
//!
//! // 20 Mbit/s, 40 ms, half a per cent of loss.
//! let clean = Parameters::clean(Rate::from_bytes_per_second(2_500_000), 64_000, Span::from_ns(40_000_000));
//! let lossy = Parameters { loss: Loss::Independent(Probability::new(0.005)?), ..clean };
//! let channel = Channel::new(lossy, 1, "east")?;
//! # let _ = channel;
//! # Ok::<(), gingham_linkemu::ParameterError>(())
//! ```
//!
//! Source of the bursts: Gilbert, "Capacity of a burst-noise channel", BSTJ 39, 1960, and Elliott,
//! "Estimates of error rates for codes on burst-noise channels", BSTJ 42, 1963; counted in packets,
//! as network emulators do, not in bits.

use crate::competing::Competing;
use crate::error::ParameterError;
use crate::policer::Policer;
use crate::probability::Probability;
use crate::queue::QueueBound;
use gingham_kernel::{Rate, Span, Time};

/// What one direction of an emulated link does to packets.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// Bytes that leave the queue in a second.
    pub rate: Rate,
    /// What stands before the queue and drops what comes too fast, if anything does.
    pub policer: Option<Policer>,
    /// The most that the queue holds.
    pub queue: QueueBound,
    /// What others send through the same queue.
    pub competing: Vec<Competing>,
    /// From a packet's last byte leaving the queue to its arrival.
    pub delay: Span,
    /// The most that is added to the delay, uniformly, without changing the order.
    pub jitter: Span,
    /// What is lost behind the queue.
    pub loss: Loss,
    /// The longest packet that crosses, in bytes: longer ones are lost behind the queue, and nobody
    /// is told, as on a path on which no message of packets too big comes back. Any crosses unless
    /// given.
    pub mtu_bytes: Option<u32>,
    /// The probability that a bit is damaged, each by itself.
    pub bit_errors: Probability,
    /// The probability that a packet enters the queue twice.
    pub duplication: Probability,
    /// Which packets are held back, so that later ones overtake them.
    pub reordering: Reordering,
    /// When nothing crosses, in the order of time.
    pub outages: Vec<Outage>,
}

/// How packets are lost.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// None is.
    None,
    /// Each by itself, with this probability.
    Independent(Probability),
    /// In bursts.
    Bursts(GilbertElliott),
}

/// A channel that is in a good or a bad state, and may change it before each packet. It begins in
/// the good one.
///
/// ```text
///                to_bad
///           ┌──────────────►
///      good                  bad          bad for 1 / to_good packets, good for 1 / to_bad, in the mean;
///   loss_good  ◄────────── loss_bad       bad for to_bad / (to_bad + to_good) of all packets
///                to_good
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// The probability that a packet finds the state bad when the one before found it good.
    pub to_bad: Probability,
    /// The probability that a packet finds the state good when the one before found it bad.
    pub to_good: Probability,
    /// The probability that a packet is lost in the good state.
    pub loss_good: Probability,
    /// The probability that a packet is lost in the bad state.
    pub loss_bad: Probability,
}

/// Packets that are held back at the far end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reordering {
    /// The probability that a packet is.
    pub probability: Probability,
    /// How much later it arrives than it would in order.
    pub span: Span,
}

/// A span in which the channel is cut, from its first instant to before its last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// The first instant of it.
    pub from: Time,
    /// The first instant after it.
    pub until: Time,
}

impl Parameters {
    /// The most that a packet may be on the way: a day, lest instants leave the range of [`Time`].
    pub const WAY_PS_MAX: u64 = 24 * 60 * 60 * PS_PER_SECOND;

    /// A channel on which nothing goes wrong, alone on it, with a queue of so many bytes.
    pub const fn clean(rate: Rate, queue_bytes: u64, delay: Span) -> Self {
        Self {
            rate,
            policer: None,
            queue: QueueBound::Bytes(queue_bytes),
            competing: Vec::new(),
            delay,
            jitter: Span::ZERO,
            loss: Loss::None,
            mtu_bytes: None,
            bit_errors: Probability::NEVER,
            duplication: Probability::NEVER,
            reordering: Reordering { probability: Probability::NEVER, span: Span::ZERO },
            outages: Vec::new(),
        }
    }

    /// Whether a channel can be like this.
    pub fn check(&self) -> Result<(), ParameterError> {
        self.queue.check(self.rate)?;
        if self.policer.is_some_and(|policer| policer.burst_bytes == 0) {
            return Err(ParameterError::NoBurst);
        }
        self.competing.iter().try_for_each(Competing::check)?;
        if matches!(self.loss, Loss::Bursts(bursts) if !bursts.to_good.is_possible()) {
            return Err(ParameterError::EndlessBurst);
        }
        if self.reordering.probability.is_possible() && self.reordering.span == Span::ZERO {
            return Err(ParameterError::NoSpan);
        }
        self.check_outages()?;
        self.check_way()
    }

    /// Whether a channel like this can take on another rate, having had no higher one than
    /// `fastest`: what waits then, with a packet of `longest_bytes` that was just taken, must be
    /// sent within a day.
    pub fn check_change(
        &self,
        to: Rate,
        fastest: Rate,
        longest_bytes: u64,
    ) -> Result<(), ParameterError> {
        let held_bytes = match self.queue {
            QueueBound::Bytes(bytes) => bytes,
            QueueBound::Time(_) => self.queue.bytes_at(fastest).saturating_add(longest_bytes),
        };
        self.queue.check(to)?;
        Self { rate: to, queue: QueueBound::Bytes(held_bytes), ..self.clone() }.check()
    }

    fn check_outages(&self) -> Result<(), ParameterError> {
        let mut last_until = Time::ZERO;
        for Outage { from, until } in &self.outages {
            let (from_ps, until_ps) = (from.as_ps(), until.as_ps());
            if until <= from {
                return Err(ParameterError::EmptyOutage { from_ps, until_ps });
            }
            if *from < last_until {
                let until_ps = last_until.as_ps();
                return Err(ParameterError::OutageOrder { from_ps, until_ps });
            }
            last_until = *until;
        }
        Ok(())
    }

    fn check_way(&self) -> Result<(), ParameterError> {
        let queue_ps = self.queue.longest_ps(self.rate);
        let spans = [self.delay, self.jitter, self.reordering.span];
        let way_ps = queue_ps + spans.iter().map(|span| u128::from(span.as_ps())).sum::<u128>();
        if way_ps > u128::from(Self::WAY_PS_MAX) {
            let longest_s = way_ps.div_ceil(u128::from(PS_PER_SECOND));
            return Err(ParameterError::TooSlow { longest_s });
        }
        Ok(())
    }
}

pub(crate) const PS_PER_SECOND: u64 = 1_000_000_000_000;

/// The first picosecond by which so many bytes can have been sent at this rate.
pub(crate) fn sending_ps(rate: Rate, bytes: u128) -> u128 {
    (bytes * u128::from(PS_PER_SECOND)).div_ceil(u128::from(rate.bytes_per_second()))
}
