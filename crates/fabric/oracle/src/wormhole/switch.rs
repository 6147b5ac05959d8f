//! Switches: input ports read headers and request outputs; outputs choose a worm and forward it.

use crate::wormhole::event::{Event, Flit};
use crate::wormhole::input::{Head, Output};
use crate::wormhole::simulation::Simulation;
use crate::wormhole::worm::WormId;
use gingham_fairq::{Arbiter, Ready};
use gingham_topology::{ChannelId, Fabric};
use std::sync::Arc;

impl Simulation {
    pub(crate) fn receive(&mut self, channel: ChannelId, flit: Flit) {
        if self.ends_at_host(channel) {
            return self.receive_at_host(channel, flit);
        }
        self.enter(channel, flit);
        match self.input_mut(channel).head {
            Head::Idle => self.timeline.cause(self.timeline.now, Event::ReadHead { channel }),
            Head::Connected { output } => {
                self.timeline.cause(self.timeline.now, Event::Transfer { channel: output });
            }
            Head::Routing { .. } | Head::Waiting { .. } => {}
        }
    }

    pub(crate) fn release(&mut self, output: ChannelId) {
        if self.ends_at_host(Fabric::reverse(output)) {
            return self.release_host(output);
        }
        let channel = self.outputs[output.index()].owner.take().expect("a tail had an owner");
        let input = self.input_mut(channel);
        (input.head, input.serves) = (Head::Idle, None);
        self.timeline.cause(self.timeline.now, Event::ReadHead { channel });
        self.timeline.cause(self.timeline.now, Event::Arbitrate { output });
    }

    pub(crate) fn read_head(&mut self, channel: ChannelId) {
        if self.ends_at_host(channel) {
            return self.read_at_host(channel);
        }
        let strip = self.wormhole.route_bytes;
        let input = self.input_mut(channel);
        if input.head != Head::Idle {
            return;
        }
        let Some(flit) = input.front() else { return };
        let worm = self.worms.get_mut(flit.worm);
        let position = worm.hops_read;
        assert_eq!(worm.path[position], channel, "a worm is read along its path");
        assert_eq!(worm.lead, flit.index, "what came before was stripped or dropped");
        worm.hops_read += 1;
        worm.lead += u64::from(strip);
        let output = worm.path[position + 1];
        let level = self.wormhole.arbitration.level(worm.packet.priority);
        if strip {
            self.leave(channel);
            self.flits_stripped += 1;
        }
        let input = self.input_mut(channel);
        input.head = Head::Routing { worm: flit.worm, output, level };
        input.serves = Some(flit.worm);
        self.timeline
            .cause(self.timeline.now + self.wormhole.routing_delay, Event::Request { channel });
    }

    /// Reports that a header was read. Returns the channel to port 0 if the endpoints divert the
    /// worm.
    fn notify_read(&mut self, input: ChannelId, worm: WormId) -> Option<ChannelId> {
        let waiting_flits = self.input_mut(input).fill() as u64;
        let worm = self.worms.get_mut(worm);
        let (now, packet) = (self.timeline.now, &mut worm.packet);
        let diverted = self.endpoints.read(now, (input, 0), waiting_flits, packet);
        if let Some(into_end) = diverted {
            worm.divert(into_end);
        }
        self.carry_out();
        diverted
    }

    pub(crate) fn request(&mut self, channel: ChannelId) {
        let input = self.input_mut(channel);
        let Head::Routing { worm, mut output, level } = input.head else {
            panic!("a request follows routing")
        };
        if self.endpoints.wanted().read {
            output = self.notify_read(channel, worm).unwrap_or(output);
        }
        self.input_mut(channel).head = Head::Waiting { output, level };
        self.timeline.cause(self.timeline.now, Event::Arbitrate { output });
    }

    pub(crate) fn arbitrate(&mut self, output: ChannelId) {
        if self.outputs[output.index()].owner.is_some() {
            return;
        }
        let node = self.plan.ends(output).source.node;
        let plan = Arc::clone(&self.plan);
        let input_of = |port: usize| {
            let port = u16::try_from(port).expect("a port fits 16 bits");
            plan.fabric.outgoing(node, port).map(Fabric::reverse)
        };
        let inputs = &self.inputs;
        let level_of = |port: usize| match inputs[input_of(port)?.index()].as_ref()?.head {
            Head::Waiting { output: requested, level } if requested == output => Some(level),
            _ => None,
        };
        let ports = usize::from(plan.fabric.node(node).ports) + 1;
        let Some(highest) = (0..ports).filter_map(level_of).max() else { return };
        self.requests.clear();
        self.requests.resize(ports.div_ceil(64), 0);
        for port in (0..ports).filter(|port| level_of(*port) == Some(highest)) {
            self.requests[port / 64] |= 1 << (port % 64);
        }
        let arbiter = &mut self.arbiters[output.index()][highest];
        let granted = arbiter.serve(&Ready::alike(&self.requests)).expect("a port requests");
        let channel = input_of(granted).expect("a requesting port has a cable");
        self.input_mut(channel).head = Head::Connected { output };
        let ready = self.timeline.now + self.wormhole.setup_delay;
        let state = &mut self.outputs[output.index()];
        state.owner = Some(channel);
        state.ready = ready;
        self.timeline.cause(ready, Event::Transfer { channel: output });
    }

    pub(crate) fn send_from_switch(&mut self, channel: ChannelId) {
        let Output { owner: Some(input_channel), ready, .. } = self.outputs[channel.index()] else {
            return;
        };
        if ready > self.timeline.now {
            return;
        }
        let Some(flit) = self.leave(input_channel) else { return };
        self.send_data(channel, flit);
        if self.worms.get(flit.worm).is_tail(flit.index) {
            let left = self.outputs[channel.index()].busy_until;
            self.timeline.cause(left, Event::Release { output: channel });
        }
    }
}
