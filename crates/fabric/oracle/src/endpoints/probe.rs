//! Probe of a plan: sends control packets and diverts some of them (`gingham_net`, `probe`).

use gingham_net::{Content, Packet, Plan};
use gingham_topology::{ChannelId, EndpointId};
use std::collections::BTreeMap;
use std::sync::Arc;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Control {
    pub(super) source: EndpointId,
    pub(super) destination: EndpointId,
}

#[derive(Clone, Debug)]
pub(super) struct Probe {
    plan: Arc<Plan>,
    /// Number of received packets. The next three fields count the packets that hosts received from
    /// hosts, the control packets that switches read, and the control packets that arrived at port
    /// 0 of a switch.
    received: u64,
    between_hosts: u64,
    read: u64,
    at_ports_0: u64,
    diverted: BTreeMap<EndpointId, Vec<EndpointId>>,
}

fn is_one_in(count: u64, every: u64) -> bool {
    every > 0 && count.is_multiple_of(every)
}

impl Probe {
    pub(super) fn new(plan: &Arc<Plan>) -> Self {
        Self {
            plan: Arc::clone(plan),
            received: 0,
            between_hosts: 0,
            read: 0,
            at_ports_0: 0,
            diverted: BTreeMap::new(),
        }
    }

    /// Returns the control packets to send after receiving a packet, and whether to order a change
    /// of a lane's weight.
    pub(super) fn received(&mut self, packet: &Packet) -> (Vec<Control>, bool) {
        let Some(of) = self.plan.probe else { return (Vec::new(), false) };
        self.received += 1;
        let weighs = is_one_in(self.received, of.weigh_every);
        let fabric = &self.plan.fabric;
        let (here, from) = (packet.destination, packet.source);
        let back = Control { source: here, destination: from };
        let mut controls = Vec::new();
        if fabric.is_port_0(here) {
            if packet.content == Content::Control {
                let onward = self.diverted.get_mut(&here).expect("it was diverted").remove(0);
                self.at_ports_0 += 1;
                controls.push(back);
                if self.at_ports_0.is_multiple_of(2) {
                    controls.push(Control { source: here, destination: onward });
                }
            }
        } else if !fabric.is_port_0(from) {
            self.between_hosts += 1;
            if is_one_in(self.between_hosts, of.control_every) {
                controls.push(back);
            }
        }
        let is_sent = |of: &Control| {
            !fabric.is_port_0(of.source) || self.plan.is_routed(of.source, of.destination)
        };
        controls.retain(is_sent);
        (controls, weighs)
    }

    pub(super) fn read(&mut self, input: ChannelId, packet: &Packet) -> Option<EndpointId> {
        let (fabric, of) = (&self.plan.fabric, self.plan.probe?);
        let port_0 = fabric.port_0(fabric.target(input).node)?;
        if packet.content != Content::Control || fabric.is_port_0(packet.source) {
            return None;
        }
        self.read += 1;
        if !is_one_in(self.read, of.divert_every) {
            return None;
        }
        self.diverted.entry(port_0).or_default().push(packet.destination);
        Some(port_0)
    }
}
