//! Hosts: messages are created, packets begin and have left, and what ends here is consumed.

use crate::lanes::event::{Event, Flit};
use crate::lanes::journey::JourneyId;
use crate::lanes::simulation::Simulation;
use gingham_kernel::Time;
use gingham_topology::{ChannelId, EndpointId, Fabric};

impl Simulation {
    pub(crate) fn start_sources(&mut self) {
        for source in 0..self.endpoints.source_count() {
            let next = self.endpoints.await_arrival(source);
            self.await_arrival(source, next);
        }
        self.schedule_caused();
    }

    fn await_arrival(&mut self, source: usize, next: Option<Time>) {
        if let Some(next) = next {
            self.cause(next, Event::Create { source });
        }
    }

    pub(crate) fn create(&mut self, source: usize) {
        let next = self.endpoints.arrive(source, self.now);
        self.await_arrival(source, next);
        let channel = self.plan.fabric.endpoint_channel(self.endpoints.endpoint(source));
        self.wake_adapter(channel, self.clock.first_from(self.now));
    }

    /// A flit begins on a channel.
    pub(crate) fn begin(&mut self, channel: ChannelId, flit: Flit) {
        self.counts[channel.index()].data_flits += 1;
        let Some(host) = self.hosts[channel.index()] else { return };
        if flit.index > 0 {
            return;
        }
        if let Some(packet) = self.in_transit[host.index()].packet(flit.packet) {
            let waited = self.now.since(packet.taken.ready.expect("what begins is ready"));
            self.endpoints.collector_mut().on_reinjected(host, self.now, waited);
        } else {
            let packet = self.journeys.get(flit.packet).packet;
            self.endpoints.refill(host, &packet, self.now);
            self.wake_adapter(channel, self.clock.first_after(self.now));
        }
    }

    /// The tail of a packet has left the channel of a host.
    pub(crate) fn tail_left(&mut self, channel: ChannelId, packet: JourneyId) {
        let host = self.host_of(channel);
        if self.in_transit[host.index()].packet(packet).is_some() {
            return self.release(host, packet);
        }
        let (began, flits) = {
            let journey = self.journeys.get(packet);
            (journey.began, journey.flits)
        };
        let flit = self.plan.channel(channel).flit;
        self.endpoints.on_left(host, began, self.now, flits, flit);
    }

    /// A flit has arrived whole at a host that takes in all that comes.
    pub(crate) fn flit_arrives(&mut self, channel: ChannelId, flit: Flit) {
        if self.journeys.get(flit.packet).ends_with(channel) {
            return self.consume(flit);
        }
        let host = self.host_at(channel);
        if flit.index == 0 {
            self.take_in(host, flit.packet, self.now);
        }
        self.reassemble(host, flit);
    }

    /// A flit has come to its destination.
    pub(crate) fn consume(&mut self, flit: Flit) {
        self.flits_consumed += 1;
        let journey = self.journeys.get_mut(flit.packet);
        assert_eq!(journey.index_expected, flit.index, "flits of a packet stay in order");
        journey.index_expected += 1;
        journey.head_arrived.get_or_insert(self.now);
        if journey.is_tail(flit.index) {
            let journey = self.journeys.remove(flit.packet);
            self.endpoints.deliver(&journey.packet, &journey.arrival(self.now));
        }
    }

    /// The host that sends on a channel.
    pub(crate) fn host_of(&self, channel: ChannelId) -> EndpointId {
        self.hosts[channel.index()].expect("a host sends here")
    }

    /// The host at the end of a channel.
    pub(crate) fn host_at(&self, channel: ChannelId) -> EndpointId {
        self.host_of(Fabric::reverse(channel))
    }

    pub(crate) fn ends_at_host(&self, channel: ChannelId) -> bool {
        self.hosts[Fabric::reverse(channel).index()].is_some()
    }
}
