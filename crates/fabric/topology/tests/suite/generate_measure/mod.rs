//! Measurements for the tests of generators: counts and shortest paths, by breadth-first search.

#![allow(dead_code, reason = "each test file uses its part")]

use gingham_topology::generate::Generator;
use gingham_topology::{Fabric, NodeId, NodeKind, PortRef};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Returns the fabric of parameters in the notation of a scenario.
pub(crate) fn fabric(parameters: &str) -> Fabric {
    generator(parameters).generate(0).unwrap_or_else(|error| panic!("{parameters}: {error}"))
}

/// Returns a generator from `name = { key = value, ... }`.
pub(crate) fn generator(parameters: &str) -> Generator {
    toml::from_str(parameters).unwrap_or_else(|error| panic!("{parameters}: {error}"))
}

/// Counts of a fabric.
#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) switches: usize,
    pub(crate) hosts: usize,
    /// Cables between switches.
    pub(crate) switch_cables: usize,
    /// Cables in all.
    pub(crate) cables: usize,
    /// Switches on the longest shortest path between hosts.
    pub(crate) diameter: u32,
}

pub(crate) fn counts(fabric: &Fabric) -> Counts {
    Counts {
        switches: fabric.switches().len(),
        hosts: fabric.nodes().iter().filter(|node| node.kind == NodeKind::Host).count(),
        switch_cables: switch_cables(fabric).len(),
        cables: fabric.cables().len(),
        diameter: diameter(fabric),
    }
}

/// Returns the switches on the longest shortest path between connected hosts.
fn diameter(fabric: &Fabric) -> u32 {
    let host = |switch: &NodeId| {
        let far = |channel| fabric.target(channel).node;
        fabric.channels_from(*switch).map(far).find(|node| !fabric.node(*node).is_switch())
    };
    let switches: Vec<NodeId> = fabric.switches().filter(|switch| host(switch).is_some()).collect();
    let farthest = |from: &NodeId| {
        let steps = reached(fabric, *from);
        switches.iter().filter_map(|to| steps[to.index()]).max()
    };
    1 + switches.iter().filter_map(farthest).max().expect("there are hosts")
}

/// Returns the switches at the ends of each cable between switches.
pub(crate) fn switch_cables(fabric: &Fabric) -> Vec<[NodeId; 2]> {
    let ends = fabric.cables().iter().map(|cable| cable.ends.map(|end| end.node));
    ends.filter(|ends| ends.iter().all(|node| fabric.node(*node).is_switch())).collect()
}

/// Returns the number of cables between each pair of switches.
pub(crate) fn cables_by_pair(fabric: &Fabric) -> BTreeMap<[NodeId; 2], usize> {
    let mut by_pair = BTreeMap::new();
    for pair in switch_cables(fabric) {
        *by_pair.entry(pair).or_default() += 1;
    }
    by_pair
}

/// Returns the number of cables from each switch to other switches.
pub(crate) fn degrees(fabric: &Fabric) -> Vec<usize> {
    let mut degrees = vec![0; fabric.switches().len()];
    for node in switch_cables(fabric).into_iter().flatten() {
        degrees[node.index()] += 1;
    }
    degrees
}

/// Returns the cables on a shortest path from one node to each other; panics if one cannot be
/// reached.
pub(crate) fn steps(fabric: &Fabric, from: NodeId) -> Vec<u32> {
    let steps = reached(fabric, from).into_iter();
    steps.map(|reached| reached.expect("the fabric is connected")).collect()
}

/// Returns the cables on a shortest path from one node to each reachable one.
pub(crate) fn reached(fabric: &Fabric, from: NodeId) -> Vec<Option<u32>> {
    let mut steps = vec![None; fabric.nodes().len()];
    steps[from.index()] = Some(0);
    let mut waiting = VecDeque::from([from]);
    while let Some(node) = waiting.pop_front() {
        let here = steps[node.index()].expect("a waiting node was reached");
        for channel in fabric.channels_from(node) {
            let next = fabric.target(channel).node;
            if steps[next.index()].is_none() {
                steps[next.index()] = Some(here + 1);
                waiting.push_back(next);
            }
        }
    }
    steps
}

/// Returns the cables on a shortest path between every two switches.
pub(crate) fn switch_steps(fabric: &Fabric) -> Vec<Vec<u32>> {
    let count = fabric.switches().len();
    fabric.switches().map(|switch| steps(fabric, switch)[..count].to_vec()).collect()
}

/// Returns the node of this name.
pub(crate) fn node(fabric: &Fabric, name: &str) -> NodeId {
    fabric.find_node(name).unwrap_or_else(|| panic!("no node is called {name}"))
}

/// Asserts the invariants of every generated fabric.
pub(crate) fn assert_sound(fabric: &Fabric) {
    assert_sound_parts(fabric, 1);
    steps(fabric, NodeId::new(0));
}

/// Asserts the invariants of generated fabrics with `parts` equal parts.
pub(crate) fn assert_sound_parts(fabric: &Fabric, parts: usize) {
    let in_part = reached(fabric, NodeId::new(0)).into_iter().flatten().count();
    assert_eq!(in_part * parts, fabric.nodes().len(), "nodes in the part of the first");
    let ends: Vec<PortRef> = fabric.cables().iter().flat_map(|cable| cable.ends).collect();
    let distinct: BTreeSet<PortRef> = ends.iter().copied().collect();
    assert_eq!(ends.len(), distinct.len(), "a port holds two cables");
    for end in &ends {
        assert!((1..=fabric.node(end.node).ports).contains(&end.port), "no port {end:?}");
    }
    assert!(fabric.cables().iter().all(|cable| cable.ends[0].node != cable.ends[1].node));
    assert_order(fabric);
    for id in fabric.node_ids().filter(|id| !fabric.node(*id).is_switch()) {
        assert_eq!(fabric.node(id).kind, NodeKind::Host);
        assert_eq!(fabric.channels_from(id).count(), 1, "a host has one cable");
    }
}

/// Asserts that GUIDs count up in canonical order, switches first, each kind from its own first
/// GUID.
fn assert_order(fabric: &Fabric) {
    let switch_count = fabric.switches().len();
    for (index, node) in fabric.nodes().iter().enumerate() {
        let (first, number) = if index < switch_count {
            (0x0000_5000_0000_0000_u64, index)
        } else {
            (0x0000_4000_0000_0000_u64, index - switch_count)
        };
        assert_eq!(node.guid.map(|guid| guid.0), Some(first + number as u64), "{}", node.name);
        assert_eq!(node.name, node.description, "the given name was unique");
    }
}
