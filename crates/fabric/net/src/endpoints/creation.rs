//! Creation of messages and entry into adapter queues.
//!
//! Most messages enter the queue of their adapter immediately. In runs with channel adapters,
//! messages are posted first, and enter a queue when they are ready.

use super::Endpoints;
use crate::messages::Outgoing;
use crate::posting::Outcome;
use crate::traffic::{Draft, StreamPart};
use crate::{
    ClassId, Conformance, Content, Created, Credits, FlowId, FlowKey, Message, MessageSlot, Order,
    Packet, Refused, StreamId,
};
use gingham_kernel::Time;
use gingham_topology::EndpointId;

impl Endpoints {
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub(super) fn on_created(&mut self, index: usize, now: Time) -> Created {
        if let Some(admission) = &mut self.admission
            && self.sources.get(index).next_at() == Some(now)
            && admission.holds_back(self.sources.get(index), &mut self.outbox, now)
        {
            self.sources.get_mut(index).suspend();
            return Created { next: None, endpoint: self.sources.get(index).endpoint() };
        }
        let source = self.sources.get_mut(index);
        let (class, endpoint) = (source.class(), source.endpoint());
        let Some(draft) = source.due(now) else { return Created { next: None, endpoint } };
        let next = source.next_at();
        self.offer(index, (class, endpoint), draft, now);
        Created { next, endpoint }
    }

    #[inline(never)]
    fn create(&mut self, index: usize, now: Time) -> bool {
        let source = self.sources.get_mut(index);
        let (class, endpoint) = (source.class(), source.endpoint());
        let Some(draft) = source.due(now) else { return false };
        self.offer(index, (class, endpoint), draft, now);
        true
    }

    /// Creates the message that a notification made due at `now`, and any messages that the source
    /// had scheduled for `now`. Each message gets a send order.
    #[inline(never)]
    fn create_caused(&mut self, index: usize, now: Time) {
        let endpoint = self.sources.get(index).endpoint();
        while self.create(index, now) {
            self.outbox.order_send(endpoint);
            if self.sources.get(index).next_at() != Some(now) {
                break;
            }
        }
    }

    fn reschedule(&mut self, index: usize, scheduled: Option<Time>) {
        if self.sources.get(index).next_at() != scheduled {
            self.sources.schedule(index, &mut self.outbox);
        }
    }

    pub(super) fn begin_stream(&mut self, index: usize, now: Time) {
        let source = self.sources.get_mut(index);
        let scheduled = source.next_at();
        source.resume(now);
        self.create_caused(index, now);
        self.reschedule(index, scheduled);
    }

    /// Notifies the sources of a class that one of its messages starts.
    ///
    /// Creates at most one message per source, without a send order, because the network polls the
    /// endpoint when the starting packet has left. Further messages due now get separate orders.
    fn on_started(&mut self, endpoint: EndpointId, class: ClassId, now: Time) {
        for place in 0..self.sources.agenda(endpoint).of_starts().len() {
            let index = self.sources.agenda(endpoint).of_starts()[place];
            let source = self.sources.get_mut(index);
            if source.class() != class {
                continue;
            }
            let scheduled = source.next_at();
            match source.started(now) {
                Some(at) if at > now => self.sources.postpone(index, at, &mut self.outbox),
                Some(_) => _ = self.create(index, now),
                None => {}
            }
            self.reschedule(index, scheduled);
        }
    }

    #[inline(never)]
    pub(super) fn on_delivered(&mut self, message: &Message, now: Time) {
        let endpoint = message.destination;
        for place in 0..self.sources.agenda(endpoint).of_deliveries().len() {
            let (class, index) = self.sources.agenda(endpoint).of_deliveries()[place];
            if class != message.class {
                continue;
            }
            let source = self.sources.get_mut(index);
            let scheduled = source.next_at();
            match source.delivered(message, now) {
                Some(at) if at > now => self.sources.postpone(index, at, &mut self.outbox),
                Some(_) => self.create_caused(index, now),
                None => {}
            }
            self.reschedule(index, scheduled);
        }
    }

    pub(super) fn create_postponed(&mut self, endpoint: EndpointId, now: Time) {
        while let Some(index) = self.sources.take_due(endpoint, now) {
            let scheduled = self.sources.get(index).next_at();
            self.create_caused(index, now);
            self.reschedule(index, scheduled);
        }
    }

    #[inline(never)]
    pub(super) fn on_began(&mut self, endpoint: EndpointId, packet: &Packet, now: Time) {
        // In a class that needs credits, a message starts when it takes its credit instead.
        let is_free =
            |class: ClassId| self.plan.classes[class.index()].post.credits == Credits::Exempt;
        if packet.is_first && (self.posts.is_none() || is_free(packet.class)) {
            self.on_started(endpoint, packet.class, now);
        }
    }

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn offer(
        &mut self,
        index: usize,
        (class, source): (ClassId, EndpointId),
        draft: Draft,
        now: Time,
    ) {
        let adapter = self.outbox.adapter(source);
        let message = Message {
            number: adapter.next_number(),
            class,
            source,
            destination: draft.destination,
            payload_bytes: draft.payload_bytes,
            created: now,
            flow: None,
        };
        let (class, conformance) = adapter.judge(&message);
        let is_plain = self.posts.is_none() && !self.lanes.draws();
        if !is_plain || self.flows.is_tracked(class) || conformance == Conformance::Dropped {
            return self.offer_more(index, message, (class, conformance));
        }
        self.collector.on_created(&message);
        let (flows, messages) = (&mut self.flows, &mut self.messages);
        adapter.admit(&self.plan, flows, messages, message, (class, conformance));
    }

    #[inline(never)]
    fn offer_more(
        &mut self,
        index: usize,
        mut message: Message,
        (class, conformance): (ClassId, Conformance),
    ) {
        let part = self.sources.get(index).part();
        if self.flows.is_tracked(class) {
            message.flow = Some(self.flow_of(class, part.map(|part| part.stream), &message));
        }
        self.collector.on_created(&message);
        if let Some(part) = part {
            self.collector.on_part_created(part);
        }
        if conformance == Conformance::Dropped {
            if let Some(part) = part {
                self.collector.on_part_dropped(part);
            }
            return self.collector.on_dropped(&message);
        }
        self.post(message, (class, conformance), part);
    }

    fn flow_of(&mut self, class: ClassId, stream: Option<StreamId>, message: &Message) -> FlowId {
        let Message { source, destination, .. } = *message;
        let key = FlowKey { class, source, destination, stream };
        let (flow, is_new) = self.flows.find(&self.plan, key);
        if is_new {
            self.collector.on_flow(flow, key);
        }
        flow
    }

    #[inline(never)]
    fn post(
        &mut self,
        message: Message,
        (class, conformance): (ClassId, Conformance),
        part: Option<StreamPart>,
    ) {
        let vc_class = self.lanes.choose(&self.plan, &mut self.flows, class, &message);
        let outgoing = Outgoing::new(&self.plan, message, (class, conformance), vc_class);
        let slot = self.messages.insert(outgoing);
        if let Some(part) = part {
            self.messages.note_part(slot, part);
        }
        let now = message.created;
        let Some(posts) = &mut self.posts else { return self.enqueue(slot, now) };
        let class = &self.plan.classes[message.class.index()];
        posts.post(&mut self.messages, class, slot, now);
        self.carry_posts(now);
    }

    #[inline(never)]
    pub(super) fn on_content_left(&mut self, endpoint: EndpointId, content: Content, now: Time) {
        let Content::Data(slot) = content else { return };
        if let Some(admission) = &mut self.admission {
            admission.on_packet_left(endpoint, slot, &self.messages, now);
        }
        if (self.posts.is_none() && self.admission.is_none()) || !self.messages.leave(slot) {
            return;
        }
        if let Some(admission) = &mut self.admission {
            admission.on_message_left(endpoint, slot, &self.messages, &mut self.outbox);
        }
        if let Some(posts) = &mut self.posts {
            posts.left(&mut self.messages, slot, now);
            self.carry_posts(now);
        }
    }

    /// Applies the outcomes of all posts, including posts made in the process. A loop avoids deep
    /// recursion when many credits are free.
    pub(super) fn carry_posts(&mut self, now: Time) {
        if self.posts.as_mut().is_none_or(|posts| !posts.begin_outcomes()) {
            return;
        }
        while let Some(outcome) = self.posts.as_mut().and_then(|posts| posts.next_outcome()) {
            match outcome {
                Outcome::Accepted(slot) => self.on_accepted(slot, now),
                Outcome::Ready(slot) => {
                    self.outbox.order_send(self.messages.message(slot).source);
                    self.enqueue(slot, now);
                }
                Outcome::WakeAt(endpoint, at) => self.outbox.order(Order::WakeAt { endpoint, at }),
            }
        }
    }

    fn on_accepted(&mut self, slot: MessageSlot, now: Time) {
        let message = *self.messages.message(slot);
        let post = &self.plan.classes[message.class.index()].post;
        if post.credits == Credits::Exempt {
            return;
        }
        if let Refused::Retry(periods) = &post.refused {
            let period = periods[message.source.index()];
            let refusals = now.since(message.created).as_ps() / period.as_ps();
            self.collector.on_refused(message.class, refusals);
        }
        self.on_started(message.source, message.class, now);
    }

    fn enqueue(&mut self, slot: MessageSlot, now: Time) {
        let message = self.messages.message(slot);
        let (endpoint, is_tracked) = (message.source, message.flow.is_some());
        let adapter = self.outbox.adapter(endpoint);
        adapter.enqueue(&mut self.flows, &mut self.messages, slot, now);
        if is_tracked {
            self.report_held();
        }
    }
}
