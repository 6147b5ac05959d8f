//! Nodes with several adapters, and the rails, units and planes that they form.
//!
//! ```text
//!   spine0   spine1        rail 0: leaf0, leaf2       the leaves of adapter mlx5_0
//!    │  ╲   ╱   │          rail 1: leaf1, leaf3       the leaves of adapter mlx5_1
//!  leaf0 leaf1 │╲
//!    │  ╳  │   leaf2 leaf3
//!   n1  n2       n3  n4
//!   unit 0       unit 1    unit: leaves that share their nodes
//! ```
//!
//! A majority of the nodes determines units, rails and planes, so a few missing cables, dead leaves
//! or swapped adapters do not change the result.
//!
//! A **plane** has no cable to any other plane, although nodes have adapters in several planes.
//!
//! The terms follow the NVIDIA DGX `SuperPOD` reference architecture.

mod adapter_number;
mod naming;
mod rails;
mod role;
mod summary;
mod units;

pub use naming::{Basis, Naming};
pub use role::Role;
pub use summary::ClusterSummary;

use crate::{EndpointId, Fabric, NodeId};

/// Nodes, rails, units and planes of a fabric.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Nodes ordered by name; numbers in names are compared by value.
    pub nodes: Vec<ClusterNode>,
    /// Units ordered by their first leaf.
    pub units: Vec<Unit>,
    /// Rails ordered by adapter number.
    pub rails: Vec<Rail>,
    /// Switches of each plane; planes are ordered by their first switch.
    pub planes: Vec<Vec<NodeId>>,
}

/// Server, storage target, gateway or similar system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterNode {
    /// Unique name: the host name, or else the adapter name.
    pub name: String,
    /// Purpose of the node.
    pub role: Role,
    /// Adapter ports ordered by adapter number, device and port; at least one.
    pub adapters: Vec<Adapter>,
    /// Index into [`Cluster::units`] of the unit with most of the node's cables; `None` without
    /// cables.
    pub unit: Option<usize>,
}

/// Adapter port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Device with this port.
    pub device: NodeId,
    /// Endpoint of the port; `None` if it has no cable.
    pub endpoint: Option<EndpointId>,
    /// Switch at the other end of the cable; `None` without a cable to a switch.
    pub leaf: Option<NodeId>,
    /// Name within the node, such as `mlx5_4`.
    pub name: Option<String>,
    /// Adapter number, counted from 0: 4 for `mlx5_4` and `HCA-5`.
    pub number: Option<u32>,
    /// Index into [`Cluster::rails`] of the rail with this adapter number, or of the leaf's rail
    /// for an adapter without a number.
    pub rail: Option<usize>,
    /// Rail of the leaf, as an index into [`Cluster::rails`]; differs from `rail` if cables are
    /// swapped.
    pub leaf_rail: Option<usize>,
    /// Evidence for assigning the adapter to its node.
    pub basis: Basis,
}

/// Leaf switches with most of their nodes in common.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Leaf switches in canonical order.
    pub leaves: Vec<NodeId>,
    /// Nodes of the unit, as indices into [`Cluster::nodes`].
    pub nodes: Vec<usize>,
}

/// Leaf switches of the adapters with the same number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rail {
    /// Adapter number; `None` for the single rail of a cluster whose nodes usually have one adapter
    /// port.
    pub number: Option<u32>,
    /// Leaf switches in canonical order.
    pub leaves: Vec<NodeId>,
}

impl Cluster {
    /// Finds the nodes, rails, units and planes of a fabric.
    pub fn of(fabric: &Fabric, naming: &Naming) -> Self {
        let mut nodes = naming::nodes(fabric, naming);
        let mut units = units::units(fabric, &nodes);
        units::place(&mut nodes, &mut units);
        let rails = rails::rails(fabric, &mut nodes, &units);
        let planes = units::planes(fabric, &nodes);
        Self { nodes, units, rails, planes }
    }

    /// Returns the index of the node called `name`.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Returns the indices of compute nodes.
    pub fn compute(&self) -> impl Iterator<Item = usize> {
        let is_compute = |node: &usize| self.nodes[*node].role == Role::Compute;
        (0..self.nodes.len()).filter(is_compute)
    }
}

impl ClusterNode {
    /// Returns the adapter port on a rail, preferring the first with a cable.
    pub fn on_rail(&self, rail: usize) -> Option<&Adapter> {
        let mut on_rail = self.adapters.iter().filter(|adapter| adapter.rail == Some(rail));
        on_rail.clone().find(|adapter| adapter.endpoint.is_some()).or_else(|| on_rail.next())
    }
}
