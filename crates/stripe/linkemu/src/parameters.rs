//! Parameters of a channel.
//!
//! Impairments are added to a clean channel:
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
//! not in bits.

use crate::competing::Competing;
use crate::error::ParameterError;
use crate::policer::Policer;
use crate::probability::Probability;
use crate::queue::QueueBound;
use gingham_kernel::{Rate, Span, Time};

/// Parameters of one direction.
#[derive(Clone, PartialEq, Debug)]
pub struct Parameters {
    /// Rate at which the queue is emptied.
    pub rate: Rate,
    /// Policer before the queue.
    pub policer: Option<Policer>,
    /// Limit of the queue.
    pub queue: QueueBound,
    /// Traffic of other senders.
    pub competing: Vec<Competing>,
    /// Delay after the queue.
    pub delay: Span,
    /// Maximum of a random, uniformly distributed addition to the delay; packets stay in order.
    pub jitter: Span,
    /// Loss after the queue.
    pub loss: Loss,
    /// MTU in bytes; longer packets are lost silently after the queue, as on a path without ICMP
    /// errors.
    pub mtu_bytes: Option<u32>,
    /// Probability that a bit is damaged.
    pub bit_errors: Probability,
    /// Probability that a packet enters the queue twice.
    pub duplication: Probability,
    /// Reordering.
    pub reordering: Reordering,
    /// Outages in the order of time.
    pub outages: Vec<Outage>,
}

/// Packet loss.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Loss {
    /// No loss.
    None,
    /// Independent loss.
    Independent(Probability),
    /// Loss in bursts.
    Bursts(GilbertElliott),
}

/// Two-state channel, initially good; the state may change before each packet.
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
    /// Probability of changing to the bad state, per packet.
    pub to_bad: Probability,
    /// Probability of changing to the good state, per packet.
    pub to_good: Probability,
    /// Probability of loss in the good state.
    pub loss_good: Probability,
    /// Probability of loss in the bad state.
    pub loss_bad: Probability,
}

/// Packets that are held back at the far end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Reordering {
    /// Probability of holding back, per packet.
    pub probability: Probability,
    /// Additional delay of a packet held back.
    pub span: Span,
}

/// Interval during which the channel is interrupted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// Start.
    pub from: Time,
    /// End, not included.
    pub until: Time,
}

impl Parameters {
    /// Longest transit time in ps, a day.
    pub const WAY_PS_MAX: u64 = 24 * 60 * 60 * PS_PER_SECOND;

    /// Parameters of a channel without impairments or competing traffic.
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

    /// Checks the parameters.
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

    /// Checks a change of rate after rates up to `fastest`: the backlog, with a packet of
    /// `longest_bytes` just accepted, must be sent within a day.
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

/// Time to send bytes, rounded up to a ps.
pub(crate) fn sending_ps(rate: Rate, bytes: u128) -> u128 {
    (bytes * u128::from(PS_PER_SECOND)).div_ceil(u128::from(rate.bytes_per_second()))
}
