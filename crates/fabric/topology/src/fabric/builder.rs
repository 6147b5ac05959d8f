//! Construction of a fabric from nodes and cables in any order.

use super::names::{canonical_key, make_names_unique};
use super::outgoing::Outgoing;
use super::{
    Cable, ChannelId, EndpointId, Fabric, Guid, Identity, Node, NodeId, NodeKind, PortRef,
};
use crate::speed::{LinkSpeed, PartialSpeed};
use gingham_kernel::Length;
use std::collections::BTreeMap;

/// Node index in a [`FabricBuilder`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DraftNode(usize);

/// Reason why a cable cannot be added.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CableError {
    /// The port already has a cable.
    #[error("port {port} of {node} holds a cable already")]
    PortTaken {
        /// Node name.
        node: String,
        /// Port number.
        port: u16,
    },
    /// The node has no such port.
    #[error("{node} has ports 1 to {ports}, not {port}")]
    NoSuchPort {
        /// Node name.
        node: String,
        /// Requested port.
        port: u16,
        /// Highest port number of the node.
        ports: u16,
    },
    /// Both ends are the same port.
    #[error("port {port} of {node} cannot be cabled to itself")]
    SamePort {
        /// Node name.
        node: String,
        /// Port number.
        port: u16,
    },
}

/// Fabric under construction.
#[derive(Debug, Default)]
pub struct FabricBuilder {
    nodes: Vec<Node>,
    cables: Vec<Cable>,
    taken: BTreeMap<(usize, u16), usize>,
}

impl FabricBuilder {
    /// Creates an empty draft.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a node, whose `name` is made unique by [`Self::build`].
    pub fn add_node(&mut self, node: Node) -> DraftNode {
        self.nodes.push(node);
        DraftNode(self.nodes.len() - 1)
    }

    /// Adds a node with name, GUID and number of ports only.
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

    /// Returns a draft node.
    pub fn node(&self, node: DraftNode) -> &Node {
        &self.nodes[node.0]
    }

    /// Returns a draft node, mutably.
    pub fn node_mut(&mut self, node: DraftNode) -> &mut Node {
        &mut self.nodes[node.0]
    }

    /// Returns whether a port has a cable.
    pub fn is_taken(&self, node: DraftNode, port: u16) -> bool {
        self.taken.contains_key(&(node.0, port))
    }

    /// Returns the lowest port without a cable.
    pub fn free_port(&self, node: DraftNode) -> Option<u16> {
        (1..=self.nodes[node.0].ports).find(|port| !self.is_taken(node, *port))
    }

    /// Connects two ports by a cable.
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
        self.cables.push(Cable { ends, speed, partial_speed: None, length });
        Ok(())
    }

    /// Sets a partially known cable speed, unless the full speed is known.
    pub fn set_partial_speed(
        &mut self,
        (node, port): (DraftNode, u16),
        partial: Option<PartialSpeed>,
    ) {
        if let Some(cable) = self.taken.get(&(node.0, port)) {
            let cable = &mut self.cables[*cable];
            cable.partial_speed = partial.filter(|_| cable.speed.is_none());
        }
    }

    /// Connects the lowest free ports of two nodes.
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

    /// Returns the fabric in canonical order with unique names.
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

/// Creates a fabric; `nodes` and `cables` must be in canonical order.
pub(super) fn finish(nodes: Vec<Node>, cables: Vec<Cable>) -> Fabric {
    let sources = cables.iter().flat_map(|cable| cable.ends);
    let outgoing = Outgoing::new(nodes.len(), sources);
    let source = |channel: ChannelId| cables[channel.index() / 2].ends[channel.index() % 2];
    let mut endpoints = Vec::new();
    for (index, _) in nodes.iter().enumerate().filter(|(_, node)| !node.is_switch()) {
        let of_node = outgoing.of_node(NodeId::new(index));
        endpoints.extend(of_node.map(source));
    }
    let endpoint_of =
        endpoints.iter().enumerate().map(|(i, port)| (*port, EndpointId::new(i))).collect();
    let channel =
        |end: &PortRef| outgoing.get(end.node, end.port).expect("an endpoint has a cable");
    let endpoint_channels = endpoints.iter().map(channel).collect();
    let switch_count = nodes.partition_point(Node::is_switch);
    Fabric { nodes, switch_count, cables, outgoing, endpoints, endpoint_of, endpoint_channels }
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
    fn fabric_is_independent_of_insertion_order() {
        let fabric = three_nodes(false);
        assert_eq!(fabric, three_nodes(true));
        let names: Vec<_> = fabric.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["s0", "h10", "h9"], "GUIDs decide before names");
        assert_eq!(fabric.channel_name(ChannelId::new(0)), "s0[1] -> h10[1]");
        assert_eq!(fabric.channel_name(ChannelId::new(3)), "h9[1] -> s0[2]");
        assert_eq!(Fabric::reverse(ChannelId::new(2)), ChannelId::new(3));
    }

    #[test]
    fn duplicate_names_are_replaced_by_ids() {
        let mut builder = FabricBuilder::new();
        builder.add_plain(NodeKind::Host, "adapter", Guid(2), 1);
        builder.add_plain(NodeKind::Host, "adapter", Guid(1), 1);
        let fabric = builder.build();
        let names: Vec<_> = fabric.nodes().iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["H-0000000000000001", "H-0000000000000002"]);
        assert_eq!(fabric.find_node("H-0000000000000002"), Some(NodeId::new(1)));
    }

    #[test]
    fn disambiguating_suffixes_follow_canonical_order() {
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
    fn port_accepts_one_cable_and_must_exist() {
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
}
