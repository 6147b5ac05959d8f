//! Units and planes.
//!
//! Two leaves belong to the same unit if more than half of the nodes on each leaf also have an
//! adapter on the other leaf. Nodes without a host name do not count, because they may be adapters
//! of other nodes.

use super::{ClusterNode, Role, Unit};
use crate::routing::islands;
use crate::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn units(fabric: &Fabric, nodes: &[ClusterNode]) -> Vec<Unit> {
    let mut nodes_of: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut common: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for node in nodes {
        let leaves: Vec<NodeId> = leaves(node).into_keys().collect();
        let is_counted = node.role != Role::Unnamed;
        for (position, leaf) in leaves.iter().enumerate() {
            *nodes_of.entry(*leaf).or_default() += usize::from(is_counted);
            for other in &leaves[position + 1..] {
                *common.entry((*leaf, *other)).or_default() += usize::from(is_counted);
            }
        }
    }
    let mut sets = Sets::new(fabric.switches().len());
    for ((one, other), count) in &common {
        if 2 * count > nodes_of[one].max(nodes_of[other]) {
            sets.join(one.index(), other.index());
        }
    }
    let mut by_first: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
    for leaf in nodes_of.keys() {
        by_first.entry(sets.first(leaf.index())).or_default().push(*leaf);
    }
    by_first.into_values().map(|leaves| Unit { leaves, nodes: Vec::new() }).collect()
}

/// Assigns each node to the unit with most of its cables; in a tie, to the unit with the most
/// nodes.
pub(super) fn place(nodes: &mut [ClusterNode], units: &mut [Unit]) {
    let leaves_of_units = units.iter().enumerate();
    let unit_of: BTreeMap<NodeId, usize> = leaves_of_units
        .flat_map(|(number, unit)| unit.leaves.iter().map(move |leaf| (*leaf, number)))
        .collect();
    let cables_of = |node: &ClusterNode| {
        let mut cables: BTreeMap<usize, usize> = BTreeMap::new();
        for (leaf, count) in leaves(node) {
            *cables.entry(unit_of[&leaf]).or_default() += count;
        }
        cables
    };
    let mut sizes = vec![0_usize; units.len()];
    for node in nodes.iter().filter(|node| node.role != Role::Unnamed) {
        for unit in cables_of(node).into_keys() {
            sizes[unit] += 1;
        }
    }
    for (index, node) in nodes.iter_mut().enumerate() {
        let cables = cables_of(node);
        let most = cables.iter().rev().max_by_key(|(unit, count)| (**count, sizes[**unit]));
        node.unit = most.map(|(unit, _)| *unit);
        if let Some(unit) = node.unit {
            units[unit].nodes.push(index);
        }
    }
}

pub(super) fn leaves(node: &ClusterNode) -> BTreeMap<NodeId, usize> {
    let mut leaves = BTreeMap::new();
    for leaf in node.adapters.iter().filter_map(|adapter| adapter.leaf) {
        *leaves.entry(leaf).or_default() += 1;
    }
    leaves
}

/// Finds the planes: connected components of the switch graph to which more than half of the cabled
/// nodes have cables.
pub(super) fn planes(fabric: &Fabric, nodes: &[ClusterNode]) -> Vec<Vec<NodeId>> {
    let islands = islands(fabric);
    let mut nodes_on: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut cabled = 0;
    for node in nodes {
        let leaves = leaves(node);
        cabled += usize::from(!leaves.is_empty());
        let on: BTreeSet<NodeId> = leaves.into_keys().map(|leaf| islands[leaf.index()]).collect();
        for island in on {
            *nodes_on.entry(island).or_default() += 1;
        }
    }
    let mut planes: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for switch in fabric.switches() {
        let island = islands[switch.index()];
        if nodes_on.get(&island).is_some_and(|count| 2 * count > cabled) {
            planes.entry(island).or_default().push(switch);
        }
    }
    planes.into_values().collect()
}

struct Sets {
    parent: Vec<usize>,
}

impl Sets {
    fn new(count: usize) -> Self {
        Self { parent: (0..count).collect() }
    }

    fn first(&mut self, mut member: usize) -> usize {
        while self.parent[member] != member {
            self.parent[member] = self.parent[self.parent[member]];
            member = self.parent[member];
        }
        member
    }

    fn join(&mut self, one: usize, other: usize) {
        let (one, other) = (self.first(one), self.first(other));
        let (low, high) = (one.min(other), one.max(other));
        self.parent[high] = low;
    }
}
