//! Ports 0 of switches: endpoints for packets from and to the switch itself.
//!
//! ```text
//!   h0 ── 1 ┌────┐ 2 ── s1         port 0 of s0: endpoint "s0[0]" behind a cable of zero length,
//!   h1 ── 3 │ s0 │                 at the rate of the fastest port of s0
//!           └─0──┘
//!             └── s0[0]
//! ```
//!
//! Ports 0 are added only on request, after all other nodes, cables and endpoints, so that other
//! ids do not change. Packets from a port 0 take the routes of a host on its switch. No route leads
//! to a port 0: it receives only packets that the switch diverts.
//!
//! Source: InfiniBand Architecture Specification, Volume 1, section 18.2.4.1, on port 0.
//!
//! Invariant: if one switch has a port 0, every switch with a cable has one.

use super::{Cable, ChannelId, EndpointId, Fabric, Identity, Node, NodeId, NodeKind, PortRef};
use crate::speed::LinkSpeed;
use gingham_kernel::Length;
use std::collections::BTreeMap;

const PORT_0: u16 = 0;

impl Fabric {
    /// Returns the fabric with a port 0 at every cabled switch.
    #[must_use]
    pub fn with_ports_0(mut self) -> Self {
        if !self.has_ports_0() {
            for switch in NodeId::first(self.switches().len()) {
                if self.channels_from(switch).next().is_some() {
                    self.add_port_0(switch);
                }
            }
        }
        self
    }

    fn add_port_0(&mut self, switch: NodeId) {
        let speeds = self.channels_from(switch).map(|channel| self.cable_of(channel).speed);
        let speed = speeds.max_by_key(|speed| speed.map(LinkSpeed::rate)).flatten();
        let end = PortRef { node: NodeId::new(self.nodes.len()), port: 1 };
        let near = PortRef { node: switch, port: PORT_0 };
        let name = self.port_name(near);
        self.nodes.push(Node {
            kind: NodeKind::Port0,
            description: name.clone(),
            name,
            guid: None,
            ports: 1,
            identity: Identity::default(),
            addresses: BTreeMap::new(),
        });
        let into = ChannelId::new(self.channel_count());
        let length = Some(Length::from_mm(0));
        self.cables.push(Cable { ends: [near, end], speed, partial_speed: None, length });
        self.outgoing.set(near, into);
        self.outgoing.push_node(Self::reverse(into));
        self.endpoint_of.insert(end, EndpointId::new(self.endpoints.len()));
        self.endpoints.push(end);
        self.endpoint_channels.push(Self::reverse(into));
    }

    /// Returns whether switches have a port 0.
    pub fn has_ports_0(&self) -> bool {
        self.nodes.last().is_some_and(|node| node.kind == NodeKind::Port0)
    }

    /// Returns the endpoint at port 0 of a switch.
    pub fn port_0(&self, switch: NodeId) -> Option<EndpointId> {
        self.endpoint_at(self.target(self.into_port_0(switch)?))
    }

    /// Returns the channel from a switch to its port 0.
    pub fn into_port_0(&self, switch: NodeId) -> Option<ChannelId> {
        self.outgoing(switch, PORT_0)
    }

    /// Returns whether an endpoint is a port 0.
    pub fn is_port_0(&self, endpoint: EndpointId) -> bool {
        self.node(self.endpoint(endpoint).node).kind == NodeKind::Port0
    }

    /// Returns the lowest-numbered host endpoint on the same switch as `end`, a switch port 0.
    /// Packets from port 0 use the service levels of this endpoint, and the SL-to-VL rows of the
    /// switch port to which the endpoint is attached.
    pub(crate) fn beside_port_0(&self, end: EndpointId) -> Option<EndpointId> {
        let switch = self.target(self.endpoint_channel(end)).node;
        let endpoints =
            self.channels_from(switch).filter_map(|channel| self.endpoint_at(self.target(channel)));
        endpoints.filter(|endpoint| !self.is_port_0(*endpoint)).min()
    }

    /// Returns all nodes except ports 0.
    pub fn listed_nodes(&self) -> &[Node] {
        &self.nodes[..self.nodes.partition_point(|node| node.kind != NodeKind::Port0)]
    }

    /// Returns the number of endpoints, not counting ports 0.
    pub fn listed_endpoint_count(&self) -> usize {
        self.endpoints.len() - self.ports_0()
    }

    /// Returns all cables except those to ports 0.
    pub fn listed_cables(&self) -> &[Cable] {
        &self.cables[..self.cables.len() - self.ports_0()]
    }

    fn ports_0(&self) -> usize {
        self.nodes.len() - self.listed_nodes().len()
    }
}
