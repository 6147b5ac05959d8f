//! Hosts: sources create messages, adapters send them packet by packet, and put together what arrives.

use crate::wormhole::event::{Event, Flit};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::{Own, Sending, Worm};
use gingham_model::traffic::Source;
use gingham_model::{Admission, Message, MessageId, Packet, Turn};
use gingham_topology::{ChannelId, EndpointId};

impl Simulation {
    // Phase 1: create.

    pub(crate) fn start_sources(&mut self) {
        for index in 0..self.sources.len() {
            self.await_arrival(index);
        }
        self.schedule_caused();
    }

    fn await_arrival(&mut self, index: usize) {
        if let Some(next) = self.sources[index].next_arrival() {
            self.arrivals_pending += 1;
            self.cause(next, Event::Create { source: index });
        }
    }

    pub(crate) fn arrive(&mut self, index: usize) {
        self.arrivals_pending -= 1;
        self.create(index);
        self.await_arrival(index);
    }

    fn create(&mut self, index: usize) {
        let source = &mut self.sources[index];
        let draft = source.draw();
        let message = Message {
            id: MessageId::new(self.messages_created),
            class: source.class(),
            source: source.endpoint(),
            destination: draft.destination,
            payload_bytes: draft.payload_bytes,
            created: self.now,
        };
        self.messages_created += 1;
        self.ledger.on_created(&message);
        let queue = &mut self.senders[message.source.index()].queue;
        if queue.admit(&self.plan, message) == Admission::Dropped {
            self.ledger.on_dropped(&message);
        }
        self.cause(self.now, Event::Transfer { channel: self.host_channel(message.source) });
    }

    /// The host starts the next flit of the worm that holds its channel, or of one that takes it now.
    pub(crate) fn send_from_host(&mut self, endpoint: EndpointId, channel: ChannelId) {
        if self.senders[endpoint.index()].current.is_none() {
            let in_transit = self.turn_of_transit(endpoint);
            self.senders[endpoint.index()].current =
                in_transit.or_else(|| self.start_worm(endpoint));
        }
        let flit = match &mut self.senders[endpoint.index()].current {
            None => return,
            Some(Sending::Own(own)) => {
                let flit = Flit { worm: own.worm, index: own.next };
                own.next += 1;
                self.flits_entered += 1;
                flit
            }
            Some(Sending::InTransit(worm)) => {
                let worm = *worm;
                let Some(flit) = self.next_in_transit(endpoint, worm) else { return };
                flit
            }
        };
        self.send_data(channel, flit);
        if self.worms.get(flit.worm).is_tail(flit.index) {
            let left = self.outputs[channel.index()].busy_until;
            self.cause(left, Event::Release { output: channel });
        }
    }

    /// The next worm of the host's own, if there is one that may start.
    fn start_worm(&mut self, endpoint: EndpointId) -> Option<Sending> {
        let sender = &mut self.senders[endpoint.index()];
        let packet = match sender.queue.take(0, self.now, &mut self.assemblies) {
            Turn::Send(packet) => packet,
            Turn::At(time) => {
                self.cause(time, Event::Transfer { channel: self.host_channel(endpoint) });
                return None;
            }
            Turn::Nothing => return None,
        };
        let path = self.plan.path(packet.path_set, packet.source, packet.destination);
        let path = path.expect("destinations are drawn among those that a route reaches");
        let length = self.plan.length_of(&path[1..]);
        let flits = self.wormhole.worm_flits(packet.payload_bytes, length);
        let worm = Worm {
            packet,
            flits,
            length,
            path,
            head_arrived: None,
            index_expected: 0,
            hops_read: 0,
            lead: 0,
        };
        let worm = self.worms.insert(worm);
        self.refill(&packet, endpoint);
        Some(Sending::Own(Own { worm, next: 0, flits, started: self.now }))
    }

    fn refill(&mut self, packet: &Packet, endpoint: EndpointId) {
        let again = |source: &Source| {
            packet.is_first
                && source.endpoint() == endpoint
                && source.class() == packet.class
                && source.refills(self.now)
        };
        // The next message of a backlogged class is created at this same instant, although
        // phase 1 is over: nothing of this instant can depend on it any more.
        if let Some(index) = self.sources.iter().position(again) {
            self.create(index);
        }
    }

    pub(crate) fn consume(&mut self, flit: Flit) {
        self.flits_consumed += 1;
        let now = self.now;
        let worm = self.worms.get_mut(flit.worm);
        if worm.head_arrived.is_none() {
            worm.head_arrived = Some(now);
            worm.index_expected = flit.index;
        }
        assert_eq!(worm.index_expected, flit.index, "flits of a worm stay in order");
        worm.index_expected += 1;
        if worm.is_tail(flit.index) {
            let worm = self.worms.remove(flit.worm);
            if let Some(delivery) = self.assemblies.arrive(worm.packet.assembly, &worm.arrival(now))
            {
                self.ledger.on_delivered(&delivery);
            }
        }
    }

    pub(crate) fn host_channel(&self, endpoint: EndpointId) -> ChannelId {
        self.plan.fabric.endpoint_channel(endpoint)
    }
}
