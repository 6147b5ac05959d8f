//! Replies to messages of another class, each created one think time after a delivery.

use super::{Awaited, Start, Workload};
use crate::Message;
use crate::traffic::{Draft, ReplyPlan};
use gingham_kernel::{Purpose, Stream, Time};
use gingham_topology::EndpointId;
use std::collections::VecDeque;
use std::ops::Range;

#[derive(Clone, Debug)]
pub(in crate::traffic) struct Replies {
    plan: ReplyPlan,
    length: Stream,
    active: Range<Time>,
    pending: VecDeque<(Time, EndpointId)>,
}

impl Replies {
    pub(super) fn new(start: Start<'_>, plan: &ReplyPlan) -> Self {
        let length = start.random()(Purpose::Length);
        let (plan, pending) = (plan.clone(), VecDeque::new());
        Self { plan, length, active: start.active(), pending }
    }
}

impl Workload for Replies {
    fn next_at(&self) -> Option<Time> {
        None
    }

    fn due(&mut self, now: Time) -> Option<Draft> {
        let &(at, destination) = self.pending.front()?;
        if at > now {
            return None;
        }
        self.pending.pop_front();
        Some(Draft { destination, payload_bytes: self.plan.lengths.draw(&mut self.length) })
    }

    fn is_finished(&self) -> bool {
        self.pending.is_empty()
    }

    fn end(&mut self) {
        self.pending.clear();
        self.active.end = self.active.start;
    }

    fn awaited(&self) -> Awaited {
        Awaited { deliveries: Some(self.plan.to), ..Awaited::default() }
    }

    fn delivered(&mut self, message: &Message, now: Time) -> Option<Time> {
        let at = now + self.plan.think;
        if !self.active.contains(&at) {
            return None;
        }
        self.pending.push_back((at, message.source));
        Some(at)
    }
}
