//! Counts and distances of a fabric.

use super::distance::distances;
use super::islands::parts;
use super::unevenness::{bundle_sizes, host_cables};
use crate::{Fabric, LinkSpeed, NodeKind, PartialSpeed};
use std::collections::BTreeMap;

/// Counts and distances of a fabric.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Number of nodes of each type, including types without nodes.
    pub nodes: BTreeMap<NodeKind, usize>,
    /// Number of cables.
    pub cables: usize,
    /// Number of cables between two different switches.
    pub trunk_cables: usize,
    /// Number of cables by speed; `None` for unknown speed.
    pub cables_by_speed: BTreeMap<Option<LinkSpeed>, usize>,
    /// Number of cables with a partly known speed, by that partial speed.
    pub cables_by_partial_speed: BTreeMap<PartialSpeed, usize>,
    /// Ports by node type, including types without nodes.
    pub ports: BTreeMap<NodeKind, PortUse>,
    /// Number of connected components.
    pub parts: usize,
    /// Number of switches by port count.
    pub switches_by_radix: BTreeMap<u16, usize>,
    /// Number of switch pairs with several cables.
    pub parallel_pairs: usize,
    /// Number of cables between the switch pairs counted in `parallel_pairs`.
    pub parallel_cables: usize,
    /// Smallest and largest number of host cables on a leaf switch; `None` without leaves.
    pub hosts_per_leaf: Option<(usize, usize)>,
    /// Largest distance between connected switches, in cables; `None` without switches.
    pub switch_diameter: Option<u32>,
    /// Mean number of switches on a shortest path between two host ports; `None` without connected
    /// ports.
    pub mean_switches_passed: Option<f64>,
}

/// Number of ports with and without cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortUse {
    /// Number of cabled ports.
    pub used: usize,
    /// Number of free ports.
    pub free: usize,
}

/// Computes the counts and distances of `fabric`.
pub fn summary(fabric: &Fabric) -> Summary {
    let bundles = bundle_sizes(fabric);
    let parallel = || bundles.values().filter(|size| **size > 1);
    let host_ports = host_cables(fabric);
    let leaves = || host_ports.iter().copied().filter(|hosts| *hosts > 0);
    let distances = distances(fabric, &host_ports);
    #[expect(clippy::cast_precision_loss, reason = "a mean needs no more digits than a double has")]
    let mean = distances.hops as f64 / distances.pairs as f64;
    Summary {
        nodes: nodes(fabric),
        cables: fabric.cables().len(),
        trunk_cables: bundles.values().sum(),
        cables_by_speed: count(fabric.cables().iter().map(|cable| cable.speed)),
        cables_by_partial_speed: count(
            fabric.cables().iter().filter_map(|cable| cable.partial_speed),
        ),
        ports: ports(fabric),
        parts: parts(fabric).len(),
        switches_by_radix: count(fabric.switches().map(|id| fabric.node(id).ports)),
        parallel_pairs: parallel().count(),
        parallel_cables: parallel().sum(),
        hosts_per_leaf: leaves().min().zip(leaves().max()),
        switch_diameter: (!host_ports.is_empty()).then_some(distances.diameter),
        mean_switches_passed: (distances.pairs > 0).then_some(mean),
    }
}

const KINDS: [NodeKind; 4] =
    [NodeKind::Switch, NodeKind::Host, NodeKind::Aggregation, NodeKind::Router];

fn nodes(fabric: &Fabric) -> BTreeMap<NodeKind, usize> {
    let mut nodes: BTreeMap<NodeKind, usize> = KINDS.map(|kind| (kind, 0)).into();
    nodes.extend(count(fabric.nodes().iter().map(|node| node.kind)));
    nodes
}

fn ports(fabric: &Fabric) -> BTreeMap<NodeKind, PortUse> {
    let mut ports: BTreeMap<NodeKind, PortUse> =
        KINDS.map(|kind| (kind, PortUse::default())).into();
    for id in fabric.node_ids() {
        let node = fabric.node(id);
        let used = fabric.channels_from(id).count();
        let of_kind = ports.get_mut(&node.kind).expect("every kind is listed");
        of_kind.used += used;
        of_kind.free += usize::from(node.ports) - used;
    }
    ports
}

fn count<T: Ord>(values: impl Iterator<Item = T>) -> BTreeMap<T, usize> {
    let mut counts = BTreeMap::new();
    for value in values {
        *counts.entry(value).or_default() += 1;
    }
    counts
}
