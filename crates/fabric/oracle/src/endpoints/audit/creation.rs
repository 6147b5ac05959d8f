//! Creation of messages: policing, flow, lane, posting and queue (`timing.md`, "A host" and
//! "Posting").

use super::Audit;
use crate::endpoints::message::{Message, MessageIndex};
use crate::endpoints::posting::{Effect, Post};
use crate::endpoints::queue::{Queue, What};
use gingham_net::traffic::Draft;
use gingham_net::{
    ClassId, ClassPlan, Credits, Excess, FlowId, FlowKey, MessageNumber, MessageSlot, Packet, Plan,
};
use gingham_topology::EndpointId;

impl Audit {
    pub(super) fn created(&mut self, source: usize) {
        let endpoint = self.sources[source].endpoint();
        self.orders.send(endpoint);
        if self.has_crashed(source) {
            return;
        }
        if self.is_held_back(source) {
            return self.sources[source].suspend();
        }
        let draft = self.draw(source);
        self.expect_next(source);
        self.create(source, draft);
    }

    pub(super) fn draw(&mut self, source: usize) -> Draft {
        let draft = self.sources[source].due(self.now);
        draft.unwrap_or_else(|| panic!("audit: source {source} has a message at {:?}", self.now))
    }

    /// Handles the start of a packet. After the first packet of a message, a backlogged class that
    /// needs no credits creates its next message.
    pub(super) fn began(&mut self, endpoint: EndpointId, packet: &Packet) {
        let post = &self.plan.classes[packet.class.index()].post;
        let is_exempt = self.posting.is_empty() || post.credits == Credits::Exempt;
        if packet.is_first && is_exempt {
            self.refill(endpoint, packet.class);
        }
    }

    fn refill(&mut self, endpoint: EndpointId, class: ClassId) {
        for source in 0..self.sources.len() {
            let of = &self.sources[source];
            let is_here = of.endpoint() == endpoint && of.class() == class;
            let is_active = self.plan.classes[class.index()].active.contains(&self.now);
            if is_here
                && is_active
                && self.planned(source).is_backlogged()
                && !self.has_crashed(source)
            {
                self.sources[source].started(self.now);
                let draft = self.draw(source);
                self.create(source, draft);
            }
        }
    }

    pub(super) fn create(&mut self, source: usize, draft: Draft) {
        let of = &self.sources[source];
        let (class, endpoint, part) = (of.class(), of.endpoint(), of.part());
        let Draft { destination, payload_bytes } = draft;
        let number = MessageNumber::new(self.created[endpoint.index()]);
        self.created[endpoint.index()] += 1;
        let sent_as = self.policed(endpoint, class, payload_bytes);
        let stream = part.map(|part| part.stream);
        let key_class = sent_as.unwrap_or(class);
        let key = FlowKey { class: key_class, source: endpoint, destination, stream };
        let flow = is_tracked(&self.plan, key_class).then(|| self.flow_of(key));
        let Some(sent_as) = sent_as else { return };
        let ends = (endpoint, destination);
        let vc_class = self.lanes.choose(&self.plan, sent_as, ends, flow);
        self.messages.push(Message {
            number,
            class,
            sent_as,
            source: endpoint,
            destination,
            payload_bytes,
            created: self.now,
            flow,
            part,
            vc_class,
            started_bytes: Vec::new(),
            left: 0,
            arrived_bytes: 0,
        });
        let message = self.messages.len() - 1;
        let Some(posting) = self.posting.get_mut(endpoint.index()) else {
            return self.enqueue(message);
        };
        let priority = self.messages[message].priority(&self.plan);
        let created = self.now;
        let post = Post { message, class, flow, priority, payload_bytes, created };
        posting.post(&self.plan, post);
        self.carry_out_effects(endpoint);
    }

    /// Returns the class for sending a new message; `None` if the message is dropped.
    fn policed(&mut self, endpoint: EndpointId, class: ClassId, bytes: u32) -> Option<ClassId> {
        let policing = self.plan.classes[class.index()].policing.as_ref();
        let excess = policing.map_or(Excess::Delay, |policing| policing.excess);
        if excess == Excess::Delay {
            return Some(class);
        }
        let bucket = self.buckets.get_mut(&(endpoint, class)).expect("a policed class has one");
        if bucket.holds(self.now, bytes) {
            bucket.take(self.now, bytes);
            return Some(class);
        }
        match excess {
            Excess::Demote(other) => Some(other),
            Excess::Drop | Excess::Delay => None,
        }
    }

    fn flow_of(&mut self, key: FlowKey) -> FlowId {
        let known = self.flows.iter().position(|other| *other == key);
        FlowId::new(known.unwrap_or_else(|| {
            self.flows.push(key);
            self.flows.len() - 1
        }))
    }

    /// Appends a message to its flow's queue if its class is controlled, otherwise to a shared
    /// queue.
    fn enqueue(&mut self, index: MessageIndex) {
        let message = &self.messages[index];
        let host = &mut self.hosts[message.source.index()];
        let place = (host.group_of(message.vc_class), message.priority(&self.plan).level());
        let class = &self.plan.classes[message.sent_as.index()];
        let flow = message.flow.filter(|_| is_controlled(class));
        let is_it = |queue: &Queue| {
            queue.flow == flow && (flow.is_some() || (queue.group, queue.level) == place)
        };
        let known = host.queues.iter().position(is_it);
        let queue = known.unwrap_or_else(|| {
            host.queues.push(match flow {
                None => Queue::shared(place),
                Some(id) => Queue::of_flow(&self.plan, place, id, self.flows[id.index()]),
            });
            host.queues.len() - 1
        });
        host.queues[queue].messages.push(index);
        self.number += 1;
        host.queues[queue].happened(self.number, self.now, What::Queued);
    }

    /// Carries out effects in order, and finally the effects of messages created in the meantime.
    pub(super) fn carry_out_effects(&mut self, endpoint: EndpointId) {
        let place = endpoint.index();
        if std::mem::replace(&mut self.posting[place].is_carrying, true) {
            return;
        }
        while let Some(effect) = self.posting[place].effects.pop_front() {
            match effect {
                Effect::Accepted(message) => {
                    let class = self.messages[message].class;
                    if self.plan.classes[class.index()].post.credits != Credits::Exempt {
                        self.refill(endpoint, class);
                    }
                }
                Effect::Ready(message) => {
                    self.orders.send(endpoint);
                    self.enqueue(message);
                }
                Effect::WakeAt(at) => self.orders.wake_at(endpoint, at),
            }
        }
        self.posting[place].is_carrying = false;
    }

    pub(super) fn left(&mut self, endpoint: EndpointId, slot: MessageSlot) {
        let index = self.message_in(slot);
        self.packet_left(endpoint, index);
        self.messages[index].left += 1;
        if !self.messages[index].has_left() {
            return;
        }
        self.message_left(endpoint, index);
        if let Some(posting) = self.posting.get_mut(endpoint.index()) {
            posting.left(index, self.now);
            self.carry_out_effects(endpoint);
        }
    }
}

fn is_controlled(class: &ClassPlan) -> bool {
    let delays = class.policing.as_ref().is_some_and(|of| of.excess == Excess::Delay);
    class.window.is_some() || class.rate_limit.is_some() || delays
}

/// Returns whether the flows of a class are distinguished: the class is controlled, is posted by
/// flow, has measured or followed flows or streams, or receives demoted streams.
fn is_tracked(plan: &Plan, id: ClassId) -> bool {
    let class = &plan.classes[id.index()];
    let has_streams = |of: &ClassPlan| of.sources.iter().any(|source| source.stream().is_some());
    let demotes = |of: &ClassPlan| {
        of.policing.as_ref().is_some_and(|policing| policing.excess == Excess::Demote(id))
    };
    is_controlled(class)
        || class.post.is_by_flow()
        || plan.measure.flows
        || plan.follow.flows.iter().any(|key| key.class == id)
        || has_streams(class)
        || plan.classes.iter().any(|of| demotes(of) && has_streams(of))
}
