//! Handling of notices from the network.

use super::Endpoints;
use crate::congestion;
use crate::flows::FlowState;
use crate::marking::Reading;
use crate::{Arrival, Content, Created, FlowId, Notice, Order, Packet, Stay};
use gingham_kernel::{Span, Time};
use gingham_topology::{ChannelId, EndpointId};

impl Endpoints {
    /// Handles the notice of an event at time `now`. The resulting orders are available from
    /// [`Self::next_order`].
    #[expect(
        clippy::inline_always,
        reason = "callers know the notice: nothing is left of the match"
    )]
    #[inline(always)]
    pub fn notify(&mut self, now: Time, notice: Notice<'_>) {
        if let Some(probe) = &mut self.probe {
            probe.note(now, &notice);
        }
        match notice {
            Notice::Created { source } => {
                let Created { next, endpoint } = self.on_created(source, now);
                self.outbox.order_send(endpoint);
                if let Some(at) = next {
                    self.outbox.order(Order::CreateAt { source, at });
                }
            }
            Notice::Began { endpoint, packet } => self.on_began(endpoint, packet, now),
            Notice::Left { endpoint, began, flits, flit, content } => {
                self.on_left(endpoint, now, (began, flits, flit));
                self.on_content_left(endpoint, content, now);
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
            Notice::Lanes { output, free } => {
                if let Some(throttle) = &mut self.throttle {
                    throttle.on_lanes(output, free, self.outbox.orders_mut());
                }
            }
            Notice::Loads { endpoint, loads } => self.outbox.adapter(endpoint).on_loads(loads),
            Notice::Gathered { full } => {
                if let Some(throttle) = &mut self.throttle {
                    let posts = self.posts.as_deref();
                    throttle.on_gathered(full, posts, now, self.outbox.orders_mut());
                }
            }
            Notice::Woken { endpoint } => self.on_woken(endpoint, now),
            Notice::Sampled { counts } => {
                self.collector.on_sample(now, counts);
                self.checkpoints.update(&self.collector);
            }
            Notice::TreesSampled { waiters } => {
                self.collector.on_tree_sample(now, &congestion::trees(&self.plan, waiters));
                self.checkpoints.update(&self.collector);
            }
        }
    }

    /// Handles [`Notice::Created`] like [`Self::notify`], but returns the resulting orders
    /// directly, for speed.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every message")]
    #[inline(always)]
    pub fn create_next(&mut self, source: usize, now: Time) -> Created {
        if let Some(probe) = &mut self.probe {
            probe.note(now, &Notice::Created { source });
        }
        self.on_created(source, now)
    }

    #[inline(never)]
    fn on_left(
        &mut self,
        endpoint: EndpointId,
        now: Time,
        (began, flits, flit): (Time, u64, Span),
    ) {
        if let Some(contention) = self.outbox.adapter(endpoint).on_left(began, now, flits, flit) {
            self.collector.on_contention(endpoint, now, contention);
        }
    }

    #[inline(never)]
    fn on_received(&mut self, packet: &Packet, arrival: &Arrival) {
        if packet.is_bad {
            return self.on_lost(packet);
        }
        self.conservation.deliver();
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
            self.checkpoints.update(&self.collector);
        }
        if self.is_causal {
            self.on_delivered(&delivery.message, delivery.delivered);
        }
    }

    #[inline(never)]
    fn on_lost(&mut self, packet: &Packet) {
        self.conservation.lose();
        match packet.content {
            Content::Data(slot) => {
                if self.messages.lose(slot, packet.payload_bytes) {
                    self.collector.on_lost();
                }
            }
            Content::Ack { .. } | Content::Signal(_) | Content::Control => self.outbox.on_ended(),
        }
    }

    #[inline(never)]
    fn before_delivery(&mut self, packet: &Packet, arrival: &Arrival) {
        let now = arrival.arrived;
        if let Some(throttle) = &mut self.throttle {
            throttle.on_received(arrival.wire_bytes);
        }
        match packet.content {
            Content::Data(_) => {
                if let Some(flow) = packet.flow {
                    self.acknowledge(flow, packet, now);
                }
            }
            Content::Ack { packets, marked } => {
                self.outbox.on_ended();
                let flow = packet.flow.expect("an acknowledgement is to a flow");
                self.on_acknowledged(flow, packets, marked, now);
            }
            Content::Signal(signal) => {
                self.outbox.on_ended();
                if let Some(admission) = &mut self.admission
                    && let Some(source) =
                        admission.on_received(signal, packet, &self.sources, &mut self.outbox, now)
                {
                    self.begin_stream(source, now);
                }
            }
            Content::Control => self.outbox.on_ended(),
        }
        if let Some(probe) = &mut self.probe {
            probe.on_received(packet, &mut self.outbox, now);
        }
    }

    fn acknowledge(&mut self, flow: FlowId, packet: &Packet, now: Time) {
        let class = self.flows.get(flow).key.class;
        let Some(window) = &self.plan.classes[class.index()].window else { return };
        let due = self.receipts.of(flow).arrive(window.acknowledged, packet.mark, now);
        let Some((packets, marked)) = due else { return };
        let plan = window.ack;
        let (source, destination) = (packet.destination, packet.source);
        let of_pair = || self.plan.lanes.allowed.vc_class_of_pair(source, destination);
        let level = (plan.priority, plan.vc_class.unwrap_or_else(of_pair));
        let content = Content::Ack { packets, marked };
        let ends = (source, destination);
        let ack = Packet::without_message(content, packet.class, ends, level, plan.payload_bytes);
        let ack = Packet { flow: packet.flow, ..ack };
        let queued = self.outbox.send(ack, now);
        self.collector.on_ack_queue(class, queued);
    }

    fn on_acknowledged(&mut self, flow: FlowId, packets: u32, marked: u32, now: Time) {
        self.collector.on_acknowledged(flow, packets, marked, now);
        let state = self.flows.acknowledged(flow, packets, marked > 0, now);
        let Some(state) = state else { return };
        self.report_held();
        let waiting = self.flows.get(flow).queue.front().expect("it has something to send");
        let (priority, vc_class) = self.messages.level_of(waiting);
        let endpoint = self.flows.get(flow).key.source;
        let adapter = self.outbox.adapter(endpoint);
        if state == FlowState::MayGo {
            adapter.reopen(flow, vc_class, priority);
            self.outbox.order_send(endpoint);
        } else {
            adapter.shut(flow, vc_class, priority);
        }
    }

    #[inline(never)]
    fn on_woken(&mut self, endpoint: EndpointId, now: Time) {
        if let Some(throttle) = &mut self.throttle {
            throttle.on_woken(endpoint, now, self.outbox.orders_mut());
        }
        if let Some(posts) = &mut self.posts {
            posts.woken(&mut self.messages, endpoint, now);
            self.carry_posts(now);
        }
        self.create_postponed(endpoint, now);
    }

    #[inline(never)]
    fn on_sent_on(&mut self, endpoint: EndpointId, waited: Span, packet: &mut Packet, now: Time) {
        self.collector.on_reinjected(endpoint, now, waited);
        if let Some(admission) = &mut self.admission {
            admission.on_sent_on(endpoint, packet, &self.messages, &mut self.outbox, now);
        }
    }

    fn on_read(&mut self, input: ChannelId, waiting_flits: u64, packet: &mut Packet, now: Time) {
        if let Some(marker) = &mut self.marker {
            let switch = self.plan.fabric.target(input).node;
            packet.mark |= marker.marks(Reading { switch, waiting_flits });
        }
        if let Some(admission) = &mut self.admission {
            admission.on_read(input, packet, &self.messages, &mut self.outbox, now);
        }
        if let Some(probe) = &mut self.probe {
            probe.on_read(input, packet);
        }
    }

    fn on_forwarded(&mut self, stay: Stay, left: Time, packet: &mut Packet, now: Time) {
        let Some(marker) = &mut self.marker else { return };
        if let Some(trigger) = marker.forwarded(&stay, left, now) {
            // Marks on acknowledgements are not counted, because no source receives them.
            if !packet.mark && matches!(packet.content, Content::Data(_)) {
                self.collector.on_marked(packet.class, trigger);
            }
            packet.mark = true;
        }
    }
}
