//! Switches: input ports read headers and request outputs; outputs arbitrate among the requests.

use crate::wormhole::arbiter::Arbiter;
use crate::wormhole::event::Event;
use crate::wormhole::network::Network;
use crate::wormhole::worm::Incoming;
use gingham_net::{Plan, WormholePlan};
use gingham_topology::{ChannelId, Fabric, NodeId};
use std::sync::Arc;

#[derive(Clone, Debug)]
pub(crate) struct Switches {
    plan: Arc<Plan>,
    wormhole: WormholePlan,
    arbiters: Vec<Arbiter>,
    ports: Vec<PortAt>,
    reports_reads: bool,
}

#[derive(Clone, Copy, Debug)]
struct PortAt {
    node: NodeId,
    port: u16,
}

impl Switches {
    pub(crate) fn new(plan: Arc<Plan>, wormhole: WormholePlan, reports_reads: bool) -> Self {
        let levels = wormhole.arbitration.level(plan.highest_priority()) + 1;
        let arbiter = |channel| {
            let ports = plan.fabric.node(plan.ends(channel).source.node).ports;
            Arbiter::new(usize::from(ports) + 1, levels)
        };
        let port = |channel| {
            let target = plan.ends(channel).target;
            PortAt { node: target.node, port: target.port }
        };
        let channels = || ChannelId::first(plan.channels.len());
        Self {
            wormhole,
            arbiters: channels().map(arbiter).collect(),
            ports: channels().map(port).collect(),
            reports_reads,
            plan,
        }
    }

    pub(crate) fn reports_reads(&self) -> bool {
        self.reports_reads
    }

    pub(crate) fn read_head(&mut self, network: &mut Network, channel: ChannelId) {
        let Some(incoming) = network.links.read_head(channel, network.clock.now()) else { return };
        let node = || self.ports[channel.index()].node;
        let output = network.worms.get_mut(incoming.worm).route_at(&self.plan, node);
        let is_stripped = self.wormhole.route_bytes;
        network.links.route(channel, output, is_stripped, network.clock.now());
        match self.wormhole.routing_delay.as_ps() {
            0 if !self.reports_reads => self.request(network, channel),
            delay => {
                network.clock.schedule(network.clock.now() + delay, Event::Request { channel });
            }
        }
    }

    pub(crate) fn request(&mut self, network: &mut Network, channel: ChannelId) {
        let input = network.links.input_mut(channel);
        let output = input.request();
        let port = usize::from(self.ports[channel.index()].port);
        // This code runs at every hop, so the worm is looked up only if its priority matters.
        let level = if self.wormhole.arbitration.has_levels() {
            network.worms.get(input.worm()).packet.priority.level()
        } else {
            0
        };
        self.arbiters[output.index()].request(port, level);
        self.arbitrate_soon(network, output);
    }

    /// Arbitrates in phase 5 of the current time: at once if no event of an earlier phase is
    /// pending.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub(crate) fn arbitrate_soon(&mut self, network: &mut Network, output: ChannelId) {
        if network.links.is_held(output) || self.arbiters[output.index()].is_idle() {
            return;
        }
        if network.clock.instant_is_over() {
            self.arbitrate(network, output);
        } else {
            network.clock.schedule(network.clock.now(), Event::Arbitrate { output });
        }
    }

    pub(crate) fn arbitrate(&mut self, network: &mut Network, output: ChannelId) {
        if network.links.is_held(output) {
            return;
        }
        let Some(port) = self.arbiters[output.index()].grant() else { return };
        let node = self.ports[Fabric::reverse(output).index()].node;
        let port = u16::try_from(port).expect("a port fits 16 bits");
        let leaving = self.plan.fabric.outgoing(node, port).expect("a requesting port has a cable");
        let read = network.links.connect(Fabric::reverse(leaving), output);
        network.links.note_taken(output);
        let next = Incoming { flits: read.flits - u64::from(self.wormhole.route_bytes), ..read };
        let ready = network.clock.now() + self.wormhole.setup_delay.as_ps();
        network.begin(output, next, ready);
    }
}
