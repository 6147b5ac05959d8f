//! The fabric: nodes, cables, and the directed channels that a cable holds.
//!
//! ```text
//!   host h0             switch s0                switch s1
//!   port 1 ──cable 0── port 1   port 2 ──cable 1── port 1
//!            channel 0: h0 -> s0         channel 2: s0 -> s1
//!            channel 1: s0 -> h0         channel 3: s1 -> s0
//! ```
//!
//! A [`Fabric`] is built once by [`FabricBuilder`] and never changes. Building puts it
//! into one canonical order, so that the same fabric read from two formats gets the same
//! ids: nodes by kind (switches, hosts, aggregation nodes, routers), then by GUID, then by
//! name with numbers compared as numbers; cables by their lower end.
//!
//! Invariants: names are unique; a port holds at most one cable; the two channels of cable
//! `c` are `2c` (from its lower end) and `2c + 1`.

use crate::speed::LinkSpeed;
use gingham_kernel::{Length, id_type};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

id_type!(
    /// A node of a fabric, in canonical order.
    NodeId
);
id_type!(
    /// One direction of a cable.
    ChannelId
);
id_type!(
    /// A port of a host, aggregation node or router that has a cable: where packets begin
    /// and end.
    EndpointId
);

/// A 64-bit identifier burnt into a device.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Guid(pub u64);

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum NodeKind {
    /// Forwards packets between its ports.
    Switch,
    /// Sends and receives: an InfiniBand channel adapter or a Myrinet interface.
    Host,
    /// An in-network reduction unit inside a switch chassis: addressable, but no host.
    Aggregation,
    /// Leads to another subnet; an end of routes in this one.
    Router,
}

/// What a device says of itself, as far as a dump tells.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Identity {
    /// Vendor id.
    pub vendor: Option<u32>,
    /// Device id.
    pub device: Option<u32>,
    /// GUID shared by the devices of one chassis or card.
    pub system_guid: Option<Guid>,
    /// Whether port 0 of a switch is an enhanced one.
    pub enhanced_port0: Option<bool>,
}

/// What the subnet manager gave to a port (port 0 of a switch).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Address {
    /// GUID of the port, where it has one of its own.
    pub guid: Option<Guid>,
    /// Local identifier.
    pub lid: Option<u16>,
    /// LID mask control: the port answers to 2^lmc LIDs.
    pub lmc: Option<u8>,
}

/// A device with ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// What it is.
    pub kind: NodeKind,
    /// Unique name: the description where that is unique, else the id of the dump.
    pub name: String,
    /// GUID, where the source has one.
    pub guid: Option<Guid>,
    /// The description as the source has it; need not be unique and may hold any character.
    pub description: String,
    /// Number of the highest port; ports count from 1.
    pub ports: u16,
    /// Identity fields of a dump.
    pub identity: Identity,
    /// Addresses by port; port 0 is a switch's own.
    pub addresses: BTreeMap<u16, Address>,
}

impl Node {
    /// What random streams are keyed by: the GUID if there is one, else the name.
    pub fn stable_name(&self) -> String {
        self.guid.map_or_else(|| self.name.clone(), |guid| guid.to_string())
    }

    /// The id that an ibnetdiscover dump uses, such as `S-0002c90200417670`.
    pub fn dump_id(&self) -> Option<String> {
        self.guid.map(|guid| dump_id(self.kind, guid))
    }

    /// Whether the node forwards packets.
    pub fn is_switch(&self) -> bool {
        self.kind == NodeKind::Switch
    }
}

/// The id that an ibnetdiscover dump gives to a node of this kind.
pub fn dump_id(kind: NodeKind, guid: Guid) -> String {
    let letter = match kind {
        NodeKind::Switch => 'S',
        NodeKind::Host | NodeKind::Aggregation => 'H',
        NodeKind::Router => 'R',
    };
    format!("{letter}-{guid}")
}

/// One end of a cable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortRef {
    /// The node.
    pub node: NodeId,
    /// Its port, from 1.
    pub port: u16,
}

/// A cable between two ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cable {
    /// Both ends, the lower one first.
    pub ends: [PortRef; 2],
    /// Speed, where the source tells.
    pub speed: Option<LinkSpeed>,
    /// Length, where the source tells.
    pub length: Option<Length>,
}

/// A network of switches and hosts.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fabric {
    nodes: Vec<Node>,
    cables: Vec<Cable>,
    /// Outgoing channel by node and port, up to the highest port in use.
    outgoing: Vec<Vec<Option<ChannelId>>>,
    endpoints: Vec<PortRef>,
    endpoint_of: BTreeMap<PortRef, EndpointId>,
}

impl Fabric {
    /// All nodes in canonical order.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// One node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// All node ids.
    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator {
        NodeId::first(self.nodes.len())
    }

    /// The switches; they come first in canonical order.
    pub fn switches(&self) -> impl DoubleEndedIterator<Item = NodeId> + ExactSizeIterator {
        NodeId::first(self.nodes.partition_point(Node::is_switch))
    }

    /// All cables in canonical order.
    pub fn cables(&self) -> &[Cable] {
        &self.cables
    }

    /// Number of directed channels: two a cable.
    pub fn channel_count(&self) -> usize {
        2 * self.cables.len()
    }

    /// The port at which a channel begins.
    pub fn source(&self, channel: ChannelId) -> PortRef {
        self.cables[channel.index() / 2].ends[channel.index() % 2]
    }

    /// The port at which a channel ends.
    pub fn target(&self, channel: ChannelId) -> PortRef {
        self.cables[channel.index() / 2].ends[1 - channel.index() % 2]
    }

    /// The cable that holds a channel.
    pub fn cable_of(&self, channel: ChannelId) -> &Cable {
        &self.cables[channel.index() / 2]
    }

    /// The channel of the other direction of the same cable.
    pub fn reverse(channel: ChannelId) -> ChannelId {
        ChannelId::new(channel.index() ^ 1)
    }

    /// The channel that leaves `node` by `port`, if a cable is there.
    pub fn outgoing(&self, node: NodeId, port: u16) -> Option<ChannelId> {
        *self.outgoing[node.index()].get(usize::from(port))?
    }

    /// All channels that leave `node`, by port.
    pub fn channels_from(&self, node: NodeId) -> impl Iterator<Item = ChannelId> {
        self.outgoing[node.index()].iter().copied().flatten()
    }

    /// Ports at which packets begin and end, in the order of nodes and ports.
    pub fn endpoints(&self) -> &[PortRef] {
        &self.endpoints
    }

    /// All endpoint ids.
    pub fn endpoint_ids(&self) -> impl DoubleEndedIterator<Item = EndpointId> + ExactSizeIterator {
        EndpointId::first(self.endpoints.len())
    }

    /// The port of an endpoint.
    pub fn endpoint(&self, id: EndpointId) -> PortRef {
        self.endpoints[id.index()]
    }

    /// The channel from an endpoint into the fabric.
    pub fn endpoint_channel(&self, id: EndpointId) -> ChannelId {
        let PortRef { node, port } = self.endpoint(id);
        self.outgoing(node, port).expect("an endpoint has a cable")
    }

    /// The endpoint at a port, if packets can begin and end there.
    pub fn endpoint_at(&self, port: PortRef) -> Option<EndpointId> {
        self.endpoint_of.get(&port).copied()
    }

    /// Whether packets of ordinary traffic begin and end here (not at aggregation nodes
    /// and routers).
    pub fn is_host_endpoint(&self, id: EndpointId) -> bool {
        self.node(self.endpoint(id).node).kind == NodeKind::Host
    }

    /// A unique, readable name of an endpoint: the node's, with the port where the node has
    /// several endpoints.
    pub fn endpoint_name(&self, id: EndpointId) -> String {
        let PortRef { node, port } = self.endpoint(id);
        let alone = self.channels_from(node).nth(1).is_none();
        let name = &self.node(node).name;
        if alone { name.clone() } else { format!("{name}[{port}]") }
    }

    /// A port as people name it: `s3[7]`.
    pub fn port_name(&self, port: PortRef) -> String {
        format!("{}[{}]", self.node(port.node).name, port.port)
    }

    /// A channel as people name it: `s3[7] -> s4[1]`.
    pub fn channel_name(&self, channel: ChannelId) -> String {
        let (from, to) = (self.source(channel), self.target(channel));
        format!("{} -> {}", self.port_name(from), self.port_name(to))
    }

    /// The node that a user means: by name, dump id, GUID in hexadecimal, or a description
    /// that only one node has.
    pub fn find_node(&self, text: &str) -> Option<NodeId> {
        let guid = u64::from_str_radix(text.trim_start_matches("0x"), 16).ok().map(Guid);
        let named = |node: &Node| {
            node.name == text
                || node.dump_id().as_deref() == Some(text)
                || (guid.is_some() && text.len() >= 8 && node.guid == guid)
        };
        self.node_ids().find(|id| named(self.node(*id)))
    }
}

/// A node index handed out by [`FabricBuilder`] before the canonical order is known.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DraftNode(usize);

/// Why a cable cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CableError {
    /// The port holds a cable already.
    #[error("port {port} of {node} holds a cable already")]
    PortTaken {
        /// Name of the node.
        node: String,
        /// The port.
        port: u16,
    },
    /// The node has no such port.
    #[error("{node} has ports 1 to {ports}, not {port}")]
    NoSuchPort {
        /// Name of the node.
        node: String,
        /// The port asked for.
        port: u16,
        /// Number of the highest port.
        ports: u16,
    },
    /// Both ends are the same port.
    #[error("port {port} of {node} cannot be cabled to itself")]
    SamePort {
        /// Name of the node.
        node: String,
        /// The port.
        port: u16,
    },
}

/// Collects nodes and cables in any order and puts them into canonical order.
#[derive(Debug, Default)]
pub struct FabricBuilder {
    nodes: Vec<Node>,
    cables: Vec<Cable>,
    taken: BTreeMap<(usize, u16), usize>,
}

impl FabricBuilder {
    /// An empty draft.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node; its `name` may still clash and is made unique by [`Self::build`].
    pub fn add_node(&mut self, node: Node) -> DraftNode {
        self.nodes.push(node);
        DraftNode(self.nodes.len() - 1)
    }

    /// Adds a node that has only a name, a GUID and ports, as generators do.
    pub fn add_plain(&mut self, kind: NodeKind, name: &str, guid: Guid, ports: u16) -> DraftNode {
        self.add_node(Node {
            kind,
            name: name.to_owned(),
            guid: Some(guid),
            description: name.to_owned(),
            ports,
            identity: Identity::default(),
            addresses: BTreeMap::new(),
        })
    }

    /// Read access to a draft node.
    pub fn node(&self, node: DraftNode) -> &Node {
        &self.nodes[node.0]
    }

    /// Write access to a draft node.
    pub fn node_mut(&mut self, node: DraftNode) -> &mut Node {
        &mut self.nodes[node.0]
    }

    /// Whether a port holds a cable.
    pub fn is_taken(&self, node: DraftNode, port: u16) -> bool {
        self.taken.contains_key(&(node.0, port))
    }

    /// The lowest port of `node` without a cable.
    pub fn free_port(&self, node: DraftNode) -> Option<u16> {
        (1..=self.nodes[node.0].ports).find(|port| !self.is_taken(node, *port))
    }

    /// Joins two ports.
    pub fn add_cable(
        &mut self,
        ends: [(DraftNode, u16); 2],
        speed: Option<LinkSpeed>,
        length: Option<Length>,
    ) -> Result<(), CableError> {
        for (draft, port) in ends {
            let node = &self.nodes[draft.0];
            let name = || node.name.clone();
            if port == 0 || port > node.ports {
                return Err(CableError::NoSuchPort { node: name(), port, ports: node.ports });
            }
            if self.is_taken(draft, port) {
                return Err(CableError::PortTaken { node: name(), port });
            }
        }
        if ends[0] == ends[1] {
            let (draft, port) = ends[0];
            return Err(CableError::SamePort { node: self.nodes[draft.0].name.clone(), port });
        }
        for (draft, port) in ends {
            self.taken.insert((draft.0, port), self.cables.len());
        }
        let ends = ends.map(|(draft, port)| PortRef { node: NodeId::new(draft.0), port });
        self.cables.push(Cable { ends, speed, length });
        Ok(())
    }

    /// Joins the lowest free ports of two nodes.
    pub fn join(&mut self, a: DraftNode, b: DraftNode) -> Result<(), CableError> {
        let port = |builder: &Self, node: DraftNode| {
            builder.free_port(node).ok_or_else(|| CableError::NoSuchPort {
                node: builder.nodes[node.0].name.clone(),
                port: builder.nodes[node.0].ports + 1,
                ports: builder.nodes[node.0].ports,
            })
        };
        let ends = [(a, port(self, a)?), (b, port(self, b)?)];
        self.add_cable(ends, None, None)
    }

    /// The fabric in canonical order, with unique names.
    pub fn build(mut self) -> Fabric {
        make_names_unique(&mut self.nodes);
        let mut order: Vec<usize> = (0..self.nodes.len()).collect();
        order.sort_by_cached_key(|index| canonical_key(&self.nodes[*index]));
        let mut position = vec![0; order.len()];
        for (new, old) in order.iter().enumerate() {
            position[*old] = new;
        }
        for cable in &mut self.cables {
            for end in &mut cable.ends {
                end.node = NodeId::new(position[end.node.index()]);
            }
            cable.ends.sort_unstable();
        }
        self.cables.sort_by_key(|cable| cable.ends);
        let mut drafts: Vec<Option<Node>> = self.nodes.into_iter().map(Some).collect();
        let nodes: Vec<Node> =
            order.iter().map(|old| drafts[*old].take().expect("an order visits once")).collect();
        finish(nodes, self.cables)
    }
}

fn finish(nodes: Vec<Node>, cables: Vec<Cable>) -> Fabric {
    // As long as the highest port in use, so that a dump cannot ask for memory by claiming ports.
    let mut outgoing: Vec<Vec<Option<ChannelId>>> = vec![Vec::new(); nodes.len()];
    for (index, cable) in cables.iter().enumerate() {
        for (side, end) in cable.ends.iter().enumerate() {
            let (ports, port) = (&mut outgoing[end.node.index()], usize::from(end.port));
            ports.resize(ports.len().max(port + 1), None);
            ports[port] = Some(ChannelId::new(2 * index + side));
        }
    }
    let mut endpoints = Vec::new();
    for (index, _) in nodes.iter().enumerate().filter(|(_, node)| !node.is_switch()) {
        let in_use = (0..=u16::MAX).zip(&outgoing[index]).filter(|(_, channel)| channel.is_some());
        endpoints.extend(in_use.map(|(port, _)| PortRef { node: NodeId::new(index), port }));
    }
    let endpoint_of =
        endpoints.iter().enumerate().map(|(i, port)| (*port, EndpointId::new(i))).collect();
    Fabric { nodes, cables, outgoing, endpoints, endpoint_of }
}

/// A name that several nodes carry, or none, gives way to the id of the dump, and that to a
/// number. Numbers go out in canonical order, so that the order of insertion cannot matter.
fn make_names_unique(nodes: &mut [Node]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for node in nodes.iter() {
        *count.entry(node.name.clone()).or_default() += 1;
    }
    for node in nodes.iter_mut() {
        if (count[&node.name] > 1 || node.name.is_empty())
            && let Some(id) = node.dump_id()
        {
            node.name = id;
        }
    }
    let mut order: Vec<usize> = (0..nodes.len()).collect();
    order.sort_by_cached_key(|index| canonical_key(&nodes[*index]));
    let mut used: BTreeSet<String> = nodes.iter().map(|node| node.name.clone()).collect();
    let mut next_number: BTreeMap<String, u64> = BTreeMap::new();
    for index in order {
        let name = nodes[index].name.clone();
        let number = next_number.entry(name.clone()).or_insert(1);
        while *number > 1 {
            nodes[index].name = format!("{name}~{number}");
            if used.insert(nodes[index].name.clone()) {
                break;
            }
            *number += 1;
        }
        *number += 1;
    }
}

/// Kind, GUID (none last), then the name split into text and numbers.
fn canonical_key(node: &Node) -> (NodeKind, bool, Option<Guid>, Vec<NamePart>) {
    (node.kind, node.guid.is_none(), node.guid, natural_key(&node.name))
}

/// A piece of a name; numbers sort by value and before text.
#[derive(PartialEq, Eq, PartialOrd, Ord, Debug)]
enum NamePart {
    Number(u64),
    Text(String),
}

fn natural_key(name: &str) -> Vec<NamePart> {
    let mut parts = Vec::new();
    let mut rest = name;
    while let Some(first) = rest.chars().next() {
        let numeric = first.is_ascii_digit();
        let end = rest.find(|c: char| c.is_ascii_digit() != numeric).unwrap_or(rest.len());
        let (part, tail) = rest.split_at(end);
        parts.push(match part.parse() {
            Ok(number) if numeric => NamePart::Number(number),
            _ => NamePart::Text(part.to_owned()),
        });
        rest = tail;
    }
    parts
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

#[cfg(test)]
mod tests {
    use super::*;

    fn three_nodes(reversed: bool) -> Fabric {
        let mut builder = FabricBuilder::new();
        let mut add = |index: u64| match index {
            0 => builder.add_plain(NodeKind::Switch, "s0", Guid(0x10), 4),
            1 => builder.add_plain(NodeKind::Host, "h9", Guid(0x21), 1),
            _ => builder.add_plain(NodeKind::Host, "h10", Guid(0x20), 1),
        };
        let mut nodes = BTreeMap::new();
        for index in 0..3 {
            let index = if reversed { 2 - index } else { index };
            nodes.insert(index, add(index));
        }
        for (host, port) in [(1, 2), (2, 1)] {
            let ends = [(nodes[&host], 1), (nodes[&0], port)];
            builder.add_cable(ends, None, None).unwrap();
        }
        builder.build()
    }

    #[test]
    fn order_of_insertion_does_not_matter() {
        let fabric = three_nodes(false);
        assert_eq!(fabric, three_nodes(true));
        let names: Vec<_> = fabric.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["s0", "h10", "h9"], "GUIDs decide before names");
        assert_eq!(fabric.channel_name(ChannelId::new(0)), "s0[1] -> h10[1]");
        assert_eq!(fabric.channel_name(ChannelId::new(3)), "h9[1] -> s0[2]");
        assert_eq!(Fabric::reverse(ChannelId::new(2)), ChannelId::new(3));
    }

    #[test]
    fn names_that_clash_give_way_to_ids() {
        let mut builder = FabricBuilder::new();
        builder.add_plain(NodeKind::Host, "adapter", Guid(2), 1);
        builder.add_plain(NodeKind::Host, "adapter", Guid(1), 1);
        let fabric = builder.build();
        let names: Vec<_> = fabric.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["H-0000000000000001", "H-0000000000000002"]);
        assert_eq!(fabric.find_node("H-0000000000000002"), Some(NodeId::new(1)));
    }

    #[test]
    fn numbers_that_tell_names_apart_follow_the_canonical_order_and_clash_with_no_name() {
        let names = |reversed: bool| {
            let mut nodes =
                [("x", NodeKind::Host), ("x", NodeKind::Switch), ("x~2", NodeKind::Host)];
            if reversed {
                nodes.reverse();
            }
            let mut builder = FabricBuilder::new();
            for (name, kind) in nodes {
                let node = builder.add_plain(kind, name, Guid(0), 1);
                builder.node_mut(node).guid = None;
            }
            builder.build().nodes().iter().map(|node| node.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(false), ["x", "x~2", "x~3"]);
        assert_eq!(names(false), names(true));
    }

    #[test]
    fn a_port_takes_one_cable_and_must_exist() {
        let mut builder = FabricBuilder::new();
        let a = builder.add_plain(NodeKind::Switch, "a", Guid(1), 1);
        let b = builder.add_plain(NodeKind::Switch, "b", Guid(2), 2);
        builder.join(a, b).unwrap();
        let taken = builder.add_cable([(a, 1), (b, 2)], None, None);
        assert_eq!(taken, Err(CableError::PortTaken { node: "a".into(), port: 1 }));
        let missing = builder.add_cable([(b, 2), (a, 2)], None, None);
        assert_eq!(missing, Err(CableError::NoSuchPort { node: "a".into(), port: 2, ports: 1 }));
        let same = builder.add_cable([(b, 2), (b, 2)], None, None);
        assert_eq!(same, Err(CableError::SamePort { node: "b".into(), port: 2 }));
    }

    #[test]
    fn numbers_in_names_sort_as_numbers() {
        assert!(natural_key("h9") < natural_key("h10"));
        assert!(natural_key("h9-2") < natural_key("h9-11"));
    }
}
