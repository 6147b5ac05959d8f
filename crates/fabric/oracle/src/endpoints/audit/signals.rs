//! Signals of admission at hosts, switches and in-transit hosts (`timing.md`, "Admission").

use super::Audit;
use crate::endpoints::admission::{Admission, Hop};
use crate::endpoints::message::MessageIndex;
use gingham_net::{ClassId, Content, MessageSlot, Packet, Signal, StreamId};
use gingham_topology::{ChannelId, EndpointId, Fabric};

impl Audit {
    /// Returns whether a stream is not yet admitted. The first message of a stream requests its
    /// admission.
    pub(super) fn is_held_back(&mut self, source: usize) -> bool {
        let of = &self.sources[source];
        let (class, endpoint) = (of.class(), of.endpoint());
        let Some(stream) = of.stream() else { return false };
        let Some(admission) = &mut self.admission else { return false };
        if !admission.plan.classes[class.index()] || !admission.holds(stream) {
            return false;
        }
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        if admission.ask(stream, channel, self.now) {
            let destination = self.destination_of(stream);
            self.send_signal(Signal::Probe(stream), class, (endpoint, destination));
        }
        self.expect_weights();
        true
    }

    fn destination_of(&self, stream: StreamId) -> EndpointId {
        let of = self.plan.streams().nth(stream.index());
        of.map(|(_, _, stream)| stream.destination).expect("the stream is in the plan")
    }

    fn send_signal(&mut self, signal: Signal, class: ClassId, ends: (EndpointId, EndpointId)) {
        let plan = self.admission.as_ref().map(|admission| admission.plan.clone());
        let plan = plan.expect("signals need admission control");
        let of_pair = || self.plan.lanes.allowed.vc_class_of_pair(ends.0, ends.1);
        let packet = Packet {
            content: Content::Signal(signal),
            class,
            flow: None,
            source: ends.0,
            destination: ends.1,
            payload_bytes: plan.payload_bytes,
            priority: plan.priority,
            path_id: gingham_net::PathId::PRIMARY,
            vc_class: plan.vc_class.unwrap_or_else(of_pair),
            is_first: false,
            is_last_of_stream: false,
            mark: false,
            is_bad: false,
        };
        self.send_other(packet);
    }

    fn expect_weights(&mut self) {
        let weighed = self.admission.as_mut().map(Admission::take_weighed);
        for weighing in weighed.into_iter().flatten() {
            self.orders.weigh(weighing);
        }
    }

    /// Handles a signal at its destination. Port 0 of a switch returns the signal, and a host obeys
    /// it.
    pub(super) fn signal_received(&mut self, signal: Signal, packet: &Packet) {
        let (here, class) = (packet.destination, packet.class);
        if self.plan.fabric.is_port_0(here) {
            if !matches!(signal, Signal::Release(..)) {
                self.send_signal(signal, class, (here, packet.source));
            }
            return;
        }
        let stream = signal.stream();
        let source = self.sources.iter().position(|of| of.stream() == Some(stream));
        let source = source.expect("the stream has a source");
        let has_crashed = self.has_crashed(source);
        let destination = self.destination_of(stream);
        let path = self.plan.path(packet.path_id, here, destination).expect("the probe's path");
        let Some(admission) = &mut self.admission else { return };
        let release = admission.answered(signal, [path[0], path[1]], has_crashed, self.now);
        if let Some(release) = release {
            self.send_signal(release, class, (here, destination));
        }
        if matches!(signal, Signal::Ack(_)) && !has_crashed {
            return self.begin_stream(source);
        }
        self.expect_weights();
    }

    /// Starts an admitted stream. The wait for admission delays all messages of the stream equally.
    fn begin_stream(&mut self, source: usize) {
        self.sources[source].resume(self.now);
        while self.sources[source].next_at() == Some(self.now) {
            let draft = self.draw(source);
            self.create(source, draft);
            self.orders.send(self.sources[source].endpoint());
        }
        self.expect_next(source);
    }

    fn hop(&self, input: ChannelId, packet: &Packet) -> Hop {
        let path = self.plan.path(packet.path_id, packet.source, packet.destination);
        let mut onward = path.expect("a packet has a path").into_iter();
        onward.find(|channel| *channel == input).expect("the packet came by its path");
        let output = onward.next().expect("a node on a path sends on");
        Hop { input, output, after: onward.next() }
    }

    fn asking_stream(&self, message: MessageIndex) -> Option<StreamId> {
        let of = &self.messages[message];
        let asks = self.admission.as_ref()?.plan.classes[of.class.index()];
        of.part.filter(|_| asks).map(|part| part.stream)
    }

    /// Returns the packet that a switch is expected to forward after reading `packet`. A signal may
    /// end at the switch; a data packet frees or renews reservations.
    pub(super) fn signal_read(&mut self, input: ChannelId, packet: Packet) -> Packet {
        let mut expected = packet;
        match packet.content {
            Content::Signal(signal) if !self.plan.fabric.is_port_0(packet.source) => {
                let (hop, now) = (self.hop(input, &packet), self.now);
                let ends = self.admission.as_mut().and_then(|of| of.read(signal, hop, now));
                if let Some(signal) = ends {
                    let switch = self.plan.fabric.target(input).node;
                    let port_0 = self.plan.fabric.port_0(switch);
                    expected.content = Content::Signal(signal);
                    expected.destination = port_0.expect("the switch has a port 0");
                }
                self.expect_weights();
            }
            Content::Data(slot) => self.passed(slot, input, &packet),
            _ => {}
        }
        expected
    }

    pub(super) fn sent_on(&mut self, endpoint: EndpointId, packet: Packet) -> Packet {
        let mut expected = packet;
        let input = Fabric::reverse(self.plan.fabric.endpoint_channel(endpoint));
        match packet.content {
            Content::Signal(signal) if !self.plan.fabric.is_port_0(packet.source) => {
                let (hop, now) = (self.hop(input, &packet), self.now);
                if let Some(admission) = &mut self.admission {
                    expected.content = Content::Signal(admission.sent_on(signal, hop, now));
                }
                self.expect_weights();
            }
            Content::Data(slot) => self.passed(slot, input, &packet),
            _ => {}
        }
        expected
    }

    fn passed(&mut self, slot: MessageSlot, input: ChannelId, packet: &Packet) {
        if self.admission.is_none() {
            return;
        }
        let Some(stream) = self.asking_stream(self.message_in(slot)) else { return };
        let (Hop { output, .. }, now) = (self.hop(input, packet), self.now);
        let is_last = packet.is_last_of_stream;
        if let Some(admission) = &mut self.admission {
            admission.passed(stream, (Some(input), output), is_last, now);
        }
        self.expect_weights();
    }

    pub(super) fn packet_left(&mut self, endpoint: EndpointId, message: MessageIndex) {
        let Some(stream) = self.asking_stream(message) else { return };
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        let now = self.now;
        if let Some(admission) = &mut self.admission {
            admission.passed(stream, (None, channel), false, now);
        }
    }

    pub(super) fn message_left(&mut self, endpoint: EndpointId, message: MessageIndex) {
        let is_last = self.messages[message].part.is_some_and(|part| part.is_last);
        let Some(stream) = self.asking_stream(message).filter(|_| is_last) else { return };
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        if let Some(admission) = &mut self.admission {
            admission.ended(stream, channel);
        }
        self.expect_weights();
    }
}
