//! Streams that ask before they send: what endpoints make of signals of the admission control.
//!
//! ```text
//!   a stream's first message is due ──► the adapter reserves: probe         or refuses
//!   a switch reads a signal ──────────► onward, or to its own end
//!   a host sends a signal on ─────────► onward, as it is or as a NACK
//!   a signal comes to the end of one ─► sent back to the host that asked
//!   ACK at the host ──────────────────► the stream sends from now on        NACK ──► release
//!   the last packet of a stream ──────► released where it leaves, and at each switch that reads it
//! ```

use super::Endpoints;
use crate::admission::{Answer, Onward, Way};
use crate::{
    ClassId, Content, Ledger, MessageSlot, Order, Packet, PathSet, Request, Signal, StreamId,
    Weighing,
};
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId, Fabric};

impl Endpoints {
    /// What became of every stream that asked, by its number; nothing without an admission control.
    pub fn requests(&self) -> &[Request] {
        self.desk.as_ref().map_or(&[], |desk| desk.requests())
    }

    /// What is reserved, if there is an admission control.
    pub fn ledger(&self) -> Option<&Ledger> {
        Some(self.desk.as_ref()?.ledger())
    }

    /// Whether the stream of a source may not send `now`, at which its first message is due: it asks,
    /// if it has not.
    #[inline(never)]
    pub(super) fn is_held_back(&mut self, index: usize, now: Time) -> bool {
        let source = &self.sources[index];
        let (class, endpoint) = (source.class(), source.endpoint());
        let Some(stream) = source.stream() else { return false };
        let desk = self.desk.as_mut().expect("somebody decides");
        if !desk.holds(class, stream) {
            return false;
        }
        if desk.ask(stream, self.plan.fabric.endpoint_channel(endpoint), now) {
            let destination = desk.requests()[stream.index()].destination;
            self.signal(Signal::Probe(stream), class, (endpoint, destination), now);
        }
        self.order_weights();
        true
    }

    /// Lanes have other weights since what is reserved has changed: the last that holds of each, however
    /// many nodes were told of the instant before anything is carried out.
    fn order_weights(&mut self) {
        let desk = self.desk.as_mut().expect("somebody decides");
        for weighing in desk.take_weighed() {
            let is_same = |of: &Weighing| {
                (of.channel, of.place, of.lane) == (weighing.channel, weighing.place, weighing.lane)
            };
            self.orders.retain(|order| !matches!(order, Order::Weigh(of) if is_same(of)));
            self.orders.push(Order::Weigh(weighing));
        }
    }

    /// A switch has read a packet: a signal is decided on, and the last packet of a stream releases.
    #[inline(never)]
    pub(super) fn admission_read(&mut self, input: ChannelId, packet: &mut Packet, now: Time) {
        match packet.content {
            Content::Signal(signal) if !self.plan.fabric.is_port_0(packet.source) => {
                let (here, way) = (self.plan.ends(input).target.node, self.way(input, packet));
                let desk = self.desk.as_mut().expect("somebody decides");
                if let Onward::Ends(signal) = desk.read(signal, way, now) {
                    packet.content = Content::Signal(signal);
                    let end = self.plan.fabric.port_0(here);
                    packet.destination =
                        end.expect("switches have ends under an admission control");
                }
                self.order_weights();
            }
            Content::Data(slot) => self.data_passes(slot, input, packet, now),
            _ => {}
        }
    }

    /// A host sends on a packet that came to it: what holds at a switch, but that nothing ends here.
    #[inline(never)]
    pub(super) fn admission_sent_on(
        &mut self,
        endpoint: EndpointId,
        packet: &mut Packet,
        now: Time,
    ) {
        let input = Fabric::reverse(self.plan.fabric.endpoint_channel(endpoint));
        match packet.content {
            Content::Signal(signal) if !self.plan.fabric.is_port_0(packet.source) => {
                let way = self.way(input, packet);
                let desk = self.desk.as_mut().expect("somebody decides");
                packet.content = Content::Signal(desk.sent_on(signal, way, now));
                self.order_weights();
            }
            Content::Data(slot) => self.data_passes(slot, input, packet, now),
            _ => {}
        }
    }

    /// A packet of a message that came by a channel goes on: the last one of a stream releases, and
    /// others renew its leases.
    fn data_passes(&mut self, slot: MessageSlot, input: ChannelId, packet: &Packet, now: Time) {
        if !packet.is_last_of_stream && !self.has_leases() {
            return;
        }
        let Some(stream) = self.asking_stream(slot, packet.class) else { return };
        let Way { output, .. } = self.way(input, packet);
        let desk = self.desk.as_mut().expect("somebody decides");
        if packet.is_last_of_stream {
            desk.pass(stream, Some(input), output);
            self.order_weights();
        } else {
            desk.renew(stream, (Some(input), output), now);
        }
    }

    /// All of a message has left its adapter: if it is the last one of a stream, that releases.
    pub(super) fn admission_left(&mut self, endpoint: EndpointId, slot: MessageSlot) {
        let class = self.messages.message(slot).class;
        let is_last = self.messages.part(slot).is_some_and(|part| part.is_last);
        let Some(stream) = self.asking_stream(slot, class).filter(|_| is_last) else { return };
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        self.desk.as_mut().expect("somebody decides").pass(stream, None, channel);
        self.order_weights();
    }

    /// Whether what is reserved ends by itself.
    pub(super) fn has_leases(&self) -> bool {
        self.desk.as_ref().is_some_and(|desk| desk.plan().lease.is_some())
    }

    /// A packet has left its adapter: what its stream has reserved there stays so.
    #[inline(never)]
    pub(super) fn admission_renewed(&mut self, endpoint: EndpointId, slot: MessageSlot, now: Time) {
        let class = self.messages.message(slot).class;
        let Some(stream) = self.asking_stream(slot, class) else { return };
        let channel = self.plan.fabric.endpoint_channel(endpoint);
        self.desk.as_mut().expect("somebody decides").renew(stream, (None, channel), now);
    }

    /// A signal has arrived where it went.
    #[inline(never)]
    pub(super) fn on_signal(&mut self, signal: Signal, packet: &Packet, now: Time) {
        let (here, class) = (packet.destination, packet.class);
        if self.plan.fabric.is_port_0(here) {
            if !matches!(signal, Signal::Release(..)) {
                self.signal(signal, class, (here, packet.source), now);
            }
            return;
        }
        let desk = self.desk.as_mut().expect("somebody decides");
        let destination = desk.requests()[signal.stream().index()].destination;
        let plan = &self.plan;
        let path = plan.path(packet.path_set, here, destination).expect("a probe went there");
        let source = &self.sources[self.sources_of_streams[signal.stream().index()]];
        if source.has_crashed(now) {
            return desk.ignored(signal, now);
        }
        match desk.answered(signal, [path[0], path[1]], now) {
            Answer::Send => self.begin_stream(signal.stream(), now),
            Answer::Release(refused) => {
                let release = Signal::Release(signal.stream(), refused);
                self.signal(release, class, (here, destination), now);
            }
            Answer::Nothing => {}
        }
        self.order_weights();
    }

    /// A stream that was admitted sends from `now` on.
    fn begin_stream(&mut self, stream: StreamId, now: Time) {
        let index = self.sources_of_streams[stream.index()];
        self.sources[index].begin_stream(now);
        while self.sources[index].next_arrival() == Some(now) {
            let endpoint = self.create(index, None, now);
            self.orders.push(Order::Send { endpoint });
        }
        self.await_arrival(index);
    }

    fn signal(
        &mut self,
        signal: Signal,
        class: ClassId,
        (source, destination): (EndpointId, EndpointId),
        now: Time,
    ) {
        let plan = self.desk.as_ref().expect("somebody decides").plan();
        let of_pair = || self.plan.lanes.allowed.vc_class_of_pair(source, destination);
        let packet = Packet {
            content: Content::Signal(signal),
            class,
            flow: None,
            source,
            destination,
            payload_bytes: plan.payload_bytes,
            priority: plan.priority,
            path_set: PathSet::default(),
            vc_class: plan.vc_class.unwrap_or_else(of_pair),
            is_first: false,
            is_last_of_stream: false,
            mark: false,
        };
        self.order(packet, now);
    }

    /// The stream of a message, if it had to ask.
    fn asking_stream(&self, slot: MessageSlot, class: ClassId) -> Option<StreamId> {
        let asks = self.desk.as_ref().is_some_and(|desk| desk.plan().classes[class.index()]);
        self.messages.part(slot).filter(|_| asks).map(|part| part.stream)
    }

    /// Where a packet is that has come by a channel; no path takes one twice.
    fn way(&self, input: ChannelId, packet: &Packet) -> Way {
        let path = self.plan.path(packet.path_set, packet.source, packet.destination);
        let path = path.expect("a packet is on its path");
        let place = path.iter().position(|channel| *channel == input).expect("it came by its path");
        Way { input, output: path[place + 1], after: path.get(place + 2).copied() }
    }
}
