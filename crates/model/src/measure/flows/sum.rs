//! What is summed up of one flow over a section or a step.

use super::super::Count;
use crate::{Delivery, Hold, Message};
use gingham_kernel::Span;
use gingham_results::real;
use std::iter::Sum;
use std::ops::Add;

/// What one flow did in a section or a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct FlowSum {
    /// Created in it, and not dropped by policing.
    pub(super) created: Count,
    /// Delivered in it, whenever created.
    pub(super) delivered: Count,
    /// Created in it and delivered at any time.
    followed_messages: u64,
    /// Sum of their latencies.
    latency_sum_ps: u128,
    /// For how long it was held back in it, by reason.
    held_ps: [u64; 3],
}

/// The place of a reason.
pub(super) const fn place(hold: Hold) -> usize {
    match hold {
        Hold::Window => 0,
        Hold::Pace => 1,
        Hold::Tokens => 2,
    }
}

impl FlowSum {
    /// A message that was counted as created was dropped.
    pub(super) fn take_back(&mut self, message: &Message) {
        self.created.messages -= 1;
        self.created.bytes -= u64::from(message.payload_bytes);
    }

    /// Counts the journey of a message that was created here.
    pub(super) fn count_journey(&mut self, delivery: &Delivery) {
        self.followed_messages += 1;
        self.latency_sum_ps += u128::from(delivery.latency().as_ps());
    }

    /// Counts a part of a time for which the flow was held back.
    pub(super) fn count_held(&mut self, hold: Hold, part: Span) {
        self.held_ps[place(hold)] += part.as_ps();
    }

    /// Messages created here, not dropped and not delivered yet.
    pub(super) fn under_way_messages(&self) -> u64 {
        self.created.messages - self.followed_messages
    }

    /// Mean latency of the messages created here and delivered, in picoseconds.
    pub(super) fn latency_mean_ps(&self) -> Option<f64> {
        let messages = u128::from(self.followed_messages);
        (messages > 0).then(|| real(self.latency_sum_ps) / real(messages))
    }

    /// Picoseconds for which it was held back, by reason: window, pace, tokens.
    pub(super) fn held_ps(&self) -> [f64; 3] {
        self.held_ps.map(|ps| real(u128::from(ps)))
    }
}

impl Add for FlowSum {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let held_ps = [0, 1, 2].map(|place| self.held_ps[place] + other.held_ps[place]);
        Self {
            created: self.created + other.created,
            delivered: self.delivered + other.delivered,
            followed_messages: self.followed_messages + other.followed_messages,
            latency_sum_ps: self.latency_sum_ps + other.latency_sum_ps,
            held_ps,
        }
    }
}

impl<'a> Sum<&'a Self> for FlowSum {
    fn sum<I: Iterator<Item = &'a Self>>(sums: I) -> Self {
        sums.fold(Self::default(), |all, sum| all + *sum)
    }
}

/// Sums over equal stretches of time from zero on; those after the last are empty.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct FlowSums(Vec<FlowSum>);

impl FlowSums {
    pub(super) fn at(&mut self, index: usize) -> &mut FlowSum {
        if index >= self.0.len() {
            self.0.resize(index + 1, FlowSum::default());
        }
        &mut self.0[index]
    }

    /// The sum of stretches `from..to`.
    pub(super) fn sum(&self, from: usize, to: usize) -> FlowSum {
        let to = to.min(self.0.len());
        self.0[from.min(to)..to].iter().sum()
    }

    /// Neighbours merge.
    pub(super) fn double(&mut self) {
        let pairs = self.0.len().div_ceil(2);
        for index in 0..pairs {
            self.0[index] = self.sum(2 * index, 2 * index + 2);
        }
        self.0.truncate(pairs);
    }
}
