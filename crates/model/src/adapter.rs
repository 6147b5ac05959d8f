//! The sending half of a host's adapter: queues by level of priority, and messages cut into
//! packets.
//!
//! ```text
//!   offered ─┬─► level 1   [ m4 ][ m7 ]              a turn:  the highest level that has something
//!            └─► level 0   [ m2: 2 of 5 sent ][ m3 ]          the next segment of its first message
//! ```
//!
//! Whoever sends asks for a turn each time the link is free. A level is first in, first out, and
//! the segments of a message follow each other within it; between two of them a higher level may
//! go, since a packet that has begun is never interrupted (Kwan et al. 1996, section 2:
//! "non-preemptive priority").
//!
//! Flows of classes that are controlled, by tokens for which they wait, a window or a pace, have a
//! queue each: they and the queue of all others of their level are served in turn, a packet each,
//! so that who waits holds up nobody else (`group`). Packets that no message is behind go before
//! all others of their level.
//!
//! A class that is policed has a bucket here ([`TokenBucket`](crate::TokenBucket)). Where excess is
//! dropped or demoted a message is judged when it is created; where it is delayed every packet when
//! its turn has come.
//!
//! Over virtual lanes packets that may leave on the same set of lanes have a group of queues to
//! themselves, with levels of its own; whoever sends asks each group by its number. In a wormhole
//! network there is but group 0.
//!
//! Invariant: every payload byte of a message that was offered leaves in exactly one packet, in
//! the order of its flow.

mod group;
mod policers;
#[cfg(test)]
mod tests;
mod waiting;

pub(crate) use waiting::Waiting;

use crate::flows::Flows;
use crate::{
    ClassId, Conformance, Contention, Excess, FlowId, Message, Packet, PathChooser, Plan, Priority,
    Reassembly,
};
use gingham_kernel::{Span, Time};
use gingham_topology::EndpointId;
use gingham_topology::routing::{LaneSet, VcClass};
use group::{Group, Pick, Who};
use policers::{Policer, delaying, policer_of};

/// What an adapter does when its link is free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// It sends this packet, now.
    Send(Packet),
    /// Nothing before this instant, at which it is to be asked again, unless it is ordered to send
    /// before: what waits, waits for tokens or a pace.
    At(Time),
    /// It has nothing to send, or nothing that an answer does not let go.
    Nothing,
}

/// What an adapter would send next of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Next {
    /// A packet with so much payload, that was created then.
    Packet {
        /// Its payload.
        payload_bytes: u32,
        /// When its message was created; an answer, when it was ordered.
        created: Time,
    },
    /// Nothing before this instant.
    At(Time),
    /// Nothing.
    Nothing,
}

/// Packets that wait at one endpoint.
#[derive(Clone, Debug)]
pub struct Adapter {
    /// In ascending order of their lanes.
    groups: Box<[Group]>,
    /// By VC class: its group.
    group_of: Box<[u8]>,
    /// By class, the bucket of one that is policed; empty where none is.
    policers: Box<[Option<Policer>]>,
    /// Which path a packet takes.
    paths: PathChooser,
    /// Whether anything may wait here for something else than its link.
    is_controlled: bool,
}

impl Adapter {
    /// An adapter with nothing to send, for packets up to a priority that may leave on these lanes,
    /// by their VC class. Packets of a VC class without lanes are never offered.
    fn new(highest: Priority, lanes: &[LaneSet], is_controlled: bool) -> Self {
        let mut sets = lanes.to_vec();
        sets.sort_unstable();
        sets.dedup();
        let group_of = |of: &LaneSet| {
            let place = sets.partition_point(|set| set < of);
            u8::try_from(place).expect("a group a VC class at the most")
        };
        let group_of = lanes.iter().map(group_of).collect();
        let groups = sets.into_iter().map(|set| Group::new(set, highest, is_controlled)).collect();
        let (policers, paths) = (Box::default(), PathChooser::default());
        Self { groups, group_of, policers, paths, is_controlled }
    }

    fn of_endpoint(plan: &Plan, endpoint: EndpointId) -> Self {
        let highest = plan.highest_priority();
        let paths = PathChooser::new(plan, endpoint);
        let lanes = plan.lanes.first_lanes(endpoint);
        Self { paths, ..Self::new(highest, &lanes, plan.is_controlled()) }
    }

    /// The adapters of a plan, by endpoint, with nothing to send and full buckets.
    pub(crate) fn all(plan: &Plan) -> Vec<Self> {
        let adapter = |endpoint| Self::of_endpoint(plan, endpoint);
        let mut adapters: Vec<Self> = plan.fabric.endpoint_ids().map(adapter).collect();
        for (class, class_plan) in plan.classes.iter().enumerate() {
            let Some(policing) = &class_plan.policing else { continue };
            for (index, source) in class_plan.sources.iter().enumerate() {
                let policers = &mut adapters[source.endpoint.index()].policers;
                if policers.is_empty() {
                    *policers = vec![None; plan.classes.len()].into();
                }
                let bucket = policing.bucket(index);
                policers[class] = Some(Policer { bucket, excess: policing.excess });
            }
        }
        adapters
    }

    // What comes.

    /// As which class a message that was just created is sent, and what policing makes of it.
    pub(crate) fn judge(&mut self, message: &Message) -> (ClassId, Conformance) {
        let class = message.class;
        let Some(policer) = policer_of(&mut self.policers, class) else {
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

    /// Puts a message behind those that wait before it, as one of a class.
    pub(crate) fn admit(
        &mut self,
        plan: &Plan,
        flows: &mut Flows,
        message: Message,
        (class, conformance): (ClassId, Conformance),
    ) {
        let vc_class = plan.vc_class(class, message.source, message.destination);
        let class = &plan.classes[class.index()];
        let switches = || plan.switches(message.source, message.destination);
        let longest_bytes = class.longest_packet_bytes(switches);
        debug_assert!(longest_bytes > 0, "a packet carries payload");
        let waiting = Waiting {
            message,
            priority: class.priority,
            vc_class,
            longest_bytes,
            left_bytes: message.payload_bytes,
            conformance,
            assembly: None,
        };
        self.put(flows, waiting);
    }

    fn put(&mut self, flows: &mut Flows, waiting: Waiting) {
        let message = &waiting.message;
        let group = &mut self.groups[usize::from(self.group_of[usize::from(waiting.vc_class.0)])];
        match message.flow.filter(|flow| flows.get(*flow).is_controlled) {
            None => group.put_shared(waiting),
            Some(flow) => group.put_in_flow(flows, flow, waiting, message.created),
        }
    }

    /// Puts a packet that no message is behind after those of its level that wait. Returns how many
    /// wait now, of all levels and lanes.
    pub(crate) fn order(&mut self, packet: Packet, now: Time) -> usize {
        let group = self.group_of(packet.vc_class);
        self.groups[group].put_ordered(packet, now);
        self.groups.iter().map(Group::ordered).sum()
    }

    /// A flow whose window was shut may go on, what it has to send being of a VC class and level.
    pub(crate) fn reopen(&mut self, flow: FlowId, vc_class: VcClass, priority: Priority) {
        let group = self.group_of(vc_class);
        self.groups[group].reopen(priority.level(), flow);
    }

    /// The window of a flow that could go has become too small for it.
    pub(crate) fn shut(&mut self, flow: FlowId, vc_class: VcClass, priority: Priority) {
        let group = self.group_of(vc_class);
        self.groups[group].shut(priority.level(), flow);
    }

    // What waits.

    /// Whether it may hold something back although the link is free.
    pub fn may_hold_back(&self) -> bool {
        self.is_controlled
    }

    /// The lanes of each group of queues, in ascending order.
    pub fn groups(&self) -> impl ExactSizeIterator<Item = LaneSet> {
        self.groups.iter().map(|group| group.lanes)
    }

    /// The group in which packets of a VC class wait.
    pub fn group_of(&self, vc_class: VcClass) -> usize {
        self.group_of[usize::from(vc_class.0)].into()
    }

    /// Whether anything waits in a group, allowed or not.
    pub fn is_waiting(&self, group: usize) -> bool {
        self.groups[group].occupied != 0
    }

    // What goes.

    /// What it would send of a group `now`: what [`Self::take`] gives. What could go but for tokens
    /// is delayed by these from now on.
    pub(crate) fn next(&mut self, flows: &mut Flows, group: usize, now: Time) -> Next {
        let group = &mut self.groups[group];
        match group.pick(flows, &mut self.policers, now) {
            Ok(Pick { level, who }) => {
                let waiting = match who {
                    Who::Shared(_) => group.shared[level].front(),
                    Who::Flow(_, flow) => flows.get(flow).queue.front(),
                    Who::Ordered => {
                        let (payload_bytes, created) = group.next_ordered(level);
                        return Next::Packet { payload_bytes, created };
                    }
                };
                let waiting = waiting.expect("what is picked waits");
                let (payload_bytes, created) = (waiting.next_bytes(), waiting.message.created);
                Next::Packet { payload_bytes, created }
            }
            Err(Some(time)) => Next::At(time),
            Err(None) => Next::Nothing,
        }
    }

    /// What it does with a link that is free `now`, of one group. The first packet of a message
    /// opens its assembly.
    pub(crate) fn take(
        &mut self,
        flows: &mut Flows,
        group: usize,
        now: Time,
        reassembly: &mut Reassembly,
    ) -> Turn {
        let group = &mut self.groups[group];
        let Pick { level, who } = match group.pick(flows, &mut self.policers, now) {
            Ok(pick) => pick,
            Err(Some(time)) => return Turn::At(time),
            Err(None) => return Turn::Nothing,
        };
        let waiting = match who {
            Who::Shared(_) => group.shared[level].front_mut(),
            Who::Flow(_, flow) => flows.get_mut(flow).queue.front_mut(),
            Who::Ordered => {
                let packet = group.take_ordered(level);
                let path_set = self.paths.choose(packet.payload_bytes);
                return Turn::Send(Packet { path_set, ..packet });
            }
        };
        let waiting = waiting.expect("what is picked waits");
        let path_set = self.paths.choose(waiting.message.payload_bytes);
        let packet = waiting.next_packet(now, path_set, reassembly);
        let is_done = waiting.left_bytes == 0;
        match who {
            Who::Flow(place, flow) => {
                if let Some(bucket) = delaying(&mut self.policers, packet.class) {
                    bucket.take(now, packet.payload_bytes);
                }
                let standing = flows.took(flow, packet.payload_bytes, is_done, now);
                group.took_of_flow(level, place, standing);
            }
            Who::Shared(place) => group.took_shared(level, place, is_done),
            Who::Ordered => unreachable!("it has left"),
        }
        Turn::Send(packet)
    }

    /// The tail of a packet of its own of `flits` flits, whose first started at `started`, has left
    /// at `left` by a link of that flit time: what it makes of the network, if it looks at it.
    pub(crate) fn on_left(
        &mut self,
        started: Time,
        left: Time,
        flits: u64,
        flit: Span,
    ) -> Option<Contention> {
        self.paths.on_left(started, left, flits, flit)
    }
}
