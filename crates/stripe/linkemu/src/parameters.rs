//! Channel parameters.
//!
//! Impairments are added to a channel that has none:
//!
//! ```
//! use gingham_kernel::{Rate, Span};
//! use gingham_linkemu::{Channel, Loss, Parameters, Probability};
//!
//! // 20 Mbit/s, 40 ms of delay, 0.5 % loss.
//! let clean = Parameters::clean(Rate::from_bytes_per_second(2_500_000), 64_000, Span::from_ns(40_000_000));
//! let lossy = Parameters { loss: Loss::Independent(Probability::new(0.005)?), ..clean };
//! let channel = Channel::new(lossy, 1, "east")?;
//! # let _ = channel;
//! # Ok::<(), gingham_linkemu::ParameterError>(())
//! ```
//!
//! Source of the burst model: Gilbert, "Capacity of a burst-noise channel", BSTJ 39, 1960, and
//! Elliott, "Estimates of error rates for codes on burst-noise channels", BSTJ 42, 1963, applied to
//! packets instead of bits.

use crate::competing::Competing;
use crate::error::ParameterError;
use crate::policer::Policer;
use crate::probability::Probability;
use crate::queue::QueueBound;
use gingham_kernel::{Rate, Span, Time};

/// Parameters of one direction of a link.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// Drain rate of the queue.
    pub rate: Rate,
    /// Policer before the queue.
    pub policer: Option<Policer>,
    /// Queue limit.
    pub queue: QueueBound,
    /// Cross traffic in the same queue.
    pub competing: Vec<Competing>,
    /// Propagation delay after the queue.
    pub delay: Span,
    /// Maximum random addition to the delay, uniformly distributed; packets stay in order.
    pub jitter: Span,
    /// Random loss after the queue.
    pub loss: Loss,
    /// MTU in bytes. Longer packets are lost silently after the queue, as on a path that filters
    /// ICMP errors. `None`: unlimited.
    pub mtu_bytes: Option<u32>,
    /// Bit error rate.
    pub bit_errors: Probability,
    /// Probability that a packet enters the queue twice.
    pub duplication: Probability,
    /// Extra delay of random packets, which reorders them.
    pub reordering: Reordering,
    /// Outages in time order.
    pub outages: Vec<Outage>,
}

/// Packet loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// No loss.
    None,
    /// Independent loss of each packet with this probability.
    Independent(Probability),
    /// Burst loss.
    Bursts(GilbertElliott),
}

/// Two-state burst loss, initially good; the state may change before each packet.
///
/// ```text
///                to_bad
///           ┌──────────────►
///      good                  bad          mean burst: 1 / to_good packets; mean gap: 1 / to_bad;
///   loss_good  ◄────────── loss_bad       fraction in the bad state: to_bad / (to_bad + to_good)
///                to_good
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct GilbertElliott {
    /// Per-packet probability of changing from the good to the bad state.
    pub to_bad: Probability,
    /// Per-packet probability of changing from the bad to the good state.
    pub to_good: Probability,
    /// Loss probability in the good state.
    pub loss_good: Probability,
    /// Loss probability in the bad state.
    pub loss_bad: Probability,
}

/// Extra delay of random packets at the far end of the channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reordering {
    /// Probability that a packet is delayed.
    pub probability: Probability,
    /// Extra delay of an affected packet.
    pub span: Span,
}

/// Outage: packets in transit during this interval are lost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Start time.
    pub from: Time,
    /// End time, exclusive.
    pub until: Time,
}

impl Parameters {
    /// Longest permitted transit time, one day, in ps.
    pub const WAY_PS_MAX: u64 = 24 * 60 * 60 * PS_PER_SECOND;

    /// Returns the parameters of a channel without impairments or competing traffic.
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

    /// Checks that the parameters are valid and the longest transit time is within a day.
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

    /// Checks a rate change to `to`. The largest backlog that can build up at rates up to
    /// `fastest`, with a last packet of `longest_bytes`, must drain within a day at the new rate.
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

/// Returns the time to send `bytes`, in ps, rounded up.
pub(crate) fn sending_ps(rate: Rate, bytes: u128) -> u128 {
    (bytes * u128::from(PS_PER_SECOND)).div_ceil(u128::from(rate.bytes_per_second()))
}
