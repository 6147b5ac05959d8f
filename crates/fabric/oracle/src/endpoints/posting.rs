//! Posted messages: their credits, attempts and copies (`timing.md`, "Posting").
//!
//! The number of free credits in a pool is its total, minus the credits of accepted posts that have
//! not been returned.

use super::message::MessageIndex;
use gingham_kernel::{Span, Time};
use gingham_net::{
    AdapterPlan, ClassId, Credits, DmaPlan, FlowId, Plan, Priority, REFILL_BYTES, Refused,
};
use gingham_topology::EndpointId;
use std::collections::VecDeque;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Pool {
    Buffer,
    Class(ClassId),
    Flow(FlowId),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    Accepted(MessageIndex),
    Ready(MessageIndex),
    WakeAt(Time),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Post {
    pub(super) message: MessageIndex,
    pub(super) class: ClassId,
    pub(super) flow: Option<FlowId>,
    pub(super) priority: Priority,
    pub(super) payload_bytes: u32,
    pub(super) created: Time,
}

#[derive(Clone, Debug)]
struct Posted {
    post: Post,
    /// Credit pool and its total number of credits; `None` if the message needs no credit.
    pool: Option<(Pool, usize)>,
    /// Interval between attempts; `None` if the message waits for a credit instead.
    period: Option<Span>,
    accepted: Option<usize>,
    has_returned: bool,
    copy: CopyState,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum CopyState {
    NotBegun,
    Begun,
    Done,
}

#[derive(Clone, Copy, Debug)]
struct Work {
    at: Time,
    task: Task,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    Attempt(Pool),
    CopyDone(usize),
}

#[derive(Clone, Debug)]
pub(super) struct Posting {
    plan: AdapterPlan,
    endpoint: EndpointId,
    posts: Vec<Posted>,
    accepted: usize,
    work: Vec<Work>,
    pub(super) effects: VecDeque<Effect>,
    pub(super) is_carrying: bool,
}

impl Posting {
    pub(super) fn new(plan: AdapterPlan, endpoint: EndpointId) -> Self {
        let (posts, work, effects) = (Vec::new(), Vec::new(), VecDeque::new());
        Self { plan, endpoint, posts, accepted: 0, work, effects, is_carrying: false }
    }

    fn free(&self, (pool, credits): (Pool, usize)) -> usize {
        let holds = |of: &&Posted| {
            let is_of_pool = of.pool.is_some_and(|(other, _)| other == pool);
            is_of_pool && of.accepted.is_some() && !of.has_returned
        };
        credits - self.posts.iter().filter(holds).count()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free((Pool::Buffer, self.plan.send_buffer as usize)) == 0
    }

    pub(super) fn post(&mut self, plan: &Plan, post: Post) {
        let class = &plan.classes[post.class.index()].post;
        let endpoint = self.endpoint.index();
        let pool = match &class.credits {
            Credits::Exempt => None,
            Credits::OfBuffer => Some((Pool::Buffer, self.plan.send_buffer)),
            Credits::OfClass(credits) => Some((Pool::Class(post.class), credits[endpoint])),
            Credits::OfFlow(credits) => {
                let flow = post.flow.expect("flows with credits are distinguished");
                Some((Pool::Flow(flow), credits[endpoint]))
            }
        };
        let pool = pool.map(|(pool, credits)| (pool, credits as usize));
        let period = match &class.refused {
            Refused::Wait => None,
            Refused::Retry(periods) => Some(periods[endpoint]),
        };
        let (accepted, has_returned, copy) = (None, false, CopyState::NotBegun);
        self.posts.push(Posted { post, pool, period, accepted, has_returned, copy });
        if pool.is_none_or(|pool| self.free(pool) > 0) {
            self.accept(self.posts.len() - 1, post.created);
        }
    }

    fn accept(&mut self, place: usize, now: Time) {
        self.posts[place].accepted = Some(self.accepted);
        self.accepted += 1;
        let Post { message, .. } = self.posts[place].post;
        self.effects.push_back(Effect::Accepted(message));
        match self.plan.dma {
            None => self.effects.push_back(Effect::Ready(message)),
            Some(dma) => self.begin_copy(dma, now),
        }
    }

    /// Unless a copy is in progress, starts to copy the accepted message with the highest priority;
    /// in a tie, the message that was accepted first.
    fn begin_copy(&mut self, dma: DmaPlan, now: Time) {
        if self.posts.iter().any(|of| of.copy == CopyState::Begun) {
            return;
        }
        let waits = |place: &usize| {
            let of = &self.posts[*place];
            of.accepted.is_some() && of.copy == CopyState::NotBegun
        };
        let order = |place: &usize| {
            let of = &self.posts[*place];
            (std::cmp::Reverse(of.post.priority), of.accepted)
        };
        let Some(place) = (0..self.posts.len()).filter(waits).min_by_key(order) else { return };
        self.posts[place].copy = CopyState::Begun;
        let bytes = u128::from(self.posts[place].post.payload_bytes);
        let ps = (bytes * u128::from(dma.refill.as_ps())).div_ceil(u128::from(REFILL_BYTES));
        let copied = Span::from_ps(u64::try_from(ps).expect("a copy ends within a run"));
        self.schedule(now + dma.setup + copied, Task::CopyDone(place));
    }

    fn schedule(&mut self, at: Time, task: Task) {
        self.work.push(Work { at, task });
        self.effects.push_back(Effect::WakeAt(at));
    }

    /// Passes the credit of a message that has left completely to the first waiting message.
    pub(super) fn left(&mut self, message: MessageIndex, now: Time) {
        let place = self.posts.iter().position(|of| of.post.message == message);
        let place = place.expect("what has left was posted");
        self.posts[place].has_returned = true;
        let Some(pool) = self.posts[place].pool else { return };
        let waits =
            |of: &Posted| of.accepted.is_none() && of.period.is_none() && of.pool == Some(pool);
        if let Some(next) = self.posts.iter().position(waits) {
            self.accept(next, now);
        }
        self.schedule_attempt(pool, now);
    }

    fn retries(&self, pool: (Pool, usize)) -> Vec<(usize, Time, Span)> {
        let retries = |(place, of): (usize, &Posted)| {
            let is_refused = of.accepted.is_none() && of.pool == Some(pool);
            of.period.filter(|_| is_refused).map(|period| (place, of.post.created, period))
        };
        self.posts.iter().enumerate().filter_map(retries).collect()
    }

    fn schedule_attempt(&mut self, pool: (Pool, usize), now: Time) {
        if self.free(pool) == 0 {
            return;
        }
        let next = |(_, created, period): &(usize, Time, Span)| {
            let passed = now.since(*created).as_ps() / period.as_ps();
            *created + *period * (passed + 1)
        };
        let Some(at) = self.retries(pool).iter().map(next).min() else { return };
        let is_earlier = |work: &Work| work.task == Task::Attempt(pool.0) && work.at <= at;
        if !self.work.iter().any(is_earlier) {
            self.schedule(at, Task::Attempt(pool.0));
        }
    }

    pub(super) fn woken(&mut self, now: Time) {
        loop {
            let due = (0..self.work.len()).filter(|place| self.work[*place].at <= now);
            let Some(place) = due.min_by_key(|place| self.work[*place].at) else { return };
            match self.work.remove(place).task {
                Task::Attempt(pool) => self.attempt(pool, now),
                Task::CopyDone(place) => {
                    self.posts[place].copy = CopyState::Done;
                    self.effects.push_back(Effect::Ready(self.posts[place].post.message));
                    let dma = self.plan.dma.expect("there was a copy");
                    self.begin_copy(dma, now);
                }
            }
        }
    }

    fn attempt(&mut self, pool: Pool, now: Time) {
        let of_pool = self.posts.iter().filter_map(|of| of.pool).find(|(of, _)| *of == pool);
        let pool = of_pool.expect("posts of the pool were refused");
        for (place, created, period) in self.retries(pool) {
            let since = now.since(created).as_ps();
            let is_due = since > 0 && since.is_multiple_of(period.as_ps());
            if is_due && self.free(pool) > 0 {
                self.accept(place, now);
            }
        }
        self.schedule_attempt(pool, now);
    }
}
