//! Posted messages of a run: credit pools, DMA engines, and scheduled attempts.

use super::dma::Dma;
use super::pool::Pool;
use super::{AdapterPlan, Credits, Refused};
use crate::messages::Messages;
use crate::postponed::Postponed;
use crate::{ClassId, ClassPlan, FlowId, Message, MessageSlot, Plan};
use gingham_kernel::Time;
use gingham_topology::EndpointId;
use std::collections::{BTreeMap, VecDeque};

/// Effect of posting a message. Effects are applied in order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Outcome {
    Accepted(MessageSlot),
    Ready(MessageSlot),
    WakeAt(EndpointId, Time),
}

#[derive(Clone, Debug)]
pub(crate) struct Posts {
    plan: AdapterPlan,
    classes: usize,
    pools: Vec<Pool>,
    /// Number of pools for whole send buffers, which come first in `pools`.
    buffers: usize,
    of_class: Box<[Need]>,
    of_flow: BTreeMap<FlowId, usize>,
    engines: Box<[Dma]>,
    due: Box<[Postponed<Due>]>,
    numbers: Box<[u64]>,
    outcomes: VecDeque<Outcome>,
    is_carrying: bool,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    Attempt(usize),
    Copied,
}

#[derive(Clone, Copy, Debug)]
enum Need {
    Nothing,
    Pool(usize),
    OfFlow(u32),
}

impl Posts {
    pub(crate) fn new(plan: &Plan) -> Option<Self> {
        let adapters = plan.adapters?;
        let endpoints = plan.fabric.endpoints().len();
        let mut pools = vec![Pool::new(adapters.send_buffer); endpoints];
        let mut of_class = Vec::new();
        for endpoint in plan.fabric.endpoint_ids() {
            for class in &plan.classes {
                // Port 0 of a switch posts no messages.
                if plan.fabric.is_port_0(endpoint) {
                    of_class.push(Need::Nothing);
                    continue;
                }
                let endpoint = endpoint.index();
                of_class.push(match &class.post.credits {
                    Credits::Exempt => Need::Nothing,
                    Credits::OfBuffer => Need::Pool(endpoint),
                    Credits::OfFlow(credits) => Need::OfFlow(credits[endpoint]),
                    Credits::OfClass(credits) => {
                        pools.push(Pool::new(credits[endpoint]));
                        Need::Pool(pools.len() - 1)
                    }
                });
            }
        }
        let engines = if adapters.dma.is_some() { endpoints } else { 0 };
        Some(Self {
            plan: adapters,
            classes: plan.classes.len(),
            pools,
            buffers: endpoints,
            of_class: of_class.into(),
            of_flow: BTreeMap::new(),
            engines: vec![Dma::default(); engines].into(),
            due: vec![Postponed::default(); endpoints].into(),
            numbers: vec![0; endpoints].into(),
            outcomes: VecDeque::new(),
            is_carrying: false,
        })
    }

    /// Marks outcomes as being applied. Returns false if a caller is already applying them.
    pub(crate) fn begin_outcomes(&mut self) -> bool {
        !std::mem::replace(&mut self.is_carrying, true)
    }

    pub(crate) fn next_outcome(&mut self) -> Option<Outcome> {
        let outcome = self.outcomes.pop_front();
        self.is_carrying = outcome.is_some();
        outcome
    }

    pub(crate) fn post(
        &mut self,
        messages: &mut Messages,
        class: &ClassPlan,
        slot: MessageSlot,
        now: Time,
    ) {
        let message = *messages.message(slot);
        let Some(place) = self.pool_of(&message) else { return self.accept(messages, slot, now) };
        if self.pools[place].take() {
            return self.accept(messages, slot, now);
        }
        match &class.post.refused {
            Refused::Wait => self.pools[place].wait(messages, slot),
            Refused::Retry(periods) => {
                let number = self.count(message.source);
                let period = periods[message.source.index()];
                self.pools[place].retry(slot, number, period, now);
            }
        }
    }

    pub(crate) fn left(&mut self, messages: &mut Messages, slot: MessageSlot, now: Time) {
        let message = *messages.message(slot);
        let Some(place) = self.pool_of(&message) else { return };
        if let Some(next) = self.pools[place].give_back(messages) {
            self.accept(messages, next, now);
        }
        self.await_attempt(place, message.source, now);
    }

    pub(crate) fn full_buffers(&self) -> u64 {
        let of_buffers = &self.pools[..self.buffers];
        of_buffers.iter().filter(|pool| pool.is_empty()).count() as u64
    }

    pub(crate) fn woken(&mut self, messages: &mut Messages, endpoint: EndpointId, now: Time) {
        while let Some(what) = self.due[endpoint.index()].take(now) {
            match what {
                Due::Attempt(place) => {
                    for slot in self.pools[place].attempt(now) {
                        self.accept(messages, slot, now);
                    }
                    self.await_attempt(place, endpoint, now);
                }
                Due::Copied => {
                    let slot = self.engines[endpoint.index()].end();
                    self.outcomes.push_back(Outcome::Ready(slot));
                    self.begin_copy(endpoint, now);
                }
            }
        }
    }

    fn accept(&mut self, messages: &mut Messages, slot: MessageSlot, now: Time) {
        messages.post(slot, now);
        self.outcomes.push_back(Outcome::Accepted(slot));
        if self.engines.is_empty() {
            return self.outcomes.push_back(Outcome::Ready(slot));
        }
        let message = *messages.message(slot);
        let number = self.count(message.source);
        let (priority, _) = messages.level_of(slot);
        let engine = &mut self.engines[message.source.index()];
        engine.put(slot, message.payload_bytes, priority, number);
        self.begin_copy(message.source, now);
    }

    fn begin_copy(&mut self, endpoint: EndpointId, now: Time) {
        let plan = self.plan.dma.expect("there are engines");
        if let Some(done) = self.engines[endpoint.index()].begin(plan, now) {
            self.wake_at(endpoint, done, Due::Copied);
        }
    }

    fn await_attempt(&mut self, place: usize, endpoint: EndpointId, now: Time) {
        if let Some(at) = self.pools[place].next_attempt(now) {
            self.wake_at(endpoint, at, Due::Attempt(place));
        }
    }

    fn wake_at(&mut self, endpoint: EndpointId, at: Time, what: Due) {
        self.due[endpoint.index()].put(at, what);
        self.outcomes.push_back(Outcome::WakeAt(endpoint, at));
    }

    fn pool_of(&mut self, message: &Message) -> Option<usize> {
        match self.of_class[self.place(message.source, message.class)] {
            Need::Nothing => None,
            Need::Pool(place) => Some(place),
            Need::OfFlow(credits) => {
                let flow = message.flow.expect("flows that have credits are told apart");
                Some(*self.of_flow.entry(flow).or_insert_with(|| {
                    self.pools.push(Pool::new(credits));
                    self.pools.len() - 1
                }))
            }
        }
    }

    fn place(&self, endpoint: EndpointId, class: ClassId) -> usize {
        endpoint.index() * self.classes + class.index()
    }

    fn count(&mut self, endpoint: EndpointId) -> u64 {
        self.numbers[endpoint.index()] += 1;
        self.numbers[endpoint.index()]
    }
}
