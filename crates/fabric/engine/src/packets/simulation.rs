//! Simulation loop: handles events, then starts packets once no simultaneous event is left.

use crate::packed::assert_indices_fit;
use crate::packets::event::{Event, ready};
use crate::packets::hosts::Hosts;
use crate::packets::network::Network;
use crate::packets::packet::PacketId;
use crate::packets::switches::Switches;
use crate::packets::waits::Waits;
use gingham_kernel::Time;
use gingham_net::congestion::Waiter;
use gingham_net::measure::ChannelCount;
use gingham_net::{Endpoints, Notice, PacketsPlan, Plan, WaitForGraph};
use gingham_topology::{ChannelId, EndpointId};
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Simulation {
    network: Network,
    switches: Switches,
    hosts: Hosts,
    counts: Vec<(ChannelId, ChannelCount)>,
}

impl gingham_net::Network for Simulation {
    fn now(&self) -> Time {
        self.network.clock.time()
    }

    fn events(&self) -> u64 {
        self.network.clock.events()
    }

    fn endpoints(&self) -> &Endpoints {
        &self.network.endpoints
    }

    fn endpoints_mut(&mut self) -> &mut Endpoints {
        &mut self.network.endpoints
    }

    fn packets_in_flight(&self) -> usize {
        self.network.packets.len()
    }

    fn channel_counts(&self) -> Vec<ChannelCount> {
        let now = self.network.clock.now();
        self.network.counts(now + 1, now)
    }

    #[inline]
    fn step(&mut self) -> Result<(), Option<Time>> {
        let checkpoint = self.network.endpoints.checkpoint().as_ps();
        let event = self.network.clock.next_event(checkpoint);
        let event = event.map_err(|next| next.map(Time::from_ps))?;
        match ready(event) {
            Some(packet) if self.switches.are_plain => {
                self.switches.on_ready::<true>(packet, &mut self.network);
            }
            Some(packet) => self.on_ready(packet),
            None => self.handle(event.into()),
        }
        if self.network.clock.has_starts() || !self.network.read.is_empty() {
            self.start_all();
        }
        Ok(())
    }

    fn finish(&mut self, at: Time) {
        self.network.clock.go_to(at.as_ps());
    }

    fn waiters(&mut self, at: Time) -> Vec<Waiter> {
        self.waits().waiters(at)
    }

    fn wait_for_graph(&mut self, at: Time) -> WaitForGraph {
        self.network.clock.go_to(at.as_ps());
        self.waits().graph()
    }

    fn followed_counts(&mut self, end: Time) -> Vec<ChannelCount> {
        let counts = self.network.counts(end.as_ps(), end.as_ps());
        let followed = self.network.plan.follow.channels.iter();
        followed.map(|channel| counts[channel.index()]).collect()
    }

    fn end_section(&mut self, end: Time) {
        self.count_section(end);
    }

    fn assert_invariants(&self) {
        self.waits().assert_invariants();
    }
}

impl Simulation {
    pub(crate) fn new(plan: Arc<Plan>, packets: Arc<PacketsPlan>) -> Self {
        let network = Network::new(plan, packets);
        assert_indices_fit(&network.endpoints);
        let (switches, hosts) = (Switches::new(&network), Hosts::new(&network));
        let mut simulation = Self { network, switches, hosts, counts: Vec::new() };
        simulation.network.carry_out();
        simulation.start_all();
        simulation
    }

    #[inline(never)]
    fn on_ready(&mut self, packet: PacketId) {
        if self.network.wanted.switched.are_stays() {
            self.network.notify_queued(packet);
        }
        self.switches.on_ready::<false>(packet, &mut self.network);
    }

    #[inline(never)]
    fn start_all(&mut self) {
        while let Some(channel) = self.network.clock.next_start() {
            self.try_start(channel);
        }
        if !self.network.read.is_empty() && self.network.clock.is_over() {
            self.network.notify_settled();
        }
    }

    fn try_start(&mut self, channel: ChannelId) {
        if !self.network.is_idle(channel) {
            return self.switches.try_cross(channel, &mut self.network);
        }
        match self.hosts.at(channel) {
            Some(host) => self.hosts.try_start(host, channel, &mut self.network),
            None => self.switches.try_start(channel, &mut self.network),
        }
    }

    #[inline(never)]
    fn handle(&mut self, event: Event) {
        let Self { network, switches, hosts, .. } = self;
        match event {
            Event::Create { source } => return Hosts::create(source, network),
            Event::Wake { endpoint } => wake(endpoint, network),
            Event::Left { channel } => {
                network.links.end(channel);
                match hosts.at(channel) {
                    Some(host) => hosts.on_left(host, channel, network),
                    None => return switches.on_left(channel, network),
                }
            }
            Event::Deliver { channel, packet } => Hosts::deliver(channel, packet, network),
            Event::Known { channel, lane } => {
                let now = network.clock.now();
                network.credits.on_known(channel, lane, now);
                if let Some(buffers) = &mut network.output_buffers {
                    buffers.on_known(channel, lane, now);
                }
                network.check_space(channel, lane);
                return network.clock.start(channel);
            }
            Event::Read { channel, packet } => read(channel, packet, network),
            Event::Ready { packet, .. } => return self.on_ready(packet),
            Event::Released { channel } => return network.clock.start(channel),
            Event::Freed { channel, lane, blocks } => {
                return network.on_freed(channel, lane, blocks);
            }
            Event::Repeat { channel, lane } => return network.on_repeat(channel, lane),
            Event::CheckBuffer { channel, lane } => return network.check_buffer(channel, lane),
            Event::PauseReceived { channel, lane, is_pause } => {
                let is_of_host = hosts.at(channel).is_some();
                network.receive_pause(channel, lane, is_pause, is_of_host);
                return network.check_space(channel, lane);
            }
        }
        network.carry_out();
    }

    #[inline(never)] // `benches/bench.py` finds the function by its name.
    fn count_section(&mut self, end: Time) {
        self.network.counts_of_section(end.as_ps(), &mut self.counts);
        self.network.endpoints.end_section(&self.counts);
    }

    fn waits(&self) -> Waits<'_> {
        Waits { network: &self.network, switches: &self.switches }
    }
}

fn wake(endpoint: EndpointId, network: &mut Network) {
    network.notify(Notice::Woken { endpoint });
}

fn read(input: ChannelId, id: PacketId, network: &mut Network) {
    if network.wanted.read {
        network.notify_read(id, input);
    }
    if network.wanted.switched.are_stays() {
        network.notify_queued(id);
    }
}
