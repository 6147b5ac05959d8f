//! Message and latency sums of a class, by slice of time.

use super::Count;
use super::grid::SLICES_MAX;
use crate::{Conformance, Delivery};
use gingham_results::real;
use std::iter::Sum;
use std::ops::Add;

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Slice {
    pub(super) created: Count,
    pub(super) dropped: Count,
    pub(super) delivered: Count,
    pub(super) delivered_wire_bytes: u64,
    /// Messages created in the slice and delivered at any time; the fields below cover only these
    /// messages.
    pub(super) followed_messages: u64,
    pub(super) delayed_messages: u64,
    pub(super) demoted_messages: u64,
    pub(super) latency_sum_ps: u128,
    pub(super) posted_latency_sum_ps: u128,
    pub(super) network_latency_sum_ps: u128,
    pub(super) head_latency_sum_ps: u128,
    pub(super) hops_sum: u64,
    pub(super) in_transit_hosts_sum: u64,
}

impl Slice {
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn count_journey(&mut self, delivery: &Delivery) {
        self.followed_messages += 1;
        match delivery.conformance {
            Conformance::Conforming => {}
            Conformance::Delayed => self.delayed_messages += 1,
            Conformance::Demoted => self.demoted_messages += 1,
            Conformance::Dropped => unreachable!("a dropped message is not delivered"),
        }
        self.latency_sum_ps += u128::from(delivery.latency().as_ps());
        self.posted_latency_sum_ps += u128::from(delivery.posted_latency().as_ps());
        self.network_latency_sum_ps += u128::from(delivery.network_latency().as_ps());
        self.head_latency_sum_ps += u128::from(delivery.head_latency().as_ps());
        self.hops_sum += u64::from(delivery.hops);
        self.in_transit_hosts_sum += u64::from(delivery.in_transit_hosts);
    }

    pub(super) fn latency_mean_ps(&self) -> Option<f64> {
        let messages = u128::from(self.followed_messages);
        (messages > 0).then(|| real(self.latency_sum_ps) / real(messages))
    }

    pub(super) fn network_latency_mean_ps(&self) -> Option<f64> {
        let messages = u128::from(self.followed_messages);
        (messages > 0).then(|| real(self.network_latency_sum_ps) / real(messages))
    }

    pub(super) fn in_flight_messages(&self) -> u64 {
        self.created.messages - self.dropped.messages - self.followed_messages
    }

    /// Returns the backlog growth in the slice: messages created and not dropped, minus messages
    /// delivered.
    pub(super) fn left_messages(&self) -> f64 {
        let created = real(u128::from(self.created.messages - self.dropped.messages));
        created - real(u128::from(self.delivered.messages))
    }
}

impl Add for Slice {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            created: self.created + other.created,
            dropped: self.dropped + other.dropped,
            delivered: self.delivered + other.delivered,
            delivered_wire_bytes: self.delivered_wire_bytes + other.delivered_wire_bytes,
            followed_messages: self.followed_messages + other.followed_messages,
            delayed_messages: self.delayed_messages + other.delayed_messages,
            demoted_messages: self.demoted_messages + other.demoted_messages,
            latency_sum_ps: self.latency_sum_ps + other.latency_sum_ps,
            posted_latency_sum_ps: self.posted_latency_sum_ps + other.posted_latency_sum_ps,
            network_latency_sum_ps: self.network_latency_sum_ps + other.network_latency_sum_ps,
            head_latency_sum_ps: self.head_latency_sum_ps + other.head_latency_sum_ps,
            hops_sum: self.hops_sum + other.hops_sum,
            in_transit_hosts_sum: self.in_transit_hosts_sum + other.in_transit_hosts_sum,
        }
    }
}

impl<'a> Sum<&'a Self> for Slice {
    fn sum<I: Iterator<Item = &'a Self>>(slices: I) -> Self {
        slices.fold(Self::default(), |sum, slice| sum + *slice)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Slices {
    slices: Vec<Slice>,
}

impl Slices {
    pub(super) fn new() -> Self {
        Self { slices: Vec::with_capacity(SLICES_MAX) }
    }

    #[inline]
    pub(super) fn at(&mut self, index: usize) -> &mut Slice {
        if index >= self.slices.len() {
            self.make_room_for(index);
        }
        &mut self.slices[index]
    }

    #[cold]
    fn make_room_for(&mut self, index: usize) {
        self.slices.resize(index + 1, Slice::default());
    }

    pub(super) fn range(&self, from: usize, to: usize) -> &[Slice] {
        let to = to.min(self.slices.len());
        &self.slices[from.min(to)..to]
    }

    pub(super) fn sum(&self, from: usize, to: usize) -> Slice {
        self.range(from, to).iter().sum()
    }

    pub(super) fn double(&mut self) {
        let pairs = self.slices.len().div_ceil(2);
        for index in 0..pairs {
            self.slices[index] = self.sum(2 * index, 2 * index + 2);
        }
        self.slices.truncate(pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubling_slices_keeps_every_sum() {
        let mut slices = Slices::new();
        for index in 0..1_023 {
            let slice = slices.at(index);
            slice.created.messages = 1;
            slice.latency_sum_ps = index as u128;
            slice.hops_sum = 2 * index as u64;
        }
        let before = slices.sum(0, SLICES_MAX);
        slices.double();
        assert_eq!(slices.range(0, SLICES_MAX).len(), 512);
        assert_eq!(slices.sum(0, SLICES_MAX), before);
        // Slice 1 now contains the old slices 2 and 3; the last slice contains only the old slice
        // 1,022.
        assert_eq!((slices.at(1).latency_sum_ps, slices.at(1).hops_sum), (5, 10));
        assert_eq!((slices.at(511).latency_sum_ps, slices.at(511).created.messages), (1_022, 1));
    }

    #[test]
    fn range_after_the_last_slice_is_empty() {
        let mut slices = Slices::new();
        slices.at(3).created.messages = 7;
        assert_eq!(slices.range(2, 9).len(), 2);
        assert_eq!(slices.range(5, 9).len(), 0);
        assert_eq!(slices.sum(5, 9), Slice::default());
    }
}
