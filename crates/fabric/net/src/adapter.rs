//! Sending side of a host's adapter: priority queues, and segmentation of messages into packets.
//!
//! ```text
//!   offered ─┬─► level 1   [ m4 ][ m7 ]              a turn:  the highest level with something to send
//!            └─► level 0   [ m2: 2 of 5 sent ][ m3 ]          the next segment of its first message
//! ```
//!
//! Each priority level is a FIFO. A higher level may send between two segments of a message, but
//! never interrupts a packet (Kwan et al. 1996, section 2: "non-preemptive priority").
//!
//! Each flow of a controlled class (token bucket, window or rate limit) has a separate queue.
//! Within a level, packet-by-packet round robin between the flow queues and the shared queue keeps
//! a waiting flow from blocking the others (`turns`). Packets without a message precede all other
//! packets of the level.
//!
//! Packets with different sets of permitted lanes use different groups of queues, each with a full
//! set of levels.
//!
//! Invariant: every payload byte of a queued message leaves in exactly one packet, in the order of
//! its flow.

mod grouping;
mod policers;
mod queued;
#[cfg(test)]
pub(crate) mod tests;
mod turns;

use crate::flows::Flows;
use crate::messages::{Messages, Outgoing, Queue};
use crate::throttle::Throttle;
use crate::{
    ClassId, Conformance, Contention, Excess, FlowId, Message, MessageNumber, MessageSlot,
    OutputLoad, Packet, Plan, Priority, SourceChooser,
};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::{LaneSet, VcClass};
use grouping::Grouping;
use policers::{Policer, delaying, policer_of};
use smallvec::{SmallVec, smallvec};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use turns::{Turns, Who};

/// An adapter's decision when its link is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// A packet that starts now.
    Send(Packet),
    /// The earliest start of the next packet, which tokens, a rate limit or throttling hold back.
    At(Time),
    /// No packet can start until another event happens.
    Nothing,
}

/// Earliest send opportunity of a group of queues.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A packet that may start now.
    Packet {
        /// Payload in bytes.
        payload_bytes: u32,
        /// Creation time of the message; for a packet without a message, the time when it was
        /// queued.
        created: Time,
    },
    /// The earliest time when a packet may start.
    At(Time),
    /// No packet can start until another event happens.
    Nothing,
}

/// Send queues of one endpoint, and the state that decides the order of packets.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// Queues of uncontrolled classes, one per group and priority level.
    shared: SmallVec<[Queue; 2]>,
    waiting: u32,
    created: u32,
    levels: u8,
    grouping: Arc<Grouping>,
    beside: Option<Box<Beside>>,
}

#[derive(Clone, Debug, Default)]
struct Beside {
    turns: Box<[Turns]>,
    policers: Box<[Option<Policer>]>,
    paths: SourceChooser,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Pick {
    place: usize,
    who: Who,
}

impl Adapter {
    fn new(highest: Priority, grouping: Arc<Grouping>, is_controlled: bool) -> Self {
        let levels = highest.level() + 1;
        let places = grouping.lanes.len() * levels;
        let turns = vec![Turns::default(); if is_controlled { places } else { 0 }].into();
        let beside = is_controlled.then(|| Box::new(Beside { turns, ..Beside::default() }));
        let levels = u8::try_from(levels).expect("levels are few");
        let shared = smallvec![Queue::default(); places];
        Self { shared, waiting: 0, created: 0, levels, grouping, beside }
    }

    pub(crate) fn all(plan: &Arc<Plan>) -> Vec<Self> {
        let mut groupings: BTreeMap<Vec<LaneSet>, Arc<Grouping>> = BTreeMap::new();
        let is_controlled = plan.is_controlled() || plan.throttle().is_some();
        let highest = plan.highest_priority();
        let adapter = |endpoint| {
            let lanes = plan.lanes.first_lanes(endpoint);
            let alike = groupings.entry(lanes);
            let alike = alike.or_insert_with_key(|lanes| Arc::new(Grouping::new(lanes)));
            let mut adapter = Self::new(highest, Arc::clone(alike), is_controlled);
            if plan.routing.decision.is_at_source() {
                adapter.beside().paths = SourceChooser::new(plan, endpoint);
            }
            adapter
        };
        let mut adapters: Vec<Self> = plan.fabric.endpoint_ids().map(adapter).collect();
        for (class, class_plan) in plan.classes.iter().enumerate() {
            let Some(policing) = &class_plan.policing else { continue };
            for (index, source) in class_plan.sources.iter().enumerate() {
                let policers = &mut adapters[source.endpoint.index()].beside().policers;
                if policers.is_empty() {
                    *policers = vec![None; plan.classes.len()].into();
                }
                let bucket = policing.bucket(index);
                policers[class] = Some(Policer { bucket, excess: policing.excess });
            }
        }
        adapters
    }

    fn beside(&mut self) -> &mut Beside {
        self.beside.get_or_insert_default()
    }

    #[inline]
    pub(crate) fn next_number(&mut self) -> MessageNumber {
        let number = MessageNumber::new(self.created as usize);
        self.created =
            self.created.checked_add(1).expect("an endpoint creates fewer than 2^32 messages");
        number
    }

    /// Polices a new message. Returns the class to send it in, and its conformance.
    pub(crate) fn judge(&mut self, message: &Message) -> (ClassId, Conformance) {
        let class = message.class;
        let beside = self.beside.as_deref_mut();
        let Some(policer) = beside.and_then(|beside| policer_of(&mut beside.policers, class))
        else {
            return (class, Conformance::Conforming);
        };
        let holds = policer.bucket.holds(message.created, message.payload_bytes);
        match policer.excess {
            Excess::Delay => (class, Conformance::Conforming),
            Excess::Demote(other) if !holds => (other, Conformance::Demoted),
            Excess::Drop if !holds => (class, Conformance::Dropped),
            Excess::Drop | Excess::Demote(_) => {
                policer.bucket.take(message.created, message.payload_bytes);
                (class, Conformance::Conforming)
            }
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(crate) fn admit(
        &mut self,
        plan: &Plan,
        flows: &mut Flows,
        messages: &mut Messages,
        message: Message,
        (class, conformance): (ClassId, Conformance),
    ) {
        let vc_class = plan.vc_class(class, message.source, message.destination);
        self.put(flows, messages, Outgoing::new(plan, message, (class, conformance), vc_class));
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn put(&mut self, flows: &mut Flows, messages: &mut Messages, outgoing: Outgoing) {
        let Outgoing { message, priority, vc_class, .. } = outgoing;
        let slot = messages.insert(outgoing);
        self.wait(flows, messages, (slot, message.flow), (vc_class, priority), message.created);
    }

    pub(crate) fn enqueue(
        &mut self,
        flows: &mut Flows,
        messages: &mut Messages,
        slot: MessageSlot,
        now: Time,
    ) {
        let (flow, (priority, vc_class)) = (messages.message(slot).flow, messages.level_of(slot));
        self.wait(flows, messages, (slot, flow), (vc_class, priority), now);
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn wait(
        &mut self,
        flows: &mut Flows,
        messages: &mut Messages,
        (slot, flow): (MessageSlot, Option<FlowId>),
        (vc_class, priority): (VcClass, Priority),
        now: Time,
    ) {
        let place = self.note_waiting(vc_class, priority);
        match flow.filter(|flow| flows.get(*flow).is_controlled) {
            None => self.put_shared(messages, place, slot),
            Some(flow) => {
                let had_none = flows.get(flow).queue.is_empty();
                let may_go = flows.put(flow, messages, slot, now);
                self.turns(place).put_in_flow(flow, had_none, may_go);
            }
        }
    }

    #[inline]
    fn put_shared(&mut self, messages: &mut Messages, place: usize, slot: MessageSlot) {
        let queue = &mut self.shared[place];
        if let Some(beside) = &mut self.beside
            && let Some(turns) = beside.turns.get_mut(place)
            && queue.is_empty()
        {
            turns.put_shared();
        }
        queue.push_back(messages, slot);
    }

    /// Enqueues a packet without a message. Returns how many such packets now wait in this adapter.
    pub(crate) fn order(&mut self, packet: Packet, now: Time) -> usize {
        let place = self.note_waiting(packet.vc_class, packet.priority);
        self.turns(place).put_ordered(packet, now);
        self.beside().turns.iter().map(Turns::ordered).sum()
    }

    /// Puts a flow back into the round robin after its window has opened. `vc_class` and `priority`
    /// belong to the flow's next message.
    pub(crate) fn reopen(&mut self, flow: FlowId, vc_class: VcClass, priority: Priority) {
        let place = self.place(self.group_of(vc_class), priority);
        self.turns(place).reopen(flow);
    }

    pub(crate) fn shut(&mut self, flow: FlowId, vc_class: VcClass, priority: Priority) {
        let place = self.place(self.group_of(vc_class), priority);
        self.turns(place).shut(flow);
    }

    #[inline]
    fn note_waiting(&mut self, vc_class: VcClass, priority: Priority) -> usize {
        let group = self.group_of(vc_class);
        self.waiting |= 1 << group;
        self.place(group, priority)
    }

    #[inline]
    fn place(&self, group: usize, priority: Priority) -> usize {
        group * usize::from(self.levels) + priority.level()
    }

    fn turns(&mut self, place: usize) -> &mut Turns {
        &mut self.beside().turns[place]
    }

    /// Returns whether the adapter may hold back a packet although the link is free.
    pub fn may_hold_back(&self) -> bool {
        self.beside.as_ref().is_some_and(|beside| !beside.turns.is_empty())
    }

    /// Returns the permitted lanes of each group of queues, in ascending order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = LaneSet> {
        self.grouping.lanes.iter().copied()
    }

    /// Returns the index of the queue group for a VC class.
    #[inline]
    pub fn group_of(&self, vc_class: VcClass) -> usize {
        self.grouping.group_of(vc_class)
    }

    /// Returns a bit mask of the groups with waiting packets, even if the packets may not start
    /// yet.
    #[inline]
    pub fn waiting_groups(&self) -> u32 {
        self.waiting
    }

    #[inline]
    fn places(&self, group: usize) -> Range<usize> {
        let levels = usize::from(self.levels);
        group * levels..(group + 1) * levels
    }

    #[inline]
    fn highest_shared(&self, group: usize) -> Option<usize> {
        self.places(group).rev().find(|place| !self.shared[*place].is_empty())
    }

    #[inline]
    fn left(&mut self, group: usize) {
        let turns = self.beside.as_ref().map_or(&[][..], |beside| &beside.turns);
        let waits = |place: usize| {
            !self.shared[place].is_empty() || turns.get(place).is_some_and(Turns::is_waiting)
        };
        if !self.places(group).any(waits) {
            self.waiting &= !(1 << group);
        }
    }

    /// Returns the packet that [`Self::take`] would send at `now`. Marks a message as delayed if
    /// its next packet lacks only tokens.
    pub(crate) fn next(
        &mut self,
        flows: &mut Flows,
        messages: &mut Messages,
        throttle: Option<&mut Throttle>,
        group: usize,
        now: Time,
    ) -> Next {
        if self.beside.is_none() {
            return match self.highest_shared(group).and_then(|place| self.shared[place].front()) {
                Some(slot) => messages.next(slot),
                None => Next::Nothing,
            };
        }
        let Pick { place, who } = match self.pick(flows, messages, throttle, group, now) {
            Ok(pick) => pick,
            Err(Some(time)) => return Next::At(time),
            Err(None) => return Next::Nothing,
        };
        let slot = match who {
            Who::Shared(_) => self.shared[place].front(),
            Who::Flow(_, flow) => flows.get(flow).queue.front(),
            Who::Ordered => {
                let (payload_bytes, created) = self.turns(place).next_ordered();
                return Next::Packet { payload_bytes, created };
            }
        };
        messages.next(slot.expect("what is picked waits"))
    }

    pub(crate) fn has_ready(&self, flows: &Flows, group: usize, now: Time) -> bool {
        let turns = self.beside.as_ref().map_or(&[][..], |beside| &beside.turns);
        self.places(group).any(|place| {
            !self.shared[place].is_empty()
                || turns.get(place).is_some_and(|turns| turns.has_ready(flows, now))
        })
    }

    #[expect(clippy::inline_always, reason = "who asks takes the packet apart where it stands")]
    #[inline(always)]
    pub(crate) fn take(
        &mut self,
        flows: &mut Flows,
        messages: &mut Messages,
        throttle: Option<&mut Throttle>,
        group: usize,
        now: Time,
    ) -> Turn {
        if self.beside.is_some() {
            return self.take_of_all(flows, messages, throttle, group, now);
        }
        let places = self.places(group);
        let shared = &mut self.shared[places];
        let Some(queue) = shared.iter_mut().rfind(|queue| !queue.is_empty()) else {
            return Turn::Nothing;
        };
        let packet = queue.take(messages, now);
        if queue.is_empty() && shared.iter().all(|queue| queue.is_empty()) {
            self.waiting &= !(1 << group);
        }
        Turn::Send(packet)
    }

    #[inline(never)]
    fn take_of_all(
        &mut self,
        flows: &mut Flows,
        messages: &mut Messages,
        throttle: Option<&mut Throttle>,
        group: usize,
        now: Time,
    ) -> Turn {
        let Pick { place, who } = match self.pick(flows, messages, throttle, group, now) {
            Ok(pick) => pick,
            Err(Some(time)) => return Turn::At(time),
            Err(None) => return Turn::Nothing,
        };
        let packet = match who {
            Who::Ordered => {
                let packet = self.turns(place).take_ordered();
                self.with_path(packet, packet.payload_bytes)
            }
            Who::Shared(in_ring) => {
                let slot = self.shared[place].front().expect("what is picked waits");
                let message_bytes = messages.message(slot).payload_bytes;
                let packet = self.shared[place].take(messages, now);
                let is_left = !self.shared[place].is_empty();
                if let Some(turns) = self.beside().turns.get_mut(place) {
                    turns.took_shared(in_ring, is_left);
                }
                self.with_path(packet, message_bytes)
            }
            Who::Flow(in_ring, flow) => {
                let slot = flows.get(flow).queue.front().expect("what is picked waits");
                let message_bytes = messages.message(slot).payload_bytes;
                let (packet, is_last) = messages.next_packet(slot, now);
                if let Some(bucket) = delaying(&mut self.beside().policers, packet.class) {
                    bucket.take(now, packet.payload_bytes);
                }
                let state = flows.took(flow, messages, packet.payload_bytes, is_last, now);
                self.turns(place).took_of_flow(in_ring, state);
                self.with_path(packet, message_bytes)
            }
        };
        self.left(group);
        Turn::Send(packet)
    }

    fn with_path(&mut self, packet: Packet, message_bytes: u32) -> Packet {
        let path_id = self.beside().paths.choose(&packet, message_bytes);
        Packet { path_id, ..packet }
    }

    fn pick(
        &mut self,
        flows: &mut Flows,
        messages: &mut Messages,
        mut throttle: Option<&mut Throttle>,
        group: usize,
        now: Time,
    ) -> Result<Pick, Option<Time>> {
        let places = self.places(group);
        let Some(beside) = self.beside.as_deref_mut().filter(|beside| !beside.turns.is_empty())
        else {
            let place = self.highest_shared(group).ok_or(None)?;
            return Ok(Pick { place, who: Who::Shared(0) });
        };
        let mut soonest: Option<Time> = None;
        for place in places.rev() {
            let held_by = (throttle.as_deref_mut(), &mut beside.policers[..]);
            let shared = self.shared[place].front();
            match beside.turns[place].who(flows, messages, shared, held_by, now) {
                Ok(who) => return Ok(Pick { place, who }),
                Err(time) => soonest = soonest.into_iter().chain(time).min(),
            }
        }
        Err(soonest)
    }

    pub(crate) fn on_loads(&mut self, loads: &[OutputLoad]) {
        self.beside().paths.on_loads(loads);
    }

    pub(crate) fn on_left(
        &mut self,
        started: Time,
        left: Time,
        flits: u64,
        flit: Span,
    ) -> Option<Contention> {
        self.beside.as_mut()?.paths.on_left(started, left, flits, flit)
    }
}
