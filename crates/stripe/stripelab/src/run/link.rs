//! A channel of a run: its two ways, and the packets and markers that the scenario has chosen to
//! lose.

use crate::plan::{Change, LinkPlan};
use gingham_kernel::{Span, Time};
use gingham_linkemu::{Arrival, Channel, Counters, DropReason, Fate, Parameters};

/// What is offered to the way forth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Data,
    Message,
    /// A copy of a packet of data, of which none is chosen to be lost.
    Copy,
}

/// A channel of a run.
#[derive(Debug)]
pub(crate) struct Link {
    plan: LinkPlan,
    forth: Channel,
    back: Channel,
    /// Packets of data and messages that were offered.
    data: u64,
    messages: u64,
    /// Changes that have happened.
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

    /// Offers something to the way forth. What the scenario has chosen to lose takes its time on
    /// the wire like anything else that is lost.
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

    /// Offers a message to the way back.
    pub(crate) fn offer_back(&mut self, now: Time, length_bytes: u32) -> Option<Arrival> {
        self.back.offer(now, length_bytes).arrivals().next()
    }

    /// When there is room for so many bytes: now, or at an instant to come.
    pub(crate) fn room_at(&self, now: Time, length_bytes: u64) -> Time {
        let parameters = self.forth.parameters();
        let filled_bytes = self.backlog_bytes(now) + length_bytes;
        let over_bytes = u128::from(filled_bytes.saturating_sub(self.queue_bytes()));
        let rate = u128::from(parameters.rate.bytes_per_second());
        let wait_ps = (over_bytes * PS_PER_SECOND).div_ceil(rate);
        now + Span::from_ps(u64::try_from(wait_ps).expect("a queue is emptied within a day"))
    }

    /// Time until the queue is empty, in picoseconds.
    pub(crate) fn drained_in_ps(&self, now: Time) -> u128 {
        let rate = u128::from(self.forth.parameters().rate.bytes_per_second());
        u128::from(self.backlog_bytes(now)) * PS_PER_SECOND / rate
    }

    /// Bytes in the queue of the way forth.
    pub(crate) fn backlog_bytes(&self, now: Time) -> u64 {
        self.forth.backlog_bytes(now)
    }

    /// How long a packet that is offered to the way forth waits until it is sent.
    pub(crate) fn wait(&self, now: Time) -> Span {
        self.forth.wait(now)
    }

    /// The most that the queue of the way forth may hold; of one that is bounded by time, at its
    /// rate of the moment.
    pub(crate) fn queue_bytes(&self) -> u64 {
        let parameters = self.forth.parameters();
        parameters.queue.bytes_at(parameters.rate)
    }

    /// When the next packet of competing traffic comes.
    pub(crate) fn next_competing(&self) -> Option<Time> {
        self.forth.next_competing()
    }

    /// It comes.
    pub(crate) fn compete(&mut self, now: Time) {
        self.forth.compete(now);
        self.queue_bytes_max = self.queue_bytes_max.max(self.forth.backlog_bytes(now));
    }

    /// What became of everything that was offered to the way forth.
    pub(crate) const fn counters(&self) -> Counters {
        self.forth.counters()
    }

    /// The most that the queue of the way forth has held.
    pub(crate) const fn queue_bytes_max(&self) -> u64 {
        self.queue_bytes_max
    }

    /// When something changes on it next.
    pub(crate) fn next_change(&self) -> Option<Time> {
        self.plan.changes.get(self.changed).map(|(at, _)| *at)
    }

    /// The next change happens; tells the quantum that the channel is to have, if that is what
    /// changes.
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

/// Whether the next number is among these.
fn is_next(number: &mut u64, among: &[u64]) -> bool {
    *number += 1;
    among.binary_search(number).is_ok()
}

const PS_PER_SECOND: u128 = 1_000_000_000_000;
