//! Self-tuned throttling: hosts start no message while too many buffers of the network are full.
//!
//! ```text
//!   full        ·  N_1 ......· N_2        counted every g, known to hosts D later
//!   buffers  ──────────────────────── threshold, tuned by the throughput
//!            ·             est(t) = N_j + (N_j - N_(j-1)) (t - t_j) / g
//! ```
//!
//! A dedicated side band reports full buffers and delivered bytes to every host. Between two
//! counts, hosts extrapolate linearly.
//!
//! Source: Thottethodi, Lebeck and Mukherjee, "Self-Tuned Congestion Control for Multiprocessor
//! Networks", HPCA 2001. We read only its abstract; default parameters are quoted from memory. Yum
//! et al. 2002 (section 6.1) include adapters among the buffers.
//!
//! Invariant: the estimate is between zero and the number of buffers, and linear between two
//! counts, so it crosses the threshold at most once.

use super::May;
use super::tuner::{Period, Tuner};
use crate::{Order, Plan};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use std::collections::VecDeque;

/// Returns the endpoint that is woken for counts; the choice is arbitrary.
pub(super) fn gatherer() -> EndpointId {
    EndpointId::new(0)
}

/// Number of threshold units per buffer.
const MILLIONTHS: i128 = 1_000_000;

/// Parameters of self-tuned throttling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelfTunedPlan {
    /// Interval between counts; not zero.
    pub gather: Span,
    /// Delay until a count reaches the hosts; at most one tuning period.
    pub side_band: Span,
    /// Counts per tuning period, at least 1.
    pub tuning_gathers: u32,
    /// Initial threshold, in millionths of all buffers.
    pub threshold_millionths: u32,
    /// Increment of the threshold, in millionths of all buffers.
    pub increase_millionths: u32,
    /// Decrement of the threshold, in millionths of all buffers.
    pub decrease_millionths: u32,
    /// Smallest relative drop of throughput that triggers a decrement, in millionths.
    pub drop_millionths: u32,
    /// Number of consecutive periods far below the best period until the best period is forgotten,
    /// at least 1.
    pub patience: u32,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    full: u64,
    bytes: u64,
    due: Time,
}

#[derive(Clone, Debug)]
pub(super) struct SelfTuned {
    plan: SelfTunedPlan,
    buffers: u64,
    tuner: Tuner,
    received_bytes: u64,
    next_gather: Time,
    in_flight: VecDeque<Sample>,
    full: u64,
    full_before: u64,
    /// Arrival time of the last sample; `None` before the first.
    since: Option<Time>,
    period: Period,
}

impl SelfTuned {
    pub(super) fn new(plan: &Plan, of: SelfTunedPlan) -> Self {
        let lanes = u64::from(plan.lanes.count);
        let hosts = plan.fabric.endpoint_ids().filter(|end| !plan.fabric.is_port_0(*end)).count();
        let buffers = plan.gathered_channels().len() as u64 * lanes + hosts as u64;
        Self {
            plan: of,
            buffers,
            tuner: Tuner::new(&of, buffers),
            received_bytes: 0,
            next_gather: Time::ZERO + of.gather,
            in_flight: VecDeque::new(),
            full: 0,
            full_before: 0,
            since: None,
            period: Period::default(),
        }
    }

    pub(super) fn first_gather(&self) -> Order {
        Order::WakeAt { endpoint: gatherer(), at: self.next_gather }
    }

    pub(super) fn on_received(&mut self, wire_bytes: u64) {
        self.received_bytes += wire_bytes;
    }

    pub(super) fn on_woken(&mut self, now: Time, orders: &mut Vec<Order>) -> bool {
        let is_due = self.learn(now);
        if now == self.next_gather {
            self.next_gather = now + self.plan.gather;
            orders.push(Order::WakeAt { endpoint: gatherer(), at: self.next_gather });
            orders.push(Order::Gather);
        }
        is_due
    }

    pub(super) fn on_gathered(&mut self, full: u64, now: Time, orders: &mut Vec<Order>) -> bool {
        let bytes = std::mem::take(&mut self.received_bytes);
        let due = now + self.plan.side_band;
        self.in_flight.push_back(Sample { full, bytes, due });
        // A count at this time wakes the endpoint anyway.
        if due > now && !due.as_ps().is_multiple_of(self.plan.gather.as_ps()) {
            orders.push(Order::WakeAt { endpoint: gatherer(), at: due });
        }
        self.learn(now)
    }

    /// Applies the samples that are due. Returns whether held hosts may start a message before the
    /// next sample.
    fn learn(&mut self, now: Time) -> bool {
        let mut has_learned = false;
        while let Some(sample) = self.in_flight.front().copied().filter(|of| of.due <= now) {
            self.in_flight.pop_front();
            self.full_before = std::mem::replace(&mut self.full, sample.full);
            self.since = Some(sample.due);
            self.period.gathers += 1;
            self.period.bytes += sample.bytes;
            self.period.full = sample.full;
            if self.period.gathers == self.plan.tuning_gathers {
                let period = std::mem::take(&mut self.period);
                self.tuner.tune(&self.plan, period);
            }
            let [begin, end] = [0, self.plan.gather.as_ps()].map(|ps| self.is_above(ps));
            self.period.has_throttled |= begin || end;
            has_learned = true;
        }
        has_learned && self.opens().is_some()
    }

    /// Returns the clamped estimate after `after_ps`, in millionths of a buffer times the interval
    /// between counts in ps.
    fn scaled_estimate(&self, after_ps: u64) -> i128 {
        let gather = i128::from(self.plan.gather.as_ps());
        let (full, before) = (i128::from(self.full), i128::from(self.full_before));
        let line = full * gather + (full - before) * i128::from(after_ps);
        line.clamp(0, i128::from(self.buffers) * gather) * MILLIONTHS
    }

    fn scaled_threshold(&self) -> i128 {
        i128::from(self.tuner.threshold()) * i128::from(self.plan.gather.as_ps())
    }

    fn is_above(&self, after_ps: u64) -> bool {
        self.scaled_estimate(after_ps) > self.scaled_threshold()
    }

    /// Returns the time in ps until the estimate is at most the threshold; `None` if the next count
    /// comes first.
    fn opens(&self) -> Option<u64> {
        let gather = self.plan.gather.as_ps();
        if !self.is_above(0) {
            return Some(0);
        }
        if self.is_above(gather) {
            return None;
        }
        // The estimate has fallen enough if full * gather - fall * after <= threshold / MILLIONTHS
        // * gather.
        let fall = (i128::from(self.full_before) - i128::from(self.full)) * MILLIONTHS;
        let above = i128::from(self.full) * MILLIONTHS * i128::from(gather);
        let excess = above - self.scaled_threshold();
        let after = excess.div_euclid(fall) + i128::from(excess.rem_euclid(fall) > 0);
        Some(u64::try_from(after).expect("it opens before the next gather"))
    }

    pub(super) fn may(&self, now: Time) -> May {
        let Some(since) = self.since else { return May::Begin };
        if !self.is_above(now.since(since).as_ps()) {
            return May::Begin;
        }
        let opens = self.opens().map(|after| since + Span::from_ps(after));
        opens.filter(|at| *at > now).map_or(May::BeHeld, May::BeginAt)
    }
}
