//! Arrivals at hosts: acknowledgements and their effects, replies, counts and wake-ups (timing.md,
//! flows).

use super::Audit;
use crate::endpoints::differ::check;
use crate::endpoints::host::Other;
use crate::endpoints::queue::What;
use crate::endpoints::replies::Reply;
use crate::endpoints::throttle::Throttle;
use gingham_net::{Arrival, Content, MessageSlot, Packet};
use gingham_topology::EndpointId;

impl Audit {
    /// A packet has arrived whole at its destination.
    pub(super) fn received(&mut self, packet: &Packet, arrival: &Arrival) {
        if let Throttle::SelfTuned(of) = &mut self.throttle {
            of.received(arrival.wire_bytes);
        }
        match packet.content {
            Content::Data(_) => self.acknowledge(packet),
            Content::Ack { packets, marked } => self.acknowledged(packet, packets, marked > 0),
            Content::Signal(signal) => self.signal_received(signal, packet),
            Content::Control => {}
        }
        self.control(packet);
        if let Content::Data(slot) = packet.content {
            self.data_received(slot, packet);
        }
    }

    /// Sends an acknowledgement of a data packet, alone or with earlier ones, if one is due.
    fn acknowledge(&mut self, packet: &Packet) {
        let Some(flow) = packet.flow else { return };
        let class = self.flows[flow.index()].class;
        let Some(window) = self.plan.classes[class.index()].window.clone() else { return };
        let now = self.now;
        let due = self.receipts.arrive(flow, packet.mark, window.acknowledged, now);
        let Some((packets, marked)) = due else { return };
        let ends = (packet.destination, packet.source);
        let vc_class = window.ack.vc_class.unwrap_or_else(|| {
            self.plan.lanes.allowed.vc_class_of_pair(packet.destination, packet.source)
        });
        let ack = without_message(Content::Ack { packets, marked }, ends, packet);
        let (payload_bytes, priority) = (window.ack.payload_bytes, window.ack.priority);
        self.send_other(Packet { payload_bytes, priority, vc_class, flow: packet.flow, ..ack });
    }

    /// Queues a packet without a message at its source.
    pub(super) fn send_other(&mut self, packet: Packet) {
        let other = Other { packet, since: self.now, has_started: false };
        self.hosts[packet.source.index()].others.push(other);
        self.orders.send(packet.source);
    }

    /// An acknowledgement has arrived at the source of its flow, which may send if its window
    /// opens.
    fn acknowledged(&mut self, ack: &Packet, packets: u32, is_marked: bool) {
        let host = &mut self.hosts[ack.destination.index()];
        let queue = host.queues.iter_mut().find(|queue| queue.flow == ack.flow);
        let queue = queue.expect("what is acknowledged was sent");
        let was_shut = queue.is_shut();
        self.number += 1;
        queue.happened(self.number, self.now, What::Acknowledged { packets, is_marked });
        if was_shut && !queue.is_shut() {
            self.orders.send(ack.destination);
        }
    }

    /// Sends the control packets of the probe that follow from a packet.
    fn control(&mut self, packet: &Packet) {
        let (controls, weighs) = self.probe.received(packet);
        if weighs {
            self.orders.weigh_freely();
        }
        for control in controls {
            let ends = (control.source, control.destination);
            let of = self.plan.probe.expect("there is a probe");
            let vc_class = self.plan.classes[packet.class.index()].vc_class.unwrap_or_else(|| {
                self.plan.lanes.allowed.vc_class_of_pair(control.source, control.destination)
            });
            let payload_bytes = of.control_bytes;
            let sent = without_message(Content::Control, ends, packet);
            self.send_other(Packet { payload_bytes, vc_class, flow: packet.flow, ..sent });
        }
    }

    /// A data packet has arrived. With the last one of its message, replies follow.
    fn data_received(&mut self, slot: MessageSlot, packet: &Packet) {
        let index = self.message_in(slot);
        let message = &mut self.messages[index];
        message.arrived_bytes += packet.payload_bytes;
        if !message.has_arrived() {
            return;
        }
        let delivered = message.as_created();
        let (class, from, here) = (message.class, message.source, message.destination);
        for source in 0..self.sources.len() {
            let of = &self.sources[source];
            let Some(plan) = self.planned(source).replies() else { continue };
            let at = self.now + plan.think;
            let is_active = self.plan.classes[of.class().index()].active.contains(&at);
            if (plan.to, of.endpoint()) != (class, here) || !is_active || self.has_crashed(source) {
                continue;
            }
            self.sources[source].delivered(&delivered, self.now);
            let reply = Reply { source, endpoint: here, destination: from, at };
            if at == self.now {
                self.reply(reply);
            } else {
                self.replies.expect(reply);
                self.orders.wake_at(here, at);
            }
        }
    }

    fn reply(&mut self, reply: Reply) {
        if self.has_crashed(reply.source) {
            return;
        }
        let draft = self.draw(reply.source);
        check(self.now, "reply", "destination", &reply.destination, &draft.destination);
        self.create(reply.source, draft);
        self.orders.send(reply.endpoint);
    }

    /// An endpoint is woken: for counts, posts and replies, in this order.
    pub(super) fn endpoint_woken(&mut self, endpoint: EndpointId) {
        let now = self.now;
        self.orders.woken(endpoint, now);
        if let Throttle::SelfTuned(of) = &mut self.throttle
            && endpoint == EndpointId::new(0)
        {
            let wakes = of.learn(now);
            if of.gathers(now) {
                let next = of.next_gather;
                self.orders.wake_at(endpoint, next);
                self.orders.gather();
            }
            if wakes {
                self.wake(|_| true);
            }
        }
        if let Some(posting) = self.posting.get_mut(endpoint.index()) {
            posting.woken(now);
            self.carry_out_effects(endpoint);
        }
        for reply in self.replies.take_due(endpoint, now) {
            self.reply(reply);
        }
    }

    /// Full buffers between switches were counted; full send buffers are added.
    pub(super) fn gathered(&mut self, full: u64) {
        let full = full + self.posting.iter().filter(|of| of.is_full()).count() as u64;
        let Throttle::SelfTuned(of) = &mut self.throttle else { return };
        let known_at = of.counted(full, self.now);
        let wakes = of.learn(self.now);
        if let Some(at) = known_at {
            self.orders.wake_at(EndpointId::new(0), at);
        }
        if wakes {
            self.wake(|_| true);
        }
    }
}

/// Returns a packet without a message, in response to another packet, of its class and priority.
pub(super) fn without_message(
    content: Content,
    (source, destination): (EndpointId, EndpointId),
    on: &Packet,
) -> Packet {
    Packet {
        content,
        source,
        destination,
        flow: None,
        path_id: gingham_net::PathId::PRIMARY,
        is_first: false,
        is_last_of_stream: false,
        mark: false,
        is_bad: false,
        ..*on
    }
}
