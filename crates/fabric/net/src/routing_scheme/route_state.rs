//! Progress of a packet on its route, for the engines.

use crate::{Packet, PathLength, Plan};
use gingham_topology::routing::{DatelineClass, KeptPath, LaneSet, Routes};
use gingham_topology::{ChannelId, NodeId};

/// Position of a packet's head on its route.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouteState {
    /// Location of the source route, if it was looked up, or the end of a diverted packet's path.
    path: Option<KeptPath>,
    /// Switches and in-transit hosts that have routed the head.
    pub hops: u16,
    /// Dateline class of the packet on its last channel, within the current leg.
    pub dateline_class: DatelineClass,
}

impl RouteState {
    /// Returns the state of a packet that enters the network. `first_node` is the node at the end
    /// of its host's cable.
    #[expect(clippy::inline_always, reason = "a packet's record is built in its place")]
    #[inline(always)]
    pub fn new(plan: &Plan, packet: &Packet, first_node: NodeId) -> Self {
        let path = match plan.routing.routes(packet.path_id) {
            Routes::Source(routes) if plan.is_switch(first_node) => {
                routes.kept(first_node, packet.destination)
            }
            _ => None,
        };
        Self { path, ..Self::default() }
    }

    /// Returns the outgoing channel of the packet at `node`, the switch or in-transit host that its
    /// head has reached.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub fn output(&self, plan: &Plan, packet: &Packet, node: impl FnOnce() -> NodeId) -> ChannelId {
        let output = match (plan.routing.routes(packet.path_id), self.path) {
            (Routes::Source(routes), path) => path
                .or_else(|| routes.kept(first_node(plan, packet), packet.destination))
                .map(|path| routes.channel(&plan.fabric, path, self.hops.into(), node)),
            (Routes::Table(_), Some(path)) => Some(path.ejection()),
            (Routes::Table(tables), None) => {
                let node = node();
                let port = tables.port(node, packet.destination);
                port.and_then(|port| plan.fabric.outgoing(node, port))
            }
        };
        output.expect("destinations are drawn among those that a route reaches")
    }

    /// Returns the lanes of `outgoing` that the packet may take after `incoming`, and enters its
    /// dateline class there.
    #[inline]
    pub fn enter(
        &mut self,
        plan: &Plan,
        packet: &Packet,
        incoming: ChannelId,
        outgoing: ChannelId,
    ) -> LaneSet {
        let Packet { vc_class, destination, .. } = *packet;
        let (lanes, dateline_class) = plan.lanes.allowed.onward(
            &plan.fabric,
            vc_class,
            self.dateline_class,
            incoming,
            outgoing,
            destination,
        );
        debug_assert!(!lanes.is_empty(), "a packet has a lane wherever it goes");
        self.dateline_class = dateline_class;
        lanes
    }

    /// Begins the next leg at an in-transit host.
    pub fn reinject(&mut self) {
        self.hops += 1;
        self.dateline_class = DatelineClass::default();
    }

    /// Ends the path at the switch that the head has reached; the packet leaves by `into_end`, to
    /// port 0.
    pub fn divert(&mut self, plan: &Plan, packet: &Packet, into_end: ChannelId) {
        let onward = u32::from(self.hops);
        let in_transit_hosts = match (plan.routing.routes(packet.path_id), self.path) {
            (Routes::Source(routes), Some(path)) => {
                let first = first_node(plan, packet);
                routes.in_transit_hosts_before(&plan.fabric, path, onward, first)
            }
            _ => 0,
        };
        self.path = Some(KeptPath::ending_with(into_end, onward, in_transit_hosts));
    }

    /// Returns the number of in-transit hosts on the path.
    pub fn in_transit_hosts(&self) -> u16 {
        let hosts = self.path.map_or(0, KeptPath::in_transit_hosts);
        u16::try_from(hosts).expect("a path has few in-transit hosts")
    }

    /// Returns the length of the whole path; `first_node` is the node at the end of the host's
    /// cable.
    pub fn length(&self, plan: &Plan, packet: &Packet, first_node: NodeId) -> PathLength {
        let look_up = || plan.length_from(packet.path_id, first_node, packet.destination);
        self.path.map_or_else(look_up, PathLength::from)
    }
}

fn first_node(plan: &Plan, packet: &Packet) -> NodeId {
    plan.fabric.target(plan.fabric.endpoint_channel(packet.source)).node
}
