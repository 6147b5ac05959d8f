//! State and queues of flows at their sources; `receipts` has the state at the destinations.
//!
//! A flow gets its number when its first message is created. Only controlled flows have separate
//! queues. A flow with a closed window leaves the round robin of its level until an acknowledgement
//! arrives.

use crate::messages::{Messages, Queue};
use crate::response::{Limits, Responder, RoundTrips};
use crate::{
    ClassId, ClassPlan, Excess, FlowId, FlowKey, Hold, MessageSlot, Plan, RateLimit, RateLimitPlan,
    WindowPlan,
};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::VcClass;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub(crate) struct Flows {
    /// For each class: whether its flows are tracked; empty if no flows are tracked.
    tracked: Box<[bool]>,
    ids: BTreeMap<FlowKey, FlowId>,
    by_id: Vec<Flow>,
    held: Vec<Held>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub(crate) flow: FlowId,
    pub(crate) by: Hold,
    pub(crate) from: Time,
    pub(crate) to: Time,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum FlowState {
    MayGo,
    Shut,
    Empty,
}

#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) key: FlowKey,
    pub(crate) is_controlled: bool,
    pub(crate) queue: Queue,
    pub(crate) limits: Limits,
    responder: Option<Responder>,
    round_trips: Option<Box<RoundTrips>>,
    /// Number of unacknowledged packets; always 0 unless the class acknowledges every packet.
    in_flight_packets: u32,
    is_acknowledged: bool,
    /// Earliest start of the next packet under the rate limit.
    pub(crate) earliest: Time,
    pub(crate) lane: Option<VcClass>,
    shut_since: Option<Time>,
    pub(crate) short_since: Option<Time>,
}

impl Flows {
    pub(crate) fn new(plan: &Plan) -> Self {
        let tracked = |(index, class): (usize, &ClassPlan)| {
            let is_followed = |key: &FlowKey| key.class.index() == index;
            class.is_controlled()
                || class.post.is_by_flow()
                || plan.measure.flows
                || plan.follow.flows.iter().any(is_followed)
                || has_streams(plan, ClassId::new(index))
        };
        let tracked: Box<[bool]> = plan.classes.iter().enumerate().map(tracked).collect();
        Self {
            tracked: if tracked.contains(&true) { tracked } else { Box::default() },
            ids: BTreeMap::new(),
            by_id: Vec::new(),
            held: Vec::new(),
        }
    }

    #[inline]
    pub(crate) fn is_tracked(&self, class: ClassId) -> bool {
        self.tracked.get(class.index()).is_some_and(|tracked| *tracked)
    }

    pub(crate) fn find(&mut self, plan: &Plan, key: FlowKey) -> (FlowId, bool) {
        if let Some(id) = self.ids.get(&key) {
            return (*id, false);
        }
        let id = FlowId::new(self.by_id.len());
        self.ids.insert(key, id);
        self.by_id.push(Flow::new(plan, key));
        (id, true)
    }

    pub(crate) fn get(&self, id: FlowId) -> &Flow {
        &self.by_id[id.index()]
    }

    pub(crate) fn get_mut(&mut self, id: FlowId) -> &mut Flow {
        &mut self.by_id[id.index()]
    }

    /// Adds a message. Returns whether the flow was empty and may now send.
    pub(crate) fn put(
        &mut self,
        id: FlowId,
        messages: &mut Messages,
        slot: MessageSlot,
        now: Time,
    ) -> bool {
        let flow = self.get_mut(id);
        let had_none = flow.queue.is_empty();
        flow.queue.push_back(messages, slot);
        had_none && self.waits_from(id, now)
    }

    /// Records that the flow's next packet starts at `now`; `is_done` is set for the last packet of
    /// a message.
    #[inline(never)]
    pub(crate) fn took(
        &mut self,
        id: FlowId,
        messages: &Messages,
        payload_bytes: u32,
        is_done: bool,
        now: Time,
    ) -> FlowState {
        let flow = self.get_mut(id);
        if is_done {
            flow.queue.pop_front(messages);
        }
        flow.in_flight_packets += u32::from(flow.is_acknowledged);
        if let Some(responder) = &mut flow.responder {
            responder.sends(payload_bytes, &mut flow.limits, now);
        }
        if let Some(round_trips) = &mut flow.round_trips {
            round_trips.start(now);
        }
        if let Some(rate_limit) = flow.limits.rate_limit {
            flow.earliest = rate_limit.next_start(now, payload_bytes);
        }
        if flow.limits.gap > Span::ZERO {
            flow.earliest = flow.earliest.max(now + flow.limits.gap);
        }
        if let Some(from) = flow.short_since.take() {
            self.note(id, Hold::Tokens, from, now);
        }
        if self.get(id).queue.is_empty() {
            FlowState::Empty
        } else if self.waits_from(id, now) {
            FlowState::MayGo
        } else {
            FlowState::Shut
        }
    }

    /// Handles an acknowledgement; `marked` is set if at least one acknowledged packet was marked.
    /// Returns the new state of a nonempty flow, if the state changes.
    pub(crate) fn acknowledged(
        &mut self,
        id: FlowId,
        packets: u32,
        marked: bool,
        now: Time,
    ) -> Option<FlowState> {
        let flow = self.get_mut(id);
        if flow.is_acknowledged {
            let left = flow.in_flight_packets.checked_sub(packets);
            flow.in_flight_packets = left.expect("what is acknowledged was sent");
        }
        if let Some(responder) = &mut flow.responder {
            if marked {
                responder.down(&mut flow.limits, now);
            } else {
                (0..packets).for_each(|_| responder.up(&mut flow.limits, now));
            }
            if let Some(round_trips) = &mut flow.round_trips {
                responder.measured(round_trips.end(packets, now), &mut flow.limits, now);
            }
        }
        let is_shut = flow.in_flight_packets >= flow.limits.window_packets;
        match flow.shut_since {
            Some(from) if !is_shut => {
                flow.shut_since = None;
                self.note(id, Hold::Window, from, now);
                self.waits_for_rate_limit(id, now.max(from));
                Some(FlowState::MayGo)
            }
            // The congestion response has closed the window. A wait for tokens ends here; the wait
            // for the rate limit was recorded in advance.
            None if is_shut && !flow.queue.is_empty() => {
                flow.shut_since = Some(now.max(flow.earliest));
                if let Some(from) = flow.short_since.take() {
                    self.note(id, Hold::Tokens, from, now);
                }
                Some(FlowState::Shut)
            }
            _ => None,
        }
    }

    /// Records the waits for windows and tokens up to `now`, and restarts them at `now`.
    pub(crate) fn settle(&mut self, now: Time) {
        for index in 0..self.by_id.len() {
            let id = FlowId::new(index);
            let flow = self.get_mut(id);
            let since = [&mut flow.shut_since, &mut flow.short_since];
            let since = since.map(|since| since.as_mut().filter(|from| **from < now));
            let [shut, short] = since.map(|since| since.map(|from| std::mem::replace(from, now)));
            for (by, from) in [(Hold::Window, shut), (Hold::Tokens, short)] {
                if let Some(from) = from {
                    self.note(id, by, from, now);
                }
            }
        }
    }

    fn waits_from(&mut self, id: FlowId, now: Time) -> bool {
        let flow = self.get_mut(id);
        if flow.in_flight_packets >= flow.limits.window_packets {
            flow.shut_since = Some(now);
            return false;
        }
        self.waits_for_rate_limit(id, now);
        true
    }

    fn waits_for_rate_limit(&mut self, id: FlowId, now: Time) {
        self.note(id, Hold::RateLimit, now, self.get(id).earliest);
    }

    fn note(&mut self, flow: FlowId, by: Hold, from: Time, to: Time) {
        if from < to {
            self.held.push(Held { flow, by, from, to });
        }
    }

    #[inline]
    pub(crate) fn has_held(&self) -> bool {
        !self.held.is_empty()
    }

    #[inline]
    pub(crate) fn next_held(&mut self) -> Option<Held> {
        self.held.pop()
    }

    /// Returns the number of flows with something to send that wait for an acknowledgement.
    pub(crate) fn shut(&self) -> usize {
        self.by_id.iter().filter(|flow| flow.shut_since.is_some()).count()
    }
}

/// Returns whether a class sends stream messages, created in the class or demoted to it.
fn has_streams(plan: &Plan, class: ClassId) -> bool {
    let demotes = |of: &ClassPlan| {
        of.policing.as_ref().is_some_and(|policing| policing.excess == Excess::Demote(class))
    };
    let is_it = |index: usize, of: &ClassPlan| index == class.index() || demotes(of);
    let has = |of: &ClassPlan| of.sources.iter().any(|source| source.stream().is_some());
    plan.classes.iter().enumerate().any(|(index, of)| is_it(index, of) && has(of))
}

impl Flow {
    fn new(plan: &Plan, key: FlowKey) -> Self {
        let class = &plan.classes[key.class.index()];
        let window = class.window.as_ref();
        let rate_limit =
            |rate_limit: &RateLimitPlan| RateLimit::new(rate_limit.refill[key.source.index()]);
        let limits = Limits {
            window_packets: window.map_or(u32::MAX, |window| window.packets),
            rate_limit: class.rate_limit.as_ref().map(rate_limit),
            gap: Span::ZERO,
        };
        let needs_round_trips = |window: &&WindowPlan| window.response.needs_round_trips();
        Self {
            key,
            is_controlled: class.is_controlled(),
            queue: Queue::default(),
            limits,
            responder: window.map(|window| window.response.start(&limits)),
            round_trips: window.filter(needs_round_trips).map(|_| Box::default()),
            in_flight_packets: 0,
            is_acknowledged: window.is_some_and(|window| window.acknowledged.is_of_all()),
            earliest: Time::ZERO,
            lane: None,
            shut_since: None,
            short_since: None,
        }
    }
}
