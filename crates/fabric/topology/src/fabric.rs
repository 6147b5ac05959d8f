//! Fabric graph: nodes, cables, and the two directed channels of each cable.
//!
//! ```text
//!   host h0             switch s0                switch s1
//!   port 1 ──cable 0── port 1   port 2 ──cable 1── port 1
//!            channel 0: h0 -> s0         channel 2: s0 -> s1
//!            channel 1: s0 -> h0         channel 3: s1 -> s0
//! ```
//!
//! A [`Fabric`] is immutable. Its canonical order makes ids independent of the file format: nodes
//! are ordered by kind (switches, hosts, aggregation nodes, routers), GUID, then name with numbers
//! compared by value; cables are ordered by their lower end.
//!
//! Invariants: names are unique; a port has at most one cable; cable `c` has the channels `2c`
//! (from its lower end) and `2c + 1`; ports 0 of switches ([`port0`]) come after all other nodes,
//! cables and endpoints.

mod builder;
mod names;
mod outgoing;
mod port0;
mod without;

pub use builder::{CableError, DraftNode, FabricBuilder};
pub(crate) use names::natural_key;

use crate::speed::{LinkSpeed, PartialSpeed, ReportedSpeed};
use gingham_kernel::{Length, id_type};
use outgoing::Outgoing;
use std::collections::BTreeMap;
use std::fmt;

id_type!(
    /// Index of a node in canonical order.
    NodeId
);
id_type!(
    /// Index of a channel: one direction of a cable.
    ChannelId
);
id_type!(
    /// Index of an endpoint, which sends and receives packets: a cabled port of a host, aggregation
    /// node or router.
    EndpointId
);

/// 64-bit identifier burnt into a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub u64);

impl Guid {
    /// Parses 1 to 16 hexadecimal digits, optionally after `0x`.
    pub fn from_hexadecimal(text: &str) -> Option<Self> {
        let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).unwrap_or(text);
        let is_guid = digits.len() <= 16 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_guid.then(|| u64::from_str_radix(digits, 16).ok()).flatten().map(Self)
    }
}

/// Kind of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NodeKind {
    /// Device that forwards packets.
    Switch,
    /// InfiniBand channel adapter or Myrinet interface.
    Host,
    /// In-network reduction unit in a switch chassis, addressable but not a host.
    Aggregation,
    /// Connection to another subnet; routes within this subnet end here.
    Router,
    /// Port 0 of a switch as an endpoint ([`Fabric::with_ports_0`]); not a device.
    Port0,
}

impl NodeKind {
    /// Returns the name used in results and messages.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Switch => "switch",
            Self::Host => "host",
            Self::Aggregation => "aggregation",
            Self::Router => "router",
            Self::Port0 => "port 0",
        }
    }
}

/// Identity of a device.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    /// Vendor id.
    pub vendor: Option<u32>,
    /// Device id.
    pub device: Option<u32>,
    /// GUID shared by the devices in a chassis or on a card.
    pub system_guid: Option<Guid>,
    /// Whether port 0 is an enhanced port.
    pub enhanced_port0: Option<bool>,
}

/// GUID of a port, and LIDs assigned by the subnet manager.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// Port GUID.
    pub guid: Option<Guid>,
    /// Local identifier of the port.
    pub lid: Option<u16>,
    /// LID mask control; the port has 2^lmc LIDs.
    pub lmc: Option<u8>,
}

/// Device with ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Kind of the node.
    pub kind: NodeKind,
    /// Unique name: the description if unique, otherwise the id in dumps.
    pub name: String,
    /// GUID; `None` if unknown.
    pub guid: Option<Guid>,
    /// Description in the source, with arbitrary characters and not necessarily unique.
    pub description: String,
    /// Highest port number.
    pub ports: u16,
    /// Vendor, device and chassis.
    pub identity: Identity,
    /// Addresses by port; a switch has its address at port 0.
    pub addresses: BTreeMap<u16, Address>,
}

impl Node {
    /// Returns the key of the node's random streams: its GUID, otherwise its name.
    pub fn stable_name(&self) -> String {
        self.guid.map_or_else(|| self.name.clone(), |guid| guid.to_string())
    }

    /// Returns the id in dumps, such as `S-0002c90200417670`; `None` without a GUID.
    pub fn dump_id(&self) -> Option<String> {
        self.guid.map(|guid| dump_id(self.kind, guid))
    }

    /// Returns whether the node is a switch.
    pub fn is_switch(&self) -> bool {
        self.kind == NodeKind::Switch
    }
}

/// Returns the id of a node in an ibnetdiscover dump.
pub fn dump_id(kind: NodeKind, guid: Guid) -> String {
    let letter = match kind {
        NodeKind::Switch => 'S',
        NodeKind::Host | NodeKind::Aggregation => 'H',
        NodeKind::Router => 'R',
        NodeKind::Port0 => 'P',
    };
    format!("{letter}-{guid}")
}

/// Port of a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortRef {
    /// Node with this port.
    pub node: NodeId,
    /// Port number, from 1; 0 for a switch's management port.
    pub port: u16,
}

/// Cable between two ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cable {
    /// Both ends in ascending order.
    pub ends: [PortRef; 2],
    /// Speed; `None` if not fully known.
    pub speed: Option<LinkSpeed>,
    /// Partially known speed; `None` if the speed is fully known.
    pub partial_speed: Option<PartialSpeed>,
    /// Length; `None` if unknown.
    pub length: Option<Length>,
}

impl Cable {
    /// Returns the speed as in dumps: `4xNDR`, `2x???`; `None` if unknown.
    pub fn reported_speed(&self) -> Option<String> {
        let reported = self.reported();
        (reported != ReportedSpeed::default()).then(|| reported.to_string())
    }

    pub(crate) const fn reported(&self) -> ReportedSpeed {
        ReportedSpeed { known: self.speed, partial: self.partial_speed }
    }
}

/// Network of switches and hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fabric {
    nodes: Vec<Node>,
    switch_count: usize,
    cables: Vec<Cable>,
    outgoing: Outgoing,
    endpoints: Vec<PortRef>,
    endpoint_of: BTreeMap<PortRef, EndpointId>,
    endpoint_channels: Vec<ChannelId>,
}

impl Fabric {
    /// Returns the nodes in canonical order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Returns a node by id.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Iterates over all node ids.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator {
        NodeId::first(self.nodes.len())
    }

    /// Iterates over the switches, which come first in canonical order.
    pub fn switches(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator + use<> {
        NodeId::first(self.switch_count)
    }

    /// Returns whether a node is a switch.
    #[inline]
    pub fn is_switch(&self, id: NodeId) -> bool {
        id.index() < self.switch_count
    }

    /// Returns the cables in canonical order.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// Returns the fabric with all cables at `speed`.
    #[must_use]
    pub fn at_speed(mut self, speed: LinkSpeed) -> Self {
        for cable in &mut self.cables {
            (cable.speed, cable.partial_speed) = (Some(speed), None);
        }
        self
    }

    /// Returns the number of channels, two per cable.
    pub fn channel_count(&self) -> usize {
        2 * self.cables.len()
    }

    /// Returns the source port of a channel.
    pub fn source(&self, channel: ChannelId) -> PortRef {
        self.cables[channel.index() / 2].ends[channel.index() % 2]
    }

    /// Returns the target port of a channel.
    pub fn target(&self, channel: ChannelId) -> PortRef {
        self.cables[channel.index() / 2].ends[1 - channel.index() % 2]
    }

    /// Returns the cable of a channel.
    pub fn cable_of(&self, channel: ChannelId) -> &Cable {
        &self.cables[channel.index() / 2]
    }

    /// Returns the opposite channel of the same cable.
    pub fn reverse(channel: ChannelId) -> ChannelId {
        ChannelId::new(channel.index() ^ 1)
    }

    /// Returns the channel out of `node` through `port`; `None` without a cable.
    #[expect(clippy::inline_always, reason = "a call would cost as much again, at every hop")]
    #[inline(always)]
    pub fn outgoing(&self, node: NodeId, port: u16) -> Option<ChannelId> {
        self.outgoing.get(node, port)
    }

    /// Iterates over the channels out of `node` in port order.
    pub fn channels_from(&self, node: NodeId) -> impl Iterator<Item = ChannelId> {
        self.outgoing.of_node(node)
    }

    /// Returns the ports of all endpoints, ordered by node and port.
    pub fn endpoints(&self) -> &[PortRef] {
        &self.endpoints
    }

    /// Iterates over all endpoint ids.
    pub fn endpoint_ids(&self) -> impl DoubleEndedIterator<Item = EndpointId> + ExactSizeIterator {
        EndpointId::first(self.endpoints.len())
    }

    /// Returns the port of an endpoint.
    pub fn endpoint(&self, id: EndpointId) -> PortRef {
        self.endpoints[id.index()]
    }

    /// Returns the channel from an endpoint into the fabric.
    pub fn endpoint_channel(&self, id: EndpointId) -> ChannelId {
        self.endpoint_channels[id.index()]
    }

    /// Returns the endpoint at a port.
    pub fn endpoint_at(&self, port: PortRef) -> Option<EndpointId> {
        self.endpoint_of.get(&port).copied()
    }

    /// Returns whether an endpoint belongs to a host. Ordinary traffic does not end at aggregation
    /// nodes, routers or ports 0.
    pub fn is_host_endpoint(&self, id: EndpointId) -> bool {
        self.node(self.endpoint(id).node).kind == NodeKind::Host
    }

    /// Returns the unique name of an endpoint: its node's name, with the port if the node has
    /// several endpoints.
    pub fn endpoint_name(&self, id: EndpointId) -> String {
        let PortRef { node, port } = self.endpoint(id);
        let alone = self.channels_from(node).nth(1).is_none();
        let name = &self.node(node).name;
        if alone { name.clone() } else { format!("{name}[{port}]") }
    }

    /// Formats a port, such as `s3[7]`.
    pub fn port_name(&self, port: PortRef) -> String {
        format!("{}[{}]", self.node(port.node).name, port.port)
    }

    /// Formats a channel, such as `s3[7] -> s4[1]`.
    pub fn channel_name(&self, channel: ChannelId) -> String {
        let (from, to) = (self.source(channel), self.target(channel));
        format!("{} -> {}", self.port_name(from), self.port_name(to))
    }

    /// Finds a node by name, dump id, or GUID written with at least eight hexadecimal digits.
    pub fn find_node(&self, text: &str) -> Option<NodeId> {
        let guid = Guid::from_hexadecimal(text);
        let named = |node: &Node| {
            node.name == text
                || node.dump_id().as_deref() == Some(text)
                || (guid.is_some() && text.len() >= 8 && node.guid == guid)
        };
        self.node_ids().find(|id| named(self.node(*id)))
    }
}

impl fmt::Display for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl fmt::Debug for Guid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Guid({self})")
    }
}
