//! Injection throttling: network conditions for the start of a message.
//!
//! ```text
//!   link free, window and rate limit open ──► may the next message start? ─┬─ yes: its first packet starts
//!                                                       ▲                  └─ no: held, and skipped
//!                  lanes of outputs, full buffers ──────┘ a change wakes the held hosts
//! ```
//!
//! [`at_least_one`] uses free lanes at the outputs that the first switch may select, [`self_tuned`]
//! the number of full buffers in the network. Both rules hold back only new messages, not messages
//! in progress, acknowledgements, signals or control packets.
//!
//! The simulation reports free lanes only at outputs of switches with hosts
//! ([`Notice::Lanes`](crate::Notice::Lanes)), and full buffers only on request ([`Order::Gather`]).
//!
//! Invariant: whether a message may start depends only on the reported state and the time.

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

/// Rule of injection throttling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ThrottlePlan {
    /// Free lanes at the outputs that the first switch may select.
    AtLeastOne,
    /// Number of full buffers in the network.
    SelfTuned(SelfTunedPlan),
}

impl Plan {
    /// Returns the rule of injection throttling; `None` without throttling.
    pub fn throttle(&self) -> Option<ThrottlePlan> {
        self.adapters.and_then(|adapters| adapters.throttle)
    }

    /// Returns for each channel whether its free lanes must be reported: true for outputs of
    /// switches with hosts. Empty if no rule needs reports.
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

    /// Returns, for whole-packet switching, the number of buffer blocks that the run's longest
    /// packet needs, by lane and limited to the buffer size.
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

    /// Returns the channels between switches, if their buffers are counted; otherwise empty.
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum May {
    Begin,
    /// The message must not start before this time; the caller must try again then.
    BeginAt(Time),
    /// The message must not start before its host is woken.
    BeHeld,
}

#[derive(Clone, Debug)]
pub(crate) struct Throttle {
    plan: Arc<Plan>,
    rule: Rule,
    held: Box<[bool]>,
    /// Endpoints in descending order of their channels, because the last order is executed first.
    in_order: Box<[EndpointId]>,
    /// Endpoints of each switch, in the order of `in_order`; empty if the rule does not use
    /// outputs.
    around: Box<[Vec<EndpointId>]>,
    woken: u64,
}

#[derive(Clone, Debug)]
enum Rule {
    AtLeastOne(AtLeastOne),
    SelfTuned(SelfTuned),
}

impl Throttle {
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

    pub(crate) fn woken(&self) -> u64 {
        self.woken
    }

    /// Returns whether a message may start now.
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

    /// Wakes the hosts that a lack of free lanes on this output may have held.
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

    pub(crate) fn first_gather(&self) -> Option<Order> {
        match &self.rule {
            Rule::AtLeastOne(_) => None,
            Rule::SelfTuned(of) => Some(of.first_gather()),
        }
    }

    pub(crate) fn counts_received(&self) -> bool {
        matches!(self.rule, Rule::SelfTuned(_))
    }

    pub(crate) fn on_received(&mut self, wire_bytes: u64) {
        if let Rule::SelfTuned(of) = &mut self.rule {
            of.on_received(wire_bytes);
        }
    }

    pub(crate) fn on_woken(&mut self, endpoint: EndpointId, now: Time, orders: &mut Vec<Order>) {
        let Rule::SelfTuned(of) = &mut self.rule else { return };
        if endpoint != self_tuned::gatherer() {
            return;
        }
        if of.on_woken(now, orders) {
            self.wake_all(orders);
        }
    }

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

    fn wake_all(&mut self, orders: &mut Vec<Order>) {
        for endpoint in &self.in_order {
            wake(&mut self.held, &mut self.woken, *endpoint, orders);
        }
    }
}

fn wake(held: &mut [bool], woken: &mut u64, endpoint: EndpointId, orders: &mut Vec<Order>) {
    if std::mem::take(&mut held[endpoint.index()]) {
        *woken += 1;
        orders.push(Order::Send { endpoint });
    }
}
