//! Hosts that look at the network before they begin a message.
//!
//! ```text
//!   link free, window and pace open ──► may the next message begin? ─┬─ yes: its first packet goes
//!                                              ▲                     └─ no: held, and passed over
//!         lanes of outputs, full buffers ──────┘ what changed wakes those who are held
//! ```
//!
//! Two rules, a file each: [`at_least_one`] looks at the lanes of the outputs that the first switch
//! may give the message, [`self_tuned`] at how many buffers of the whole network are full. Both hold
//! back what is new alone: packets of messages that were begun, answers, signals and control go on.
//!
//! What moves packets keeps and tells what is asked for, and nothing else: under the first rule the
//! free lanes of the outputs of switches with hosts ([`Notice::Lanes`](crate::Notice::Lanes)), under
//! the second how many buffers are full, when it is ordered to count ([`Order::Gather`]).
//!
//! Invariant: whether a message may begin is a function of what was told and of the instant; to ask
//! changes nothing but that who is held is woken.

mod at_least_one;
mod self_tuned;
mod tuner;

pub use self_tuned::SelfTunedPlan;

use crate::messages::Messages;
use crate::posting::Posts;
use crate::{ClassPlan, Credits, LaneBlocks, MessageSlot, Order, PacketsPlan, Plan};
use at_least_one::AtLeastOne;
use gingham_kernel::Time;
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId};
use self_tuned::SelfTuned;
use std::cmp::Reverse;
use std::sync::Arc;

/// What hosts look at before they begin a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThrottlePlan {
    /// The lanes of the outputs that the first switch may give it (Baydal, Lopez and Duato 2000).
    AtLeastOne,
    /// How many buffers of the network are full (Thottethodi, Lebeck and Mukherjee 2001).
    SelfTuned(SelfTunedPlan),
}

impl Plan {
    /// What hosts look at before they begin a message, if they do.
    pub fn throttle(&self) -> Option<ThrottlePlan> {
        self.adapters.and_then(|adapters| adapters.throttle)
    }

    /// By channel: whether somebody wants to know which of its lanes are free. These are outputs of
    /// switches with hosts; empty where nobody does.
    pub fn watched_outputs(&self) -> Vec<bool> {
        if self.throttle() != Some(ThrottlePlan::AtLeastOne) {
            return Vec::new();
        }
        let ends_at = |endpoint: EndpointId| self.fabric.endpoint_channel(endpoint);
        let first = |endpoint| self.fabric.target(ends_at(endpoint)).node;
        let mut has_hosts = vec![false; self.fabric.nodes().len()];
        for endpoint in self.fabric.endpoint_ids() {
            has_hosts[first(endpoint).index()] = true;
        }
        let is_watched = |channel: ChannelId| {
            let node = self.fabric.source(channel).node;
            self.is_switch(node) && has_hosts[node.index()]
        };
        ChannelId::first(self.channels.len()).map(is_watched).collect()
    }

    /// By lane, in a network of whole packets: the blocks that hold a packet as long as the longest of
    /// the run, or all that the buffer has.
    pub fn space_blocks(&self, packets: &PacketsPlan) -> LaneBlocks {
        let of_class = |class: &ClassPlan| {
            let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
            class.longest_anywhere_bytes(messages.max().unwrap_or(1))
        };
        let longest = self.classes.iter().map(of_class).max().unwrap_or(1);
        let needed = PacketsPlan::blocks(packets.wire_bytes(longest));
        let needed = u32::try_from(needed).unwrap_or(u32::MAX);
        packets.buffer_blocks.map(|blocks| blocks.min(needed))
    }

    /// The channels between switches, the buffers at whose ends are gathered; none where nobody
    /// gathers.
    pub fn gathered_channels(&self) -> Vec<ChannelId> {
        if !matches!(self.throttle(), Some(ThrottlePlan::SelfTuned(_))) {
            return Vec::new();
        }
        let is_between = |channel: &ChannelId| {
            let ends = self.ends(*channel);
            self.is_switch(ends.source.node) && self.is_switch(ends.target.node)
        };
        ChannelId::first(self.channels.len()).filter(is_between).collect()
    }
}

/// Whether a message may begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum May {
    /// Now.
    Begin,
    /// Not before this instant, at which it is to be asked again.
    BeginAt(Time),
    /// Not before its host is woken.
    BeHeld,
}

/// What holds messages back in a run.
#[derive(Clone, Debug)]
pub(crate) struct Throttle {
    plan: Arc<Plan>,
    rule: Rule,
    /// By endpoint: whether it is held, and to be woken.
    held: Box<[bool]>,
    /// All endpoints, by their channel, the highest first: the last that is ordered comes first.
    in_order: Box<[EndpointId]>,
    /// By node, the same of those of a switch; empty where nobody looks at outputs.
    around: Box<[Vec<EndpointId>]>,
    /// How many times a host that was held was woken.
    woken: u64,
}

#[derive(Clone, Debug)]
enum Rule {
    AtLeastOne(AtLeastOne),
    SelfTuned(SelfTuned),
}

impl Throttle {
    /// That of a plan, if there is any.
    pub(crate) fn new(plan: &Arc<Plan>) -> Option<Self> {
        let rule = match plan.throttle()? {
            ThrottlePlan::AtLeastOne => Rule::AtLeastOne(AtLeastOne::new(plan)),
            ThrottlePlan::SelfTuned(of) => Rule::SelfTuned(SelfTuned::new(plan, of)),
        };
        let held = vec![false; plan.fabric.endpoints().len()].into();
        let mut in_order: Vec<_> = plan.fabric.endpoint_ids().collect();
        in_order.sort_unstable_by_key(|end| Reverse(plan.fabric.endpoint_channel(*end)));
        let mut around = Vec::new();
        if matches!(rule, Rule::AtLeastOne(_)) {
            around = vec![Vec::new(); plan.fabric.nodes().len()];
            for endpoint in &in_order {
                let first = plan.fabric.target(plan.fabric.endpoint_channel(*endpoint)).node;
                around[first.index()].push(*endpoint);
            }
        }
        let (in_order, around) = (in_order.into(), around.into());
        Some(Self { plan: Arc::clone(plan), rule, held, in_order, around, woken: 0 })
    }

    /// How many times a host that was held was woken.
    pub(crate) fn woken(&self) -> u64 {
        self.woken
    }

    /// Whether a message that stands first in its queue may go on at an instant: always, if it was
    /// begun.
    pub(crate) fn may(&mut self, messages: &Messages, slot: MessageSlot, now: Time) -> May {
        let message = messages.message(slot);
        let of_class = &self.plan.classes[message.class.index()];
        if of_class.post.credits == Credits::Exempt || !messages.is_unbegun(slot) {
            return May::Begin;
        }
        let (source, destination) = (message.source, message.destination);
        let (_, vc_class) = messages.level_of(slot);
        let may = match &mut self.rule {
            Rule::AtLeastOne(of) => of.may(&self.plan, (source, destination), vc_class),
            Rule::SelfTuned(of) => of.may(now),
        };
        if may == May::BeHeld {
            self.held[source.index()] = true;
        }
        may
    }

    // At least one.

    /// These lanes of an output are free from now on: who was held on account of it is woken.
    pub(crate) fn on_lanes(&mut self, output: ChannelId, free: LaneSet, orders: &mut Vec<Order>) {
        let Rule::AtLeastOne(of) = &mut self.rule else { return };
        if !of.on_lanes(output, free) {
            return;
        }
        let switch = self.plan.fabric.source(output).node;
        for endpoint in &self.around[switch.index()] {
            wake(&mut self.held, &mut self.woken, *endpoint, orders);
        }
    }

    // Self-tuned.

    /// When the first gather is.
    pub(crate) fn first_gather(&self) -> Option<Order> {
        match &self.rule {
            Rule::AtLeastOne(_) => None,
            Rule::SelfTuned(of) => Some(of.first_gather()),
        }
    }

    /// Whether it counts what is received.
    pub(crate) fn counts_received(&self) -> bool {
        matches!(self.rule, Rule::SelfTuned(_))
    }

    /// A packet of so many bytes was received.
    pub(crate) fn on_received(&mut self, wire_bytes: u64) {
        if let Rule::SelfTuned(of) = &mut self.rule {
            of.on_received(wire_bytes);
        }
    }

    /// An endpoint is woken.
    pub(crate) fn on_woken(&mut self, endpoint: EndpointId, now: Time, orders: &mut Vec<Order>) {
        let Rule::SelfTuned(of) = &mut self.rule else { return };
        if endpoint != self_tuned::gatherer() {
            return;
        }
        if of.on_woken(now, orders) {
            self.wake_all(orders);
        }
    }

    /// So many buffers between switches are full.
    pub(crate) fn on_gathered(
        &mut self,
        full: u64,
        posts: Option<&Posts>,
        now: Time,
        orders: &mut Vec<Order>,
    ) {
        let Rule::SelfTuned(of) = &mut self.rule else { return };
        let full = full + posts.map_or(0, Posts::full_buffers);
        if of.on_gathered(full, now, orders) {
            self.wake_all(orders);
        }
    }

    // Who is held.

    fn wake_all(&mut self, orders: &mut Vec<Order>) {
        for endpoint in &self.in_order {
            wake(&mut self.held, &mut self.woken, *endpoint, orders);
        }
    }
}

/// Wakes an endpoint, if it is held.
fn wake(held: &mut [bool], woken: &mut u64, endpoint: EndpointId, orders: &mut Vec<Order>) {
    if std::mem::take(&mut held[endpoint.index()]) {
        *woken += 1;
        orders.push(Order::Send { endpoint });
    }
}
