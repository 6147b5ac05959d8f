//! Counts and distances of a fabric.

use super::distance::distances;
use super::islands::parts;
use super::unevenness::{bundle_sizes, host_cables};
use crate::{Fabric, LinkSpeed, NodeKind, PartialSpeed};
use std::collections::BTreeMap;

/// Counts and distances.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Nodes by kind, zeros included.
    pub nodes: BTreeMap<NodeKind, usize>,
    /// Number of cables.
    pub cables: usize,
    /// Cables between two different switches.
    pub trunk_cables: usize,
    /// Cables by speed; `None` if unknown.
    pub cables_by_speed: BTreeMap<Option<LinkSpeed>, usize>,
    /// Cables with a half-known speed, by that half.
    pub cables_by_partial_speed: BTreeMap<PartialSpeed, usize>,
    /// Ports by kind of node, zeros included.
    pub ports: BTreeMap<NodeKind, PortUse>,
    /// Connected parts.
    pub parts: usize,
    /// Switches by number of ports.
    pub switches_by_radix: BTreeMap<u16, usize>,
    /// Pairs of switches with several cables.
    pub parallel_pairs: usize,
    /// Cables between these pairs.
    pub parallel_cables: usize,
    /// Smallest and largest number of host cables of a switch with hosts.
    pub hosts_per_leaf: Option<(usize, usize)>,
    /// Greatest distance between connected switches, in cables.
    pub switch_diameter: Option<u32>,
    /// Mean number of switches on a shortest path between connected host cables.
    pub mean_switches_passed: Option<f64>,
}

/// Ports with and without cables.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PortUse {
    /// Cabled ports.
    pub used: usize,
    /// Free ports.
    pub free: usize,
}

/// Counts and distances of `fabric`.
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
