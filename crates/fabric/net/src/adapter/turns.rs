//! Round robin within one priority level of a queue group, for adapters that can hold packets back.
//!
//! ```text
//!   level 1   ACKs      [ a3 ][ a9 ]                 before all others of the level
//!             ring      [ f2 ][ shared ][ f7 ]       round robin among open flows, one packet each
//!             shared    [ m4 ][ m7 ]                 of uncontrolled classes
//!   level 0   ...
//! ```
//!
//! A flow with a closed window is not in the ring. A flow that waits for its rate limit, or for the
//! tokens of its class, keeps its position and is skipped.

use super::policers::{Policer, delaying};
use crate::flows::{Flow, FlowState, Flows};
use crate::messages::Messages;
use crate::throttle::{May, Throttle};
use crate::{FlowId, MessageSlot, Packet};
use gingham_kernel::Time;
use std::collections::VecDeque;

#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Packets without a message, each with the time when it was queued.
    ordered: VecDeque<(Packet, Time)>,
    ring: VecDeque<Member>,
    /// Number of flows with something to send, including flows with a closed window.
    flows: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    Shared,
    Flow(FlowId),
}

/// Controls other than windows and rate limits: injection throttling and token buckets.
pub(super) type HeldBy<'a> = (Option<&'a mut Throttle>, &'a mut [Option<Policer>]);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    Shared(usize),
    Ordered,
    Flow(usize, FlowId),
}

impl Turns {
    pub(super) fn put_shared(&mut self) {
        self.ring.push_back(Member::Shared);
    }

    pub(super) fn put_ordered(&mut self, packet: Packet, now: Time) {
        self.ordered.push_back((packet, now));
    }

    /// Records a message added to a flow. `had_none` is set if the flow was empty, and `may_go` if
    /// the flow enters the ring.
    pub(super) fn put_in_flow(&mut self, flow: FlowId, had_none: bool, may_go: bool) {
        self.flows += usize::from(had_none);
        if may_go {
            self.reopen(flow);
        }
    }

    pub(super) fn reopen(&mut self, flow: FlowId) {
        self.ring.push_back(Member::Flow(flow));
    }

    pub(super) fn shut(&mut self, flow: FlowId) {
        self.ring.retain(|member| *member != Member::Flow(flow));
    }

    pub(super) fn ordered(&self) -> usize {
        self.ordered.len()
    }

    pub(super) fn is_waiting(&self) -> bool {
        !self.ordered.is_empty() || self.flows > 0
    }

    /// Returns the first packet without a message, and the flows in the ring whose rate limits
    /// permit a packet at `now`.
    pub(super) fn firsts<'a>(
        &'a self,
        flows: &'a Flows,
        now: Time,
    ) -> (Option<&'a Packet>, impl Iterator<Item = &'a Flow>) {
        let flow = move |member: &Member| match member {
            Member::Shared => None,
            Member::Flow(id) => Some(flows.get(*id)).filter(|flow| flow.earliest <= now),
        };
        (self.ordered.front().map(|(packet, _)| packet), self.ring.iter().filter_map(flow))
    }

    pub(super) fn has_ready(&self, flows: &Flows, now: Time) -> bool {
        let (ordered, mut paced) = self.firsts(flows, now);
        ordered.is_some() || paced.next().is_some()
    }

    /// Selects the queue that sends the next packet, or returns the earliest time when a packet may
    /// start without another event. Marks messages that lack only tokens as delayed, and holds back
    /// messages that throttling does not admit. `shared` is the first message of the shared queue.
    pub(super) fn who(
        &self,
        flows: &mut Flows,
        messages: &mut Messages,
        shared: Option<MessageSlot>,
        (mut throttle, policers): HeldBy<'_>,
        now: Time,
    ) -> Result<Who, Option<Time>> {
        if !self.ordered.is_empty() {
            return Ok(Who::Ordered);
        }
        let mut may = |messages: &Messages, slot| match throttle.as_deref_mut() {
            None => May::Begin,
            Some(throttle) => throttle.may(messages, slot, now),
        };
        let mut soonest: Option<Time> = None;
        // Only the first flow of a class that lacks tokens waits for them; otherwise, short packets
        // of other flows would take the tokens that a long packet needs. Throttling is checked
        // last.
        let mut short_classes = Vec::new();
        for (place, member) in self.ring.iter().enumerate() {
            let (flow, slot) = match *member {
                Member::Flow(id) => (Some(id), flows.get(id).queue.front()),
                Member::Shared => (None, shared),
            };
            let slot = slot.expect("who is in the ring has something");
            let mut allowed = flow.map_or(now, |id| flows.get(id).earliest);
            let class = messages.message(slot).class;
            if allowed <= now
                && let Some(id) = flow
                && let Some(bucket) = delaying(policers, class)
            {
                if short_classes.contains(&class) {
                    continue;
                }
                allowed = bucket.holds_at(now, messages.next_bytes(slot));
                if allowed > now {
                    messages.delay(slot);
                    flows.get_mut(id).short_since.get_or_insert(now);
                    short_classes.push(class);
                }
            }
            if allowed <= now {
                match may(messages, slot) {
                    May::Begin => {
                        return Ok(flow.map_or(Who::Shared(place), |id| Who::Flow(place, id)));
                    }
                    May::BeginAt(at) => allowed = at,
                    May::BeHeld => continue,
                }
            }
            soonest = Some(soonest.map_or(allowed, |other| other.min(allowed)));
        }
        Err(soonest)
    }

    pub(super) fn took_shared(&mut self, place: usize, is_left: bool) {
        self.ring.remove(place);
        if is_left {
            self.ring.push_back(Member::Shared);
        }
    }

    pub(super) fn next_ordered(&self) -> (u32, Time) {
        let (packet, since) = self.ordered.front().expect("what is picked waits");
        (packet.payload_bytes, *since)
    }

    pub(super) fn take_ordered(&mut self) -> Packet {
        let (packet, _) = self.ordered.pop_front().expect("a packet was picked");
        packet
    }

    pub(super) fn took_of_flow(&mut self, place: usize, state: FlowState) {
        let member = self.ring.remove(place).expect("a flow was picked");
        match state {
            FlowState::MayGo => self.ring.push_back(member),
            FlowState::Shut => {}
            FlowState::Empty => self.flows -= 1,
        }
    }
}
