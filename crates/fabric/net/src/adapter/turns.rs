//! Whose turn it is in a level, where packets may wait for something else than their link.
//!
//! ```text
//!   level 1   answers  [ a3 ][ a9 ]                 before all else of the level
//!             ring     [ f2 ][ shared ][ f7 ]       one packet each, in turn, of those that may go
//!             shared   [ m4 ][ m7 ]                 of classes that are not controlled
//!   level 0   ...
//! ```
//!
//! A flow whose window is shut is not in the ring; one that waits for its pace, or whose class
//! waits for tokens, keeps its place in it and is passed over.

use super::policers::{Policer, delaying};
use crate::flows::{Flow, Flows, Standing};
use crate::messages::Messages;
use crate::throttle::{May, Throttle};
use crate::{FlowId, MessageSlot, Packet};
use gingham_kernel::Time;
use std::collections::VecDeque;

/// Whose turn it is in a level of a group.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// Packets that no message is behind, and since when they wait.
    ordered: VecDeque<(Packet, Time)>,
    /// Those who take turns, the next first.
    ring: VecDeque<Member>,
    /// Flows that have something to send, whether they may or not.
    flows: usize,
}

/// Who takes turns in a level.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Member {
    /// The queue of classes that are not controlled.
    Shared,
    /// A flow.
    Flow(FlowId),
}

/// What may hold packets back beside windows and paces: the network, and buckets.
pub(super) type HeldBy<'a> = (Option<&'a mut Throttle>, &'a mut [Option<Policer>]);

/// Whose packet goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Who {
    /// The first of the shared queue, which is at this place of the ring if there is one.
    Shared(usize),
    /// The first that no message is behind.
    Ordered,
    /// The first of the flow at this place of the ring.
    Flow(usize, FlowId),
}

impl Turns {
    // What comes.

    /// The shared queue, which was empty, has something.
    pub(super) fn put_shared(&mut self) {
        self.ring.push_back(Member::Shared);
    }

    pub(super) fn put_ordered(&mut self, packet: Packet, now: Time) {
        self.ordered.push_back((packet, now));
    }

    /// A flow has a message more; `had_none` says whether it had nothing, `may_go` whether it comes
    /// into the ring.
    pub(super) fn put_in_flow(&mut self, flow: FlowId, had_none: bool, may_go: bool) {
        self.flows += usize::from(had_none);
        if may_go {
            self.reopen(flow);
        }
    }

    /// A flow may go on.
    pub(super) fn reopen(&mut self, flow: FlowId) {
        self.ring.push_back(Member::Flow(flow));
    }

    /// A flow may not go on.
    pub(super) fn shut(&mut self, flow: FlowId) {
        self.ring.retain(|member| *member != Member::Flow(flow));
    }

    /// Packets that no message is behind.
    pub(super) fn ordered(&self) -> usize {
        self.ordered.len()
    }

    /// Whether anything waits beside the shared queue, allowed or not.
    pub(super) fn is_waiting(&self) -> bool {
        !self.ordered.is_empty() || self.flows > 0
    }

    /// The first packet that no message is behind, and the flows whose pace lets them go `now`.
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

    /// Whether an answer waits, or a flow whose window and pace let it go `now`.
    pub(super) fn has_ready(&self, flows: &Flows, now: Time) -> bool {
        let (ordered, mut paced) = self.firsts(flows, now);
        ordered.is_some() || paced.next().is_some()
    }

    // What goes.

    /// Whose packet goes `now`; else the first instant at which one may, if one will by itself.
    /// What could go but for tokens is delayed by these from now on, and what is not to begin is
    /// held. `shared` is the first of the shared queue.
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
        // A class that waits for tokens waits for those of its first flow that may go but for them,
        // lest short packets take them away from long ones; the network is looked at last, so that
        // what a class waits for does not change with it.
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

    /// A packet of the shared queue, which is at a place of the ring, is gone; `is_left` says
    /// whether there is another.
    pub(super) fn took_shared(&mut self, place: usize, is_left: bool) {
        self.ring.remove(place);
        if is_left {
            self.ring.push_back(Member::Shared);
        }
    }

    /// Payload of the first packet that no message is behind, and since when it waits.
    pub(super) fn next_ordered(&self) -> (u32, Time) {
        let (packet, since) = self.ordered.front().expect("what is picked waits");
        (packet.payload_bytes, *since)
    }

    /// The first packet that no message is behind is gone.
    pub(super) fn take_ordered(&mut self) -> Packet {
        let (packet, _) = self.ordered.pop_front().expect("a packet was picked");
        packet
    }

    /// A packet of the flow at a place of the ring is gone.
    pub(super) fn took_of_flow(&mut self, place: usize, standing: Standing) {
        let member = self.ring.remove(place).expect("a flow was picked");
        match standing {
            Standing::MayGo => self.ring.push_back(member),
            Standing::Shut => {}
            Standing::Empty => self.flows -= 1,
        }
    }
}
