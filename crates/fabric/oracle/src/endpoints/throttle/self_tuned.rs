//! Self-tuned rule: the estimated number of full buffers is compared with a threshold (Thottethodi,
//! Lebeck and Mukherjee 2001).

use super::May;
use super::tuning::{Period, threshold_after};
use gingham_kernel::{Span, Time};
use gingham_net::{Plan, SelfTunedPlan};

/// Thresholds are in millionths of a buffer.
const MILLION: i128 = 1_000_000;

#[derive(Clone, Copy, Debug)]
struct Count {
    full: u64,
    bytes: u64,
    known_at: Time,
}

#[derive(Clone, Debug)]
pub(in crate::endpoints) struct SelfTuned {
    plan: SelfTunedPlan,
    buffers: u64,
    counts: Vec<Count>,
    known: usize,
    pub(in crate::endpoints) next_gather: Time,
    received_bytes: u64,
}

impl SelfTuned {
    pub(in crate::endpoints) fn new(plan: &Plan, of: SelfTunedPlan) -> Self {
        let between = plan.gathered_channels().len() * usize::from(plan.lanes.count);
        let hosts = plan.fabric.endpoint_ids().filter(|end| !plan.fabric.is_port_0(*end)).count();
        Self {
            plan: of,
            buffers: (between + hosts) as u64,
            counts: Vec::new(),
            known: 0,
            next_gather: Time::ZERO + of.gather,
            received_bytes: 0,
        }
    }

    pub(in crate::endpoints) fn received(&mut self, wire_bytes: u64) {
        self.received_bytes += wire_bytes;
    }

    pub(in crate::endpoints) fn gathers(&mut self, now: Time) -> bool {
        let is_due = self.next_gather == now;
        if is_due {
            self.next_gather = now + self.plan.gather;
        }
        is_due
    }

    /// Records a count. Returns when hosts learn of the count; `None` if they are woken at that
    /// time anyway.
    pub(in crate::endpoints) fn counted(&mut self, full: u64, now: Time) -> Option<Time> {
        let known_at = now + self.plan.side_band;
        self.counts.push(Count { full, bytes: self.received_bytes, known_at });
        self.received_bytes = 0;
        let is_at_gather = known_at.as_ps().is_multiple_of(self.plan.gather.as_ps());
        (known_at > now && !is_at_gather).then_some(known_at)
    }

    /// Applies all counts that have reached hosts by `now`. Returns whether to wake held hosts:
    /// there is a new count, and the estimate falls to the threshold before the next count.
    pub(in crate::endpoints) fn learn(&mut self, now: Time) -> bool {
        let before = self.known;
        self.known += self.counts[before..].iter().take_while(|of| of.known_at <= now).count();
        self.known > before && self.opens().is_some()
    }

    /// Returns the threshold after all known counts, in millionths of a buffer.
    fn threshold(&self) -> u64 {
        let per_period = self.plan.tuning_gathers as usize;
        let mut periods: Vec<Period> = Vec::new();
        let mut current = Period::default();
        for place in 0..self.known {
            current.bytes += self.counts[place].bytes;
            current.full = self.counts[place].full;
            if (place + 1).is_multiple_of(per_period) {
                periods.push(std::mem::take(&mut current));
            }
            let threshold = threshold_after(&self.plan, self.buffers, &periods);
            let is_above = |after_ps| self.is_above(place, after_ps, threshold);
            current.has_throttled |= is_above(0) || is_above(self.plan.gather.as_ps());
        }
        threshold_after(&self.plan, self.buffers, &periods)
    }

    /// Returns whether the estimate exceeds `threshold` at the time `t` = `after_ps` after a count.
    /// The estimate is `N_j + (N_j - N_(j-1)) t / g`, with interval `g` between counts, and is
    /// limited to the range from 0 to the number of buffers.
    fn is_above(&self, count: usize, after_ps: u64, threshold: u64) -> bool {
        let full = i128::from(self.counts[count].full);
        let before = if count > 0 { i128::from(self.counts[count - 1].full) } else { 0 };
        let gather = i128::from(self.plan.gather.as_ps());
        let estimate = full * gather + (full - before) * i128::from(after_ps);
        let estimate = estimate.max(0).min(i128::from(self.buffers) * gather);
        estimate * MILLION > i128::from(threshold) * gather
    }

    /// Returns the time in ps from the last known count until the estimate has fallen to the
    /// threshold; `None` if that takes longer than one interval.
    fn opens(&self) -> Option<u64> {
        let (count, threshold) = (self.known - 1, self.threshold());
        let (mut least, mut most) = (0, self.plan.gather.as_ps());
        if !self.is_above(count, least, threshold) {
            return Some(0);
        }
        if self.is_above(count, most, threshold) {
            return None;
        }
        while most - least > 1 {
            let middle = least.midpoint(most);
            if self.is_above(count, middle, threshold) {
                least = middle;
            } else {
                most = middle;
            }
        }
        Some(most)
    }

    pub(in crate::endpoints) fn may(&self, now: Time) -> May {
        if self.known == 0 {
            return May::Begin;
        }
        let since = self.counts[self.known - 1].known_at;
        if !self.is_above(self.known - 1, now.since(since).as_ps(), self.threshold()) {
            return May::Begin;
        }
        let opens = self.opens().map(|after_ps| since + Span::from_ps(after_ps));
        opens.filter(|at| *at > now).map_or(May::Held, May::At)
    }
}
