//! Self-tuned: no host begins a message while too many buffers of the network are full.
//!
//! ```text
//!   full        ·  N_1 ......· N_2        counted every g, known D later
//!   buffers  ──────────────────────── threshold, which the throughput tunes
//!            ·             est(t) = N_j + (N_j - N_(j-1)) (t - t_j) / g
//! ```
//!
//! A side band that carries nothing else tells every host how many buffers are full, and how much was
//! delivered. Between two gathers hosts extrapolate on a straight line.
//!
//! Source: Thottethodi, Lebeck and Mukherjee, "Self-Tuned Congestion Control for Multiprocessor
//! Networks", HPCA 2001. Yum et al. 2002 (section 6.1) run it with the status of adapters among the
//! buffers. What we read of the first is its abstract; its figures are recalled from the literature,
//! and each is a parameter here ([`SelfTunedPlan`]).
//!
//! Invariant: the estimate is between no buffer and all, and a straight line between two gathers, so
//! that it crosses the threshold once at the most.

use super::May;
use super::tuner::{Period, Tuner};
use crate::{Order, Plan};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use std::collections::VecDeque;

/// The endpoint that is woken for gathers: any would do.
pub(super) fn gatherer() -> EndpointId {
    EndpointId::new(0)
}

/// Millionths of a buffer, in which thresholds are kept, to a buffer.
const MILLIONTHS: i128 = 1_000_000;

/// The parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SelfTunedPlan {
    /// How often buffers are counted; not zero.
    pub gather: Span,
    /// How long a count is on its way to the hosts; at most a tuning period.
    pub side_band: Span,
    /// Gathers of a tuning period, at least 1.
    pub tuning_gathers: u32,
    /// The first threshold, in millionths of all buffers; so are the next two.
    pub threshold_millionths: u32,
    /// By how much the threshold grows.
    pub increase_millionths: u32,
    /// By how much it falls.
    pub decrease_millionths: u32,
    /// The fall of throughput that counts as one, in millionths.
    pub drop_millionths: u32,
    /// Periods far below the best after which that is forgotten, at least 1.
    pub patience: u32,
}

/// What was counted at a gather.
#[derive(Clone, Copy, Debug)]
struct Sample {
    full: u64,
    bytes: u64,
    /// When hosts know of it.
    due: Time,
}

/// What hosts know.
#[derive(Clone, Debug)]
pub(super) struct SelfTuned {
    plan: SelfTunedPlan,
    /// All buffers.
    buffers: u64,
    tuner: Tuner,
    /// Bytes of packets that were received since the last gather.
    received_bytes: u64,
    next_gather: Time,
    /// Samples on their way, the first first.
    under_way: VecDeque<Sample>,
    /// Full buffers of the last sample that is known, and of the one before.
    full: u64,
    full_before: u64,
    /// Since when that is known; nothing is before the first.
    since: Option<Time>,
    /// The period that lasts.
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
            under_way: VecDeque::new(),
            full: 0,
            full_before: 0,
            since: None,
            period: Period::default(),
        }
    }

    pub(super) fn first_gather(&self) -> Order {
        Order::WakeAt { endpoint: gatherer(), at: self.next_gather }
    }

    // What happens.

    pub(super) fn on_received(&mut self, wire_bytes: u64) {
        self.received_bytes += wire_bytes;
    }

    /// The endpoint that gathers is woken. Returns whether hosts that are held are to be.
    pub(super) fn on_woken(&mut self, now: Time, orders: &mut Vec<Order>) -> bool {
        let is_due = self.learn(now);
        if now == self.next_gather {
            self.next_gather = now + self.plan.gather;
            orders.push(Order::WakeAt { endpoint: gatherer(), at: self.next_gather });
            orders.push(Order::Gather);
        }
        is_due
    }

    /// So many buffers are full. Returns whether hosts that are held are to be woken.
    pub(super) fn on_gathered(&mut self, full: u64, now: Time, orders: &mut Vec<Order>) -> bool {
        let bytes = std::mem::take(&mut self.received_bytes);
        let due = now + self.plan.side_band;
        self.under_way.push_back(Sample { full, bytes, due });
        // At a gather the endpoint is woken anyway.
        if due > now && !due.as_ps().is_multiple_of(self.plan.gather.as_ps()) {
            orders.push(Order::WakeAt { endpoint: gatherer(), at: due });
        }
        self.learn(now)
    }

    /// Hosts hear of what is due. Returns whether those that are held may begin something before they
    /// hear of more.
    fn learn(&mut self, now: Time) -> bool {
        let mut has_learned = false;
        while let Some(sample) = self.under_way.front().copied().filter(|of| of.due <= now) {
            self.under_way.pop_front();
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

    // The estimate.

    /// The estimate, so long after the last sample became known, in millionths of a buffer times
    /// picoseconds of a gather, and clamped.
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

    /// How long after the last sample became known the estimate is not above the threshold for the
    /// first time, up to the next gather.
    fn opens(&self) -> Option<u64> {
        let gather = self.plan.gather.as_ps();
        if !self.is_above(0) {
            return Some(0);
        }
        if self.is_above(gather) {
            return None;
        }
        // It falls: full * gather - fall * after <= threshold / MILLIONTHS * gather.
        let fall = (i128::from(self.full_before) - i128::from(self.full)) * MILLIONTHS;
        let above = i128::from(self.full) * MILLIONTHS * i128::from(gather);
        let excess = above - self.scaled_threshold();
        let after = excess.div_euclid(fall) + i128::from(excess.rem_euclid(fall) > 0);
        Some(u64::try_from(after).expect("it opens before the next gather"))
    }

    /// Whether a message may begin at an instant.
    pub(super) fn may(&self, now: Time) -> May {
        let Some(since) = self.since else { return May::Begin };
        if !self.is_above(now.since(since).as_ps()) {
            return May::Begin;
        }
        let opens = self.opens().map(|after| since + Span::from_ps(after));
        opens.filter(|at| *at > now).map_or(May::BeHeld, May::BeginAt)
    }
}
