//! Rails: adapters with the same number across all units.
//!
//! A rail exists for each adapter number found on at least half of the compute nodes with several
//! adapters. If a unit has as many adapter numbers as there are rails, but different ones, its
//! numbers in ascending order correspond to the rails:
//!
//! ```text
//!   units 0 to 7   mlx5_0 mlx5_1 mlx5_2 mlx5_3     rails 0 to 3
//!   unit 8         mlx5_0 mlx5_3 mlx5_4 mlx5_5     rails 0 to 3, by position
//! ```
//!
//! A leaf belongs to the rail of most of its adapters.

use super::{ClusterNode, Rail, Role, Unit};
use crate::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// Adapter number, and position of the port among the ports of its device.
type Key = (u32, usize);

pub(super) fn rails(fabric: &Fabric, nodes: &mut [ClusterNode], units: &[Unit]) -> Vec<Rail> {
    let usual = usual_adapters(nodes);
    if usual == 0 {
        return Vec::new();
    }
    if usual == 1 {
        return vec![single_rail(nodes)];
    }
    let members = |unit: &Unit| -> Vec<usize> {
        let is_counted = |node: &&usize| nodes[**node].role == Role::Compute;
        unit.nodes.iter().filter(is_counted).copied().collect()
    };
    let all: Vec<usize> = units.iter().flat_map(members).collect();
    let common = common_keys(nodes, &all);
    let mut order_of_unit: Vec<Vec<Key>> = Vec::new();
    for unit in units {
        let own = common_keys(nodes, &members(unit));
        let known = own.iter().filter(|key| common.contains(key)).count();
        let differs = own.len() == common.len() && known < common.len();
        order_of_unit.push(if differs { own } else { common.clone() });
    }
    for node in nodes.iter_mut() {
        let Some(unit) = node.unit else { continue };
        let keys = keys(node);
        for (adapter, key) in node.adapters.iter_mut().zip(keys) {
            let order = &order_of_unit[unit];
            adapter.rail = key.and_then(|key| order.iter().position(|known| *known == key));
        }
    }
    let leaf_rails = leaf_rails(nodes);
    for adapter in nodes.iter_mut().flat_map(|node| &mut node.adapters) {
        adapter.leaf_rail = adapter.leaf.and_then(|leaf| leaf_rails.get(&leaf).copied());
        if adapter.number.is_none() {
            adapter.rail = adapter.leaf_rail;
        }
    }
    let leaves = |rail: usize| {
        let on_rail = fabric.switches().filter(|leaf| leaf_rails.get(leaf) == Some(&rail));
        on_rail.collect()
    };
    common
        .iter()
        .enumerate()
        .map(|(rail, key)| Rail { number: Some(key.0), leaves: leaves(rail) })
        .collect()
}

/// Returns the most common number of cabled adapter ports per compute node, weighting each node by
/// this number.
fn usual_adapters(nodes: &[ClusterNode]) -> usize {
    let mut ports: BTreeMap<usize, usize> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.role == Role::Compute) {
        let cabled = node.adapters.iter().filter(|adapter| adapter.leaf.is_some()).count();
        *ports.entry(cabled).or_default() += cabled;
    }
    ports
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .max_by_key(|(_, count)| *count)
        .map_or(0, |(cabled, _)| cabled)
}

fn single_rail(nodes: &mut [ClusterNode]) -> Rail {
    let mut leaves = BTreeSet::new();
    for node in nodes {
        for (position, adapter) in node.adapters.iter_mut().enumerate() {
            leaves.extend(adapter.leaf);
            adapter.leaf_rail = adapter.leaf.map(|_| 0);
            adapter.rail = (position == 0).then_some(0);
        }
    }
    Rail { number: None, leaves: leaves.into_iter().collect() }
}

fn common_keys(nodes: &[ClusterNode], members: &[usize]) -> Vec<Key> {
    let mut counts: BTreeMap<Key, usize> = BTreeMap::new();
    let several = members.iter().filter(|node| nodes[**node].adapters.len() > 1);
    for node in several.clone() {
        let keys: BTreeSet<Key> = keys(&nodes[*node]).into_iter().flatten().collect();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let of = several.count();
    counts.into_iter().filter(|(_, count)| 2 * count >= of).map(|(key, _)| key).collect()
}

fn keys(node: &ClusterNode) -> Vec<Option<Key>> {
    let mut ports: BTreeMap<NodeId, usize> = BTreeMap::new();
    let mut key = |adapter: &super::Adapter| {
        let port = ports.entry(adapter.device).or_default();
        *port += 1;
        Some((adapter.number?, *port - 1))
    };
    node.adapters.iter().map(&mut key).collect()
}

fn leaf_rails(nodes: &[ClusterNode]) -> BTreeMap<NodeId, usize> {
    let mut counts: BTreeMap<NodeId, BTreeMap<usize, usize>> = BTreeMap::new();
    for node in nodes.iter().filter(|node| node.role == Role::Compute) {
        for adapter in &node.adapters {
            if let Some((leaf, rail)) = adapter.leaf.zip(adapter.rail) {
                *counts.entry(leaf).or_default().entry(rail).or_default() += 1;
            }
        }
    }
    let most = |rails: BTreeMap<usize, usize>| {
        let most = rails.into_iter().rev().max_by_key(|(_, count)| *count);
        most.expect("a counted leaf has a rail").0
    };
    counts.into_iter().map(|(leaf, rails)| (leaf, most(rails))).collect()
}
