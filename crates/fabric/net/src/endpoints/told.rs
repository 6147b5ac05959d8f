//! What endpoints make of notices: messages, answers and replies.
//!
//! ```text
//!   created ──► message ──► adapter: send
//!   received ─┬ data ─────► answered, if its flow has a window: send
//!             │      ├────► the last one of its message: delivered, and replied to: send, or wake at
//!             │ answer ───► its flow goes on: send
//!             └ control
//! ```

use super::Endpoints;
use crate::congestion;
use crate::flows::Standing;
use crate::marking::Reading;
use crate::traffic::Draft;
use crate::{
    Arrival, ClassId, Conformance, Content, Created, Credits, FlowId, FlowKey, Message, MessageId,
    Notice, Order, Packet, PathSet, Priority, Stay, StreamId,
};
use gingham_kernel::{Span, Time};
use gingham_topology::routing::VcClass;
use gingham_topology::{ChannelId, EndpointId};

/// Who replies to messages of a class at an endpoint.
pub(super) type ReplyKey = (ClassId, EndpointId);

/// A reply to come.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingReply {
    source: usize,
    destination: EndpointId,
}

impl Endpoints {
    /// Something happened `now`. What is to be done on account of it is told by
    /// [`Self::next_order`].
    #[expect(clippy::inline_always, reason = "who tells knows what: nothing is left of the match")]
    #[inline(always)]
    pub fn tell(&mut self, now: Time, notice: Notice<'_>) {
        if self.is_probed {
            self.note(now, &notice);
        }
        match notice {
            Notice::Created { source } => {
                let Created { next, endpoint } = self.on_created(source, now);
                self.orders.push(Order::Send { endpoint });
                self.orders.extend(next.map(|at| Order::CreateAt { source, at }));
            }
            Notice::Began { endpoint, packet } => self.on_began(endpoint, packet, now),
            Notice::Left { endpoint, began, flits, flit, content } => {
                self.on_left(endpoint, now, (began, flits, flit));
                self.content_left(endpoint, content, now);
            }
            Notice::SentOn { endpoint, waited, packet } => {
                self.on_sent_on(endpoint, waited, packet, now);
            }
            Notice::Received { packet, arrival } => self.on_received(packet, arrival),
            Notice::Read { input, waiting_flits, packet, .. } => {
                self.on_read(input, waiting_flits, packet, now);
            }
            Notice::Queued { stay } => {
                if let Some(marker) = &mut self.marker {
                    marker.queued(&stay, now);
                }
            }
            Notice::Forwarded { stay, left, packet } => {
                self.on_forwarded(stay, left, packet, now);
            }
            Notice::Settled { stay, has_space } => {
                if let Some(marker) = &mut self.marker {
                    marker.settled(&stay, has_space, now);
                }
            }
            Notice::Lanes { output, free } => self.on_lanes(output, free),
            Notice::Gathered { full } => self.on_gathered(full, now),
            Notice::Woken { endpoint } => self.on_woken(endpoint, now),
            Notice::Sampled { counts } => {
                self.collector.on_sample(now, counts);
                self.set_checkpoint();
            }
            Notice::Looked { waiters } => {
                self.collector.on_look(now, &congestion::trees(&self.plan, waiters));
                self.set_checkpoint();
            }
        }
    }

    /// The same as to tell [`Notice::Created`], with what that orders as a value: a message is
    /// created too often for a list.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn create_next(&mut self, source: usize, now: Time) -> Created {
        if self.is_probed {
            self.note(now, &Notice::Created { source });
        }
        self.on_created(source, now)
    }

    /// Whether anything is to be done on account of what was told.
    #[inline]
    pub fn has_orders(&self) -> bool {
        !self.orders.is_empty()
    }

    /// What is to be done on account of what was told, if anything is. The last that was ordered
    /// comes first: a source that creates its next message at this very instant is told so before
    /// its endpoint is asked to send.
    #[inline]
    pub fn next_order(&mut self) -> Option<Order> {
        self.orders.pop()
    }

    // Messages.

    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn on_created(&mut self, index: usize, now: Time) -> Created {
        if self.desk.is_some() && self.is_held_back(index, now) {
            self.arrivals_pending -= 1;
            return Created { next: None, endpoint: self.sources[index].endpoint() };
        }
        let source = &mut self.sources[index];
        let (class, endpoint) = (source.class(), source.endpoint());
        let draft = source.draw();
        let next = source.next_arrival();
        if next.is_none() {
            self.arrivals_pending -= 1;
        }
        self.offer(index, (class, endpoint), draft, now);
        Created { next, endpoint }
    }

    /// Orders when a source creates its next message, if it does and its instant is known.
    pub(super) fn await_arrival(&mut self, source: usize) {
        if let Some(at) = self.sources[source].next_arrival() {
            self.arrivals_pending += 1;
            self.orders.push(Order::CreateAt { source, at });
        }
    }

    /// A source creates a message: a reply to this endpoint, if one is given. Returns where.
    #[inline(never)]
    pub(super) fn create(
        &mut self,
        index: usize,
        reply_to: Option<EndpointId>,
        now: Time,
    ) -> EndpointId {
        let source = &mut self.sources[index];
        let (class, endpoint) = (source.class(), source.endpoint());
        let draft = match reply_to {
            None => source.draw(),
            Some(destination) => source.draw_reply(destination),
        };
        self.offer(index, (class, endpoint), draft, now);
        endpoint
    }

    /// A message of a class is created at an endpoint, by a source.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    fn offer(
        &mut self,
        index: usize,
        (class, source): (ClassId, EndpointId),
        draft: Draft,
        now: Time,
    ) {
        let message = Message {
            id: MessageId::new(self.messages_created),
            class,
            source,
            destination: draft.destination,
            payload_bytes: draft.payload_bytes,
            created: now,
            flow: None,
        };
        self.messages_created += 1;
        let adapter = &mut self.adapters[source.index()];
        let (class, conformance) = adapter.judge(&message);
        let is_plain = self.posts.is_none() && !self.lanes.draws();
        if !is_plain || self.flows.tells_apart(class) || conformance == Conformance::Dropped {
            return self.offer_more(index, message, (class, conformance));
        }
        self.collector.on_created(&message);
        let (flows, messages) = (&mut self.flows, &mut self.messages);
        adapter.admit(&self.plan, flows, messages, message, (class, conformance));
    }

    /// The same of a message of a flow, of one that policing drops, and of one that is posted;
    /// streams are flows.
    #[inline(never)]
    fn offer_more(
        &mut self,
        index: usize,
        mut message: Message,
        (class, conformance): (ClassId, Conformance),
    ) {
        let part = self.sources[index].part();
        if self.flows.tells_apart(class) {
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

    /// The flow of a message that is sent as one of a class.
    fn flow_of(&mut self, class: ClassId, stream: Option<StreamId>, message: &Message) -> FlowId {
        let Message { source, destination, .. } = *message;
        let key = FlowKey { class, source, destination, stream };
        let (flow, is_new) = self.flows.find(&self.plan, key);
        if is_new {
            self.collector.on_flow(flow, key);
        }
        flow
    }

    /// A backlogged class creates its next message at the instant at which the first packet of one
    /// begins, although messages are created before all else: nothing of this instant can depend on
    /// it any more.
    #[inline(never)]
    fn on_began(&mut self, endpoint: EndpointId, packet: &Packet, now: Time) {
        // Where a message needs a credit the next one is created as that is taken.
        let is_free =
            |class: ClassId| self.plan.classes[class.index()].post.credits == Credits::Exempt;
        if packet.is_first && (self.posts.is_none() || is_free(packet.class)) {
            self.refill(endpoint, packet.class, now);
        }
    }

    /// The backlogged sources of a class at an endpoint create their next messages.
    pub(super) fn refill(&mut self, endpoint: EndpointId, class: ClassId, now: Time) {
        for place in 0..self.backlogged[endpoint.index()].len() {
            let index = self.backlogged[endpoint.index()][place];
            let source = &self.sources[index];
            if source.class() == class && source.refills(now) {
                self.create(index, None, now);
            }
        }
    }

    #[inline(never)]
    fn on_left(
        &mut self,
        endpoint: EndpointId,
        now: Time,
        (began, flits, flit): (Time, u64, Span),
    ) {
        let adapter = &mut self.adapters[endpoint.index()];
        if let Some(contention) = adapter.on_left(began, now, flits, flit) {
            self.collector.on_contention(endpoint, now, contention);
        }
    }

    // Packets.

    #[inline(never)]
    fn on_received(&mut self, packet: &Packet, arrival: &Arrival) {
        if self.is_causal {
            self.before_delivery(packet, arrival);
        }
        let Content::Data(slot) = packet.content else { return };
        let Some(delivery) = self.messages.arrive(slot, arrival) else { return };
        self.collector.on_delivered(&delivery);
        if let Some(part) = self.messages.take_part(slot) {
            self.collector.on_part_delivered(part, delivery.delivered);
        }
        if self.collector.is_complete() {
            self.set_checkpoint();
        }
        if self.is_causal {
            self.reply(&delivery.message, delivery.delivered);
        }
    }

    /// What a packet brings about that has arrived, but for the delivery of its message.
    #[inline(never)]
    fn before_delivery(&mut self, packet: &Packet, arrival: &Arrival) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_received(arrival.wire_bytes);
        }
        match packet.content {
            Content::Data(_) => {
                if let Some(flow) = packet.flow {
                    self.answer(flow, packet, arrival.arrived);
                }
            }
            Content::Answer { packets, marked } => {
                self.ordered_under_way -= 1;
                let flow = packet.flow.expect("an answer is to a flow");
                self.on_answered(flow, packets, marked, arrival.arrived);
            }
            Content::Signal(signal) => {
                self.ordered_under_way -= 1;
                self.on_signal(signal, packet, arrival.arrived);
            }
            Content::Control => self.ordered_under_way -= 1,
        }
        if let Some(plan) = self.plan.probe {
            self.probe_received(plan, packet, arrival.arrived);
        }
    }

    /// The destination of a data packet answers it, or it and others, if its flow has a window.
    fn answer(&mut self, flow: FlowId, packet: &Packet, now: Time) {
        let of = self.flows.get_mut(flow);
        let class = of.key.class;
        let Some(window) = &self.plan.classes[class.index()].window else { return };
        let due = of.receipt.arrive(window.answered, packet.mark, now);
        let Some((packets, marked)) = due else { return };
        let answer = window.answer;
        let of_pair =
            || self.plan.lanes.allowed.vc_class_of_pair(packet.destination, packet.source);
        let vc_class = answer.vc_class.unwrap_or_else(of_pair);
        let content = Content::Answer { packets, marked };
        let queued =
            self.order_back(packet, answer.payload_bytes, content, answer.priority, vc_class, now);
        self.collector.on_answer_queue(class, queued);
    }

    /// Sends a packet that no message is behind from the destination of another one to its source.
    /// Returns how many such packets wait there now.
    fn order_back(
        &mut self,
        packet: &Packet,
        payload_bytes: u32,
        content: Content,
        priority: Priority,
        vc_class: VcClass,
        now: Time,
    ) -> usize {
        let ordered = Packet {
            content,
            class: packet.class,
            flow: packet.flow,
            source: packet.destination,
            destination: packet.source,
            payload_bytes,
            priority,
            path_set: PathSet::default(),
            vc_class,
            is_first: false,
            is_last_of_stream: false,
            mark: false,
        };
        self.order(ordered, now)
    }

    /// Sends a packet that no message is behind. Returns how many such packets wait there now.
    pub(super) fn order(&mut self, ordered: Packet, now: Time) -> usize {
        self.ordered_under_way += 1;
        let endpoint = ordered.source;
        self.orders.push(Order::Send { endpoint });
        self.adapters[endpoint.index()].order(ordered, now)
    }

    fn on_answered(&mut self, flow: FlowId, packets: u32, marked: u32, now: Time) {
        self.collector.on_answered(flow, packets, marked, now);
        let standing = self.flows.answered(flow, packets, marked > 0, now);
        let Some(standing) = standing else { return };
        self.tell_held();
        let waiting = self.flows.get(flow).queue.front().expect("it has something to send");
        let (priority, vc_class) = self.messages.level_of(waiting);
        let endpoint = self.flows.get(flow).key.source;
        let adapter = &mut self.adapters[endpoint.index()];
        if standing == Standing::MayGo {
            adapter.reopen(flow, vc_class, priority);
            self.orders.push(Order::Send { endpoint });
        } else {
            adapter.shut(flow, vc_class, priority);
        }
    }

    #[inline(never)]
    fn on_sent_on(&mut self, endpoint: EndpointId, waited: Span, packet: &mut Packet, now: Time) {
        self.collector.on_reinjected(endpoint, now, waited);
        if self.desk.is_some() {
            self.admission_sent_on(endpoint, packet, now);
        }
    }

    fn on_read(&mut self, input: ChannelId, waiting_flits: u64, packet: &mut Packet, now: Time) {
        if let Some(marker) = &mut self.marker {
            let switch = self.plan.fabric.target(input).node;
            packet.mark |= marker.marks(Reading { switch, waiting_flits });
        }
        if self.desk.is_some() {
            self.admission_read(input, packet, now);
        }
        if self.is_probed {
            self.probe_read(input, packet);
        }
    }

    fn on_forwarded(&mut self, stay: Stay, left: Time, packet: &mut Packet, now: Time) {
        let Some(marker) = &mut self.marker else { return };
        if let Some(trigger) = marker.forwarded(&stay, left, now) {
            // Answers are no data, and nobody hears of their marks.
            if !packet.mark && matches!(packet.content, Content::Data(_)) {
                self.collector.on_marked(packet.class, trigger);
            }
            packet.mark = true;
        }
    }

    /// Tells the collector for how long flows were held back, as far as that is known now.
    #[inline(never)]
    pub(super) fn tell_held(&mut self) {
        while let Some(held) = self.flows.next_held() {
            self.collector.on_held(held.flow, held.by, held.from, held.to);
        }
    }

    // Replies.

    /// A message was delivered `now`: those who reply to its class do.
    #[inline(never)]
    fn reply(&mut self, message: &Message, now: Time) {
        let key = (message.class, message.destination);
        let count = self.repliers.get(&key).map_or(0, Vec::len);
        for place in 0..count {
            let source = self.repliers[&key][place];
            let think = self.sources[source].replies().expect("it replies").think;
            let (at, destination) = (now + think, message.source);
            if !self.sources[source].is_active(at) {
                continue;
            }
            let pending = PendingReply { source, destination };
            if at == now {
                self.create_reply(pending, now);
                continue;
            }
            let endpoint = message.destination;
            self.replies.insert((endpoint, at, self.replies_ordered), pending);
            self.replies_ordered += 1;
            self.orders.push(Order::WakeAt { endpoint, at });
        }
    }

    #[inline(never)]
    fn create_reply(&mut self, pending: PendingReply, now: Time) {
        let PendingReply { source, destination } = pending;
        let endpoint = self.create(source, Some(destination), now);
        self.orders.push(Order::Send { endpoint });
    }

    #[inline(never)]
    fn on_woken(&mut self, endpoint: EndpointId, now: Time) {
        self.throttle_woken(endpoint, now);
        self.posted_woken(endpoint, now);
        let due = (endpoint, Time::ZERO, 0)..=(endpoint, now, usize::MAX);
        while let Some((key, pending)) = self.replies.range(due.clone()).next() {
            let (key, pending) = (*key, *pending);
            self.replies.remove(&key);
            self.create_reply(pending, now);
        }
    }
}
