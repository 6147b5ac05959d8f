//! Admission control at the endpoints: requests of streams, and their reservation signals.

use super::outbox::Outbox;
use super::sources::Sources;
use crate::admission::{AdmissionController, Hop, HostAction, Onward};
use crate::messages::Messages;
use crate::traffic::Source;
use crate::{ClassId, Content, Ledger, MessageSlot, Packet, Plan, Request, Signal, StreamId};
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId, Fabric};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(super) struct Admission {
    plan: Arc<Plan>,
    controller: AdmissionController,
}

impl Admission {
    pub(super) fn new(plan: &Arc<Plan>) -> Option<Self> {
        let controller = AdmissionController::new(plan)?;
        Some(Self { plan: Arc::clone(plan), controller })
    }

    pub(super) fn requests(&self) -> &[Request] {
        self.controller.requests()
    }

    pub(super) fn ledger(&self) -> &Ledger {
        self.controller.ledger()
    }

    pub(super) fn settle(&mut self, end: Time) {
        self.controller.settle(end);
    }

    fn has_leases(&self) -> bool {
        self.controller.plan().lease.is_some()
    }

    /// Returns whether a source's stream must wait for admission. The first call requests
    /// admission.
    #[inline(never)]
    pub(super) fn holds_back(&mut self, source: &Source, outbox: &mut Outbox, now: Time) -> bool {
        let (class, endpoint) = (source.class(), source.endpoint());
        let Some(stream) = source.stream() else { return false };
        if !self.controller.holds(class, stream) {
            return false;
        }
        if self.controller.ask(stream, self.plan.fabric.endpoint_channel(endpoint), now) {
            let destination = self.controller.requests()[stream.index()].destination;
            self.send(Signal::Probe(stream), class, (endpoint, destination), outbox, now);
        }
        self.order_weights(outbox);
        true
    }

    /// Handles a received signal. Returns the stream's source if the signal admits the stream.
    #[inline(never)]
    pub(super) fn on_received(
        &mut self,
        signal: Signal,
        packet: &Packet,
        sources: &Sources,
        outbox: &mut Outbox,
        now: Time,
    ) -> Option<usize> {
        let (here, class) = (packet.destination, packet.class);
        if self.plan.fabric.is_port_0(here) {
            if !matches!(signal, Signal::Release(..)) {
                self.send(signal, class, (here, packet.source), outbox, now);
            }
            return None;
        }
        let source = sources.of_stream(signal.stream());
        if sources.get(source).has_crashed() {
            self.controller.ignore_response(signal, now);
            return None;
        }
        let destination = self.controller.requests()[signal.stream().index()].destination;
        let path = self.plan.path(packet.path_id, here, destination);
        let path = path.expect("a probe took this path");
        match self.controller.handle_response(signal, [path[0], path[1]], now) {
            HostAction::Send => return Some(source),
            HostAction::Release(refused) => {
                let release = Signal::Release(signal.stream(), refused);
                self.send(release, class, (here, destination), outbox, now);
            }
            HostAction::Nothing => {}
        }
        self.order_weights(outbox);
        None
    }

    fn send(
        &self,
        signal: Signal,
        class: ClassId,
        (source, destination): (EndpointId, EndpointId),
        outbox: &mut Outbox,
        now: Time,
    ) {
        let plan = self.controller.plan();
        let of_pair = || self.plan.lanes.allowed.vc_class_of_pair(source, destination);
        let level = (plan.priority, plan.vc_class.unwrap_or_else(of_pair));
        let (content, ends) = (Content::Signal(signal), (source, destination));
        let packet = Packet::without_message(content, class, ends, level, plan.payload_bytes);
        outbox.send(packet, now);
    }

    fn order_weights(&mut self, outbox: &mut Outbox) {
        for weighing in self.controller.take_weighed() {
            outbox.order_weight(weighing);
        }
    }

    /// Handles a packet read at a switch. The last packet of a stream releases the stream's
    /// reservation; other data packets renew it.
    #[inline(never)]
    pub(super) fn on_read(
        &mut self,
        input: ChannelId,
        packet: &mut Packet,
        messages: &Messages,
        outbox: &mut Outbox,
        now: Time,
    ) {
        match packet.content {
            Content::Signal(signal) if !self.plan.fabric.is_port_0(packet.source) => {
                let hop = self.hop(input, packet);
                if let Onward::Ends(signal) = self.controller.read(signal, hop, now) {
                    packet.content = Content::Signal(signal);
                    let end = self.plan.fabric.port_0(self.plan.ends(input).target.node);
                    packet.destination =
                        end.expect("switches have ends under an admission control");
                }
                self.order_weights(outbox);
            }
            Content::Data(slot) => self.on_passed(slot, input, packet, messages, outbox, now),
            _ => {}
        }
    }

    #[inline(never)]
    pub(super) fn on_sent_on(
        &mut self,
        endpoint: EndpointId,
        packet: &mut Packet,
        messages: &Messages,
        outbox: &mut Outbox,
        now: Time,
    ) {
        let input = Fabric::reverse(self.plan.fabric.endpoint_channel(endpoint));
        match packet.content {
            Content::Signal(signal) if !self.plan.fabric.is_port_0(packet.source) => {
                let hop = self.hop(input, packet);
                packet.content = Content::Signal(self.controller.sent_on(signal, hop, now));
                self.order_weights(outbox);
            }
            Content::Data(slot) => self.on_passed(slot, input, packet, messages, outbox, now),
            _ => {}
        }
    }

    fn on_passed(
        &mut self,
        slot: MessageSlot,
        input: ChannelId,
        packet: &Packet,
        messages: &Messages,
        outbox: &mut Outbox,
        now: Time,
    ) {
        if !packet.is_last_of_stream && !self.has_leases() {
            return;
        }
        let Some(stream) = self.stream_of(slot, packet.class, messages) else { return };
        let Hop { output, .. } = self.hop(input, packet);
        if packet.is_last_of_stream {
            self.controller.pass(stream, Some(input), output);
            self.order_weights(outbox);
        } else {
            self.controller.renew(stream, (Some(input), output), now);
        }
    }

    #[inline(never)]
    pub(super) fn on_packet_left(
        &mut self,
        endpoint: EndpointId,
        slot: MessageSlot,
        messages: &Messages,
        now: Time,
    ) {
        if !self.has_leases() {
            return;
        }
        let class = messages.message(slot).class;
        let Some(stream) = self.stream_of(slot, class, messages) else { return };
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        self.controller.renew(stream, (None, channel), now);
    }

    pub(super) fn on_message_left(
        &mut self,
        endpoint: EndpointId,
        slot: MessageSlot,
        messages: &Messages,
        outbox: &mut Outbox,
    ) {
        let class = messages.message(slot).class;
        let is_last = messages.part(slot).is_some_and(|part| part.is_last);
        let stream = self.stream_of(slot, class, messages);
        let Some(stream) = stream.filter(|_| is_last) else { return };
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        self.controller.pass(stream, None, channel);
        self.order_weights(outbox);
    }

    fn stream_of(
        &self,
        slot: MessageSlot,
        class: ClassId,
        messages: &Messages,
    ) -> Option<StreamId> {
        let asks = self.controller.plan().classes[class.index()];
        messages.part(slot).filter(|_| asks).map(|part| part.stream)
    }

    fn hop(&self, input: ChannelId, packet: &Packet) -> Hop {
        let path = self.plan.path(packet.path_id, packet.source, packet.destination);
        let path = path.expect("a packet is on its path");
        let place = path.iter().position(|channel| *channel == input).expect("it came by its path");
        Hop { input, output: path[place + 1], after: path.get(place + 2).copied() }
    }
}
