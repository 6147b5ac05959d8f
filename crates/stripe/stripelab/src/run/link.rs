//! A channel in both directions, with the packets and markers that the scenario selects for loss.

use crate::plan::{Change, LinkPlan};
use gingham_kernel::{Span, Time};
use gingham_linkemu::{Arrival, Channel, Counters, DropReason, Fate, Parameters};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Data,
    Message,
    Copy,
}

#[derive(Debug)]
pub(crate) struct Link {
    plan: LinkPlan,
    forth: Channel,
    back: Channel,
    data: u64,
    messages: u64,
    changed: usize,
    queue_bytes_max: u64,
}

impl Link {
    pub(crate) fn new(plan: &LinkPlan, seed: u64) -> Self {
        let checked = "parameters are checked where scenarios are compiled";
        let channel = |parameters: &Parameters, way| {
            let direction = format!("{} {way}", plan.name);
            Channel::new(parameters.clone(), seed, &direction).expect(checked)
        };
        Self {
            forth: channel(&plan.forth, "forth"),
            back: channel(&plan.back, "back"),
            plan: plan.clone(),
            data: 0,
            messages: 0,
            changed: 0,
            queue_bytes_max: 0,
        }
    }

    /// Sends a packet. A packet selected for loss still occupies the queue and the wire.
    pub(crate) fn offer(&mut self, now: Time, length_bytes: u32, kind: Kind) -> Fate {
        let chosen = match kind {
            Kind::Data => is_next(&mut self.data, &self.plan.lose),
            Kind::Message => is_next(&mut self.messages, &self.plan.lose_markers),
            Kind::Copy => false,
        };
        let fate = self.forth.offer(now, length_bytes);
        self.queue_bytes_max = self.queue_bytes_max.max(self.forth.backlog_bytes(now));
        match fate {
            Fate::Dropped(DropReason::QueueFull | DropReason::Policed) => fate,
            _ if chosen => Fate::Dropped(DropReason::Lost),
            _ => fate,
        }
    }

    pub(crate) fn offer_back(&mut self, now: Time, length_bytes: u32) -> Option<Arrival> {
        self.back.offer(now, length_bytes).arrivals().next()
    }

    pub(crate) fn room_at(&self, now: Time, length_bytes: u64) -> Time {
        let parameters = self.forth.parameters();
        let filled_bytes = self.backlog_bytes(now) + length_bytes;
        let over_bytes = u128::from(filled_bytes.saturating_sub(self.queue_bytes()));
        let rate = u128::from(parameters.rate.bytes_per_second());
        let wait_ps = (over_bytes * PS_PER_SECOND).div_ceil(rate);
        now + Span::from_ps(u64::try_from(wait_ps).expect("a queue is emptied within a day"))
    }

    pub(crate) fn drained_in_ps(&self, now: Time) -> u128 {
        let rate = u128::from(self.forth.parameters().rate.bytes_per_second());
        u128::from(self.backlog_bytes(now)) * PS_PER_SECOND / rate
    }

    pub(crate) fn backlog_bytes(&self, now: Time) -> u64 {
        self.forth.backlog_bytes(now)
    }

    pub(crate) fn wait(&self, now: Time) -> Span {
        self.forth.wait(now)
    }

    pub(crate) fn queue_bytes(&self) -> u64 {
        let parameters = self.forth.parameters();
        parameters.queue.bytes_at(parameters.rate)
    }

    pub(crate) fn next_competing(&self) -> Option<Time> {
        self.forth.next_competing()
    }

    pub(crate) fn compete(&mut self, now: Time) {
        self.forth.compete(now);
        self.queue_bytes_max = self.queue_bytes_max.max(self.forth.backlog_bytes(now));
    }

    pub(crate) const fn counters(&self) -> Counters {
        self.forth.counters()
    }

    pub(crate) const fn queue_bytes_max(&self) -> u64 {
        self.queue_bytes_max
    }

    pub(crate) fn next_change(&self) -> Option<Time> {
        self.plan.changes.get(self.changed).map(|(at, _)| *at)
    }

    pub(crate) fn change(&mut self, now: Time) -> Option<u32> {
        let (_, change) = self.plan.changes[self.changed];
        self.changed += 1;
        match change {
            Change::Rate(rate) => self.forth.set_rate(now, rate),
            Change::Loss(loss) => self.forth.set_loss(loss),
            Change::Mtu(mtu_bytes) => self.forth.set_mtu(Some(mtu_bytes)),
            Change::Quantum(quantum) => return Some(quantum),
        }
        None
    }
}

fn is_next(number: &mut u64, among: &[u64]) -> bool {
    *number += 1;
    among.binary_search(number).is_ok()
}

const PS_PER_SECOND: u128 = 1_000_000_000_000;
