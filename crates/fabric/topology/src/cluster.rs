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
//! A dump lists adapters; a scheduler, an MPI library and an operator count in nodes. This module
//! recognises them:
//!
//! - **Node**: the adapters of one system. Devices with one system image GUID form one node; nodes
//!   whose adapters are described as "node12 mlx5_4" are merged by the host name; a rule of the user
//!   replaces the description (`naming`). Each adapter keeps the [`Basis`] of its membership.
//! - **Role**: compute, storage, management or gateway, by words in the host name (`role`).
//! - **Unit** (scalable unit, pod): a set of leaf switches that have most of their nodes in common
//!   (`units`). A rail-optimised unit has a leaf per rail; in other fabrics each leaf is a unit.
//! - **Rail**: the leaves of all adapters with one number, across all units (`rails`).
//! - **Plane**: switches without a cable to any other plane, although nodes have
//!   adapters in both.
//!
//! More than half of the nodes decide in each case, and missing cables, dead leaves or swapped
//! adapters therefore do not change the result.
//!
//! Source of the terms: NVIDIA DGX `SuperPOD` reference architecture (scalable unit, rail-optimised).

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

/// The nodes of a fabric, with their rails, units and planes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cluster {
    /// Nodes by name, numbers in names compared as numbers.
    pub nodes: Vec<ClusterNode>,
    /// Units by their first leaf; empty without leaves.
    pub units: Vec<Unit>,
    /// Rails by adapter number; a single one in fabrics whose nodes have one adapter.
    pub rails: Vec<Rail>,
    /// Switches of each plane, planes by their first switch; planes without adapters are left out.
    pub planes: Vec<Vec<NodeId>>,
}

/// A system with one or more adapters: a server, a storage target, a gateway.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterNode {
    /// Unique name: the host name, else the name of the adapter.
    pub name: String,
    /// Purpose of the node.
    pub role: Role,
    /// Adapter ports by adapter number, then by device and port; at least one.
    pub adapters: Vec<Adapter>,
    /// Unit that holds most of its cables, as index into [`Cluster::units`]; `None` without a cable
    /// to a leaf.
    pub unit: Option<usize>,
}

/// A port of an adapter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Adapter {
    /// Device of the fabric.
    pub device: NodeId,
    /// Endpoint of its routes; `None` without a cable.
    pub endpoint: Option<EndpointId>,
    /// Switch at the other end of its cable; `None` without a cable to a switch.
    pub leaf: Option<NodeId>,
    /// Name within the node, such as `mlx5_4`.
    pub name: Option<String>,
    /// Number within the node, from 0: 4 of `mlx5_4`, and of `HCA-5`.
    pub number: Option<u32>,
    /// Rail of its number, else of its leaf, as index into [`Cluster::rails`].
    pub rail: Option<usize>,
    /// Rail of its leaf; differs from `rail` if cables are swapped.
    pub leaf_rail: Option<usize>,
    /// Reason for its membership of the node.
    pub basis: Basis,
}

/// A set of leaf switches with most of their nodes in common: a scalable unit, or a single leaf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its leaf switches in canonical order.
    pub leaves: Vec<NodeId>,
    /// Its nodes, as indices into [`Cluster::nodes`].
    pub nodes: Vec<usize>,
}

/// The leaf switches of one adapter number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rail {
    /// Adapter number, if adapter names contain one.
    pub number: Option<u32>,
    /// Its leaf switches in canonical order.
    pub leaves: Vec<NodeId>,
}

impl Cluster {
    /// Recognises the nodes of a fabric, their rails, units and planes.
    pub fn of(fabric: &Fabric, naming: &Naming) -> Self {
        let mut nodes = naming::nodes(fabric, naming);
        let mut units = units::units(fabric, &nodes);
        units::place(&mut nodes, &mut units);
        let rails = rails::rails(fabric, &mut nodes, &units);
        let planes = units::planes(fabric, &nodes);
        Self { nodes, units, rails, planes }
    }

    /// Returns the index of the node with a name.
    pub fn find(&self, name: &str) -> Option<usize> {
        self.nodes.iter().position(|node| node.name == name)
    }

    /// Nodes of role [`Role::Compute`], as indices.
    pub fn compute(&self) -> impl Iterator<Item = usize> {
        let is_compute = |node: &usize| self.nodes[*node].role == Role::Compute;
        (0..self.nodes.len()).filter(is_compute)
    }
}

impl ClusterNode {
    /// The adapter port on a rail: of several, the first with a cable.
    pub fn on_rail(&self, rail: usize) -> Option<&Adapter> {
        let mut on_rail = self.adapters.iter().filter(|adapter| adapter.rail == Some(rail));
        on_rail.clone().find(|adapter| adapter.endpoint.is_some()).or_else(|| on_rail.next())
    }
}
