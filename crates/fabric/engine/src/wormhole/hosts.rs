//! Hosts: sources create messages, and adapters send and reassemble their packets.

mod in_transit;
mod port;

use crate::wormhole::event::Event;
use crate::wormhole::links::End;
use crate::wormhole::network::Network;
use crate::wormhole::worm::{Incoming, Worm, WormId};
use gingham_kernel::Time;
use gingham_net::congestion::Waiter;
use gingham_net::{
    Content, Endpoints, InTransitHost, Notice, Order, Plan, TakenIn, Turn, Wanted, WormholePlan,
};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Hosts {
    plan: Arc<Plan>,
    wormhole: WormholePlan,
    endpoints: Endpoints,
    /// Host cable at the start of each channel; `None` if a switch sends on the channel.
    cables: Vec<Option<Cable>>,
    /// In-transit state of each endpoint; empty if no path visits a host and no host has a port.
    in_transit: Vec<InTransit>,
    sending: Vec<Content>,
    wanted: Wanted,
    gathered: Box<[ChannelId]>,
}

#[derive(Clone, Copy, Debug)]
struct Cable {
    endpoint: EndpointId,
    node: NodeId,
}

#[derive(Clone, Debug)]
struct InTransit {
    host: InTransitHost<Incoming>,
    /// Worm stored in host memory because the pool was full; its tail has not yet left the last
    /// switch.
    spilled: Option<(Incoming, TakenIn)>,
    /// Pool share of the in-transit worm that the host is sending.
    sending: Option<TakenIn>,
}

impl Hosts {
    pub(crate) fn new(plan: Arc<Plan>, wormhole: WormholePlan, takes_in: bool) -> Self {
        let cable = |channel| {
            let ends = plan.ends(channel);
            let endpoint = plan.fabric.endpoint_at(ends.source)?;
            Some(Cable { endpoint, node: ends.target.node })
        };
        let host = InTransitHost::new(plan.in_transit, 1);
        let in_transit = InTransit { host, spilled: None, sending: None };
        let endpoints = Endpoints::new(Arc::clone(&plan));
        let hosts = if takes_in { plan.fabric.endpoints().len() } else { 0 };
        Self {
            wormhole,
            wanted: endpoints.wanted(),
            endpoints,
            cables: ChannelId::first(plan.channels.len()).map(cable).collect(),
            in_transit: vec![in_transit; hosts],
            sending: vec![Content::Control; plan.fabric.endpoints().len()],
            gathered: plan.gathered_channels().into(),
            plan,
        }
    }

    #[inline]
    pub(crate) fn endpoints(&self) -> &Endpoints {
        &self.endpoints
    }

    #[inline]
    pub(crate) fn endpoints_mut(&mut self) -> &mut Endpoints {
        &mut self.endpoints
    }

    #[inline]
    fn cable(&self, channel: ChannelId) -> Cable {
        self.cables[channel.index()].expect("a host sends here")
    }

    fn host_at(&self, channel: ChannelId) -> EndpointId {
        self.cable(Fabric::reverse(channel)).endpoint
    }

    #[inline(never)]
    pub(crate) fn create(&mut self, network: &mut Network, source: u32) {
        let created = self.endpoints.create_next(source as usize, network.clock.time());
        if let Some(at) = created.next {
            network.clock.schedule(at.as_ps(), Event::Create { source });
        }
        self.start_soon(network, self.plan.fabric.endpoint_channel(created.endpoint));
        self.carry_out(network);
    }

    pub(crate) fn notify(&mut self, network: &mut Network, notice: Notice<'_>) {
        self.endpoints.notify(network.clock.time(), notice);
        self.carry_out(network);
    }

    #[inline]
    pub(crate) fn carry_out(&mut self, network: &mut Network) {
        if self.endpoints.has_orders() {
            self.carry_out_some(network);
        }
    }

    #[inline(never)]
    fn carry_out_some(&mut self, network: &mut Network) {
        while let Some(order) = self.endpoints.next_order() {
            match order {
                Order::Send { endpoint } => {
                    self.start_soon(network, self.plan.fabric.endpoint_channel(endpoint));
                }
                Order::CreateAt { source, at } => {
                    let source = u32::try_from(source).expect("fewer than 2^32 sources");
                    network.clock.schedule(at.as_ps(), Event::Create { source });
                }
                Order::WakeAt { endpoint, at } => {
                    network.clock.schedule(at.as_ps(), Event::Wake { endpoint });
                }
                Order::Gather => self.notify_gathered(network),
                Order::Weigh(_) => unreachable!("a channel that is not divided has no weights"),
            }
        }
    }

    #[inline(never)]
    pub(crate) fn notify_read(&mut self, network: &mut Network, input: ChannelId) {
        let worm = network.links.input_mut(input).worm();
        let waiting_flits = network.links.fill(input, network.clock.now());
        let packet = &mut network.worms.get_mut(worm).packet;
        let now = network.clock.time();
        if let Some(into_end) = self.endpoints.read(now, (input, 0), waiting_flits, packet) {
            network.links.input_mut(input).divert(into_end);
        }
        self.carry_out(network);
    }

    pub(crate) fn on_go(&mut self, network: &mut Network, channel: ChannelId) {
        if self.cables[channel.index()].is_some() {
            self.start_soon(network, channel);
        }
    }

    pub(crate) fn tail_arrives(&mut self, network: &mut Network, channel: ChannelId, worm: WormId) {
        let Network { clock, links, worms } = network;
        if links.end(channel) == End::Port {
            self.tail_at_port(network, channel);
        } else if links.tail_at_host(worms, channel, worm, clock.now()) {
            self.deliver(network, channel, worm);
        }
    }

    /// Delivers a worm. The caller must carry out the resulting orders after all other effects of
    /// the arrival.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, for every worm")]
    #[inline(always)]
    fn deliver(&mut self, network: &mut Network, channel: ChannelId, worm: WormId) {
        let worm = network.worms.remove(worm);
        debug_assert_eq!(
            self.host_at(channel),
            worm.packet.destination,
            "a worm arrives where its packet goes"
        );
        let arrival = worm.arrival(&self.wormhole, network.clock.now());
        let packet = &worm.packet;
        self.endpoints.notify(network.clock.time(), Notice::Received { packet, arrival: &arrival });
    }

    #[inline]
    pub(crate) fn leave_host(&mut self, network: &mut Network, channel: ChannelId, flits: u64) {
        if !self.in_transit.is_empty() || self.wanted.left {
            self.tail_left(network, channel, flits);
        }
        self.start_soon(network, channel);
    }

    #[inline(never)]
    fn tail_left(&mut self, network: &mut Network, channel: ChannelId, flits: u64) {
        let is_local = self.in_transit.is_empty() || !self.leave_pool(network, channel);
        if is_local && self.wanted.left {
            // The adapter measures how long its own packets take to leave.
            let endpoint = self.cable(channel).endpoint;
            let (began, flit) = network.links.last_begin(channel);
            let content = self.sending[endpoint.index()];
            let notice = Notice::Left { endpoint, began, flits, flit, content };
            self.endpoints.notify(network.clock.time(), notice);
        }
        self.carry_out(network);
    }

    pub(crate) fn start_soon(&mut self, network: &mut Network, channel: ChannelId) {
        if network.links.is_held(channel) {
            return;
        }
        if network.clock.instant_is_over() {
            self.start_worm(network, channel);
        } else {
            network.clock.schedule(network.clock.now(), Event::StartWorm { channel });
        }
    }

    pub(crate) fn start_worm(&mut self, network: &mut Network, channel: ChannelId) {
        let now = network.clock.now();
        if !network.links.may_begin(channel, now) {
            return;
        }
        let may_send_on = !self.in_transit.is_empty();
        if may_send_on && (network.links.control_waits(channel) || self.send_on(network, channel)) {
            return;
        }
        let Cable { endpoint, node } = self.cable(channel);
        let packet = match self.endpoints.turn(endpoint, 0, network.clock.time()) {
            Turn::Send(packet) => packet,
            Turn::At(time) => {
                return network.clock.schedule(time.as_ps(), Event::StartWorm { channel });
            }
            Turn::Nothing => return,
        };
        if self.wanted.left {
            self.sending[endpoint.index()] = packet.content;
        }
        let worm = Worm::new(&self.plan, packet, node);
        let flits = worm.flits(&self.wormhole);
        let worm = network.worms.insert(worm);
        network.begin(channel, Incoming { worm, first: 0, flits }, now);
        if self.wanted.began.has(&packet) {
            // The notice follows the channel assignment because an order may start another worm.
            self.notify(network, Notice::Began { endpoint, packet: &packet });
        }
    }
}

impl Hosts {
    pub(crate) fn waiters(&self, network: &Network, now: Time) -> Vec<Waiter> {
        let Network { links, worms, .. } = network;
        let mut found = links.waiters(worms, now.as_ps());
        for endpoint in self.plan.fabric.endpoint_ids() {
            let channel = self.plan.fabric.endpoint_channel(endpoint);
            let onward = links.onward(channel);
            let sending = links.holder(channel);
            found.extend(sending.map(|worm| Waiter::sending(&worms.get(worm).packet, onward)));
            let queued = self.endpoints.queued(endpoint, now);
            found.extend(queued.iter().map(|queued| Waiter::queued(queued, onward)));
        }
        found
    }
}

impl Hosts {
    #[inline(never)]
    pub(crate) fn notify_lanes(&mut self, network: &mut Network) {
        while let Some(output) = network.links.next_taken() {
            let is_held = network.links.is_held(output);
            let free = if is_held { LaneSet::EMPTY } else { LaneSet::one(0) };
            self.endpoints.notify(network.clock.time(), Notice::Lanes { output, free });
        }
        self.carry_out(network);
    }

    /// Reports the number of full buffers to the endpoints. The caller must carry out the resulting
    /// orders.
    #[inline(never)]
    fn notify_gathered(&mut self, network: &Network) {
        let now = network.clock.now();
        let is_full = |channel: &&ChannelId| network.links.was_above_stop(**channel, now);
        let full = self.gathered.iter().filter(is_full).count() as u64;
        self.endpoints.notify(network.clock.time(), Notice::Gathered { full });
    }
}
