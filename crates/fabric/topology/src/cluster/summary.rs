//! Counts of a cluster.

use super::{Cluster, Role};
use std::collections::BTreeMap;

/// Counts of nodes, rails, units and planes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClusterSummary {
    /// Number of nodes by role; roles without nodes are omitted.
    pub nodes: BTreeMap<Role, usize>,
    /// Number of adapter ports by role of their node; roles without ports are omitted.
    pub adapters: BTreeMap<Role, usize>,
    /// Number of compute nodes by number of cabled adapter ports.
    pub compute_by_adapters: BTreeMap<usize, usize>,
    /// Number of rails.
    pub rails: usize,
    /// Number of units with compute nodes.
    pub units: usize,
    /// Smallest and largest number of compute nodes in the units counted in `units`.
    pub nodes_per_unit: Option<(usize, usize)>,
    /// Smallest and largest number of leaves in the units counted in `units`.
    pub leaves_per_unit: Option<(usize, usize)>,
    /// Number of planes.
    pub planes: usize,
}

impl ClusterSummary {
    /// Counts the nodes, rails, units and planes of `cluster`.
    pub fn of(cluster: &Cluster) -> Self {
        let mut nodes: BTreeMap<Role, usize> = BTreeMap::new();
        let mut adapters: BTreeMap<Role, usize> = BTreeMap::new();
        let mut compute_by_adapters: BTreeMap<usize, usize> = BTreeMap::new();
        for node in &cluster.nodes {
            *nodes.entry(node.role).or_default() += 1;
            *adapters.entry(node.role).or_default() += node.adapters.len();
            if node.role == Role::Compute {
                let cabled = node.adapters.iter().filter(|one| one.endpoint.is_some()).count();
                *compute_by_adapters.entry(cabled).or_default() += 1;
            }
        }
        let is_compute = |node: &&usize| cluster.nodes[**node].role == Role::Compute;
        let sizes: Vec<(usize, usize)> = cluster
            .units
            .iter()
            .map(|unit| (unit.nodes.iter().filter(is_compute).count(), unit.leaves.len()))
            .filter(|(nodes, _)| *nodes > 0)
            .collect();
        let range = |values: &mut dyn Iterator<Item = usize>| {
            let values: Vec<usize> = values.collect();
            values.iter().min().copied().zip(values.iter().max().copied())
        };
        Self {
            nodes,
            adapters,
            compute_by_adapters,
            rails: cluster.rails.len(),
            units: sizes.len(),
            nodes_per_unit: range(&mut sizes.iter().map(|size| size.0)),
            leaves_per_unit: range(&mut sizes.iter().map(|size| size.1)),
            planes: cluster.planes.len(),
        }
    }
}
