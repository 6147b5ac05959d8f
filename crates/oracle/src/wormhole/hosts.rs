//! Hosts: sources create messages, adapters send them packet by packet, and put together what arrives.

use crate::wormhole::event::{Event, Flit};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::{Own, Sending, Worm};
use gingham_model::Turn;
use gingham_topology::{ChannelId, EndpointId};

impl Simulation {
    // Phase 1: create.

    pub(crate) fn start_sources(&mut self) {
        for source in 0..self.endpoints.source_count() {
            if let Some(first) = self.endpoints.await_arrival(source) {
                self.cause(first, Event::Create { source });
            }
        }
        self.schedule_caused();
    }

    pub(crate) fn arrive(&mut self, source: usize) {
        if let Some(next) = self.endpoints.arrive(source, self.now) {
            self.cause(next, Event::Create { source });
        }
        let channel = self.host_channel(self.endpoints.endpoint(source));
        self.cause(self.now, Event::Transfer { channel });
    }

    /// The host starts the next flit of the worm that holds its channel, or of one that takes it now.
    pub(crate) fn send_from_host(&mut self, endpoint: EndpointId, channel: ChannelId) {
        if self.sending[endpoint.index()].is_none() {
            let in_transit = self.turn_of_transit(endpoint);
            self.sending[endpoint.index()] = in_transit.or_else(|| self.start_worm(endpoint));
        }
        let flit = match &mut self.sending[endpoint.index()] {
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
        let packet = match self.endpoints.take(endpoint, 0, self.now) {
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
        Some(Sending::Own(Own { worm, next: 0, flits, started: self.now }))
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
            self.endpoints.deliver(&worm.packet, &worm.arrival(now));
        }
    }

    pub(crate) fn host_channel(&self, endpoint: EndpointId) -> ChannelId {
        self.plan.fabric.endpoint_channel(endpoint)
    }
}
