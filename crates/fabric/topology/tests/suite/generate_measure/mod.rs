//! Measurements for the tests of generators: counts and shortest paths, by breadth-first search.

#![allow(dead_code, reason = "each test file uses its part")]

use gingham_topology::generate::Generator;
use gingham_topology::{Fabric, NodeId, NodeKind, PortRef};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// Parameters in the notation of a scenario.
pub(crate) fn fabric(parameters: &str) -> Fabric {
    generator(parameters).generate(0).unwrap_or_else(|error| panic!("{parameters}: {error}"))
}

/// Form `name = { key = value, ... }`.
pub(crate) fn generator(parameters: &str) -> Generator {
    toml::from_str(parameters).unwrap_or_else(|error| panic!("{parameters}: {error}"))
}

#[derive(PartialEq, Eq, Debug)]
pub(crate) struct Counts {
    pub(crate) switches: usize,
    pub(crate) hosts: usize,
    pub(crate) switch_cables: usize,
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

/// Ends of cables between switches.
pub(crate) fn switch_cables(fabric: &Fabric) -> Vec<[NodeId; 2]> {
    let ends = fabric.cables().iter().map(|cable| cable.ends.map(|end| end.node));
    ends.filter(|ends| ends.iter().all(|node| fabric.node(*node).is_switch())).collect()
}

pub(crate) fn cables_by_pair(fabric: &Fabric) -> BTreeMap<[NodeId; 2], usize> {
    let mut by_pair = BTreeMap::new();
    for pair in switch_cables(fabric) {
        *by_pair.entry(pair).or_default() += 1;
    }
    by_pair
}

pub(crate) fn degrees(fabric: &Fabric) -> Vec<usize> {
    let mut degrees = vec![0; fabric.switches().len()];
    for node in switch_cables(fabric).into_iter().flatten() {
        degrees[node.index()] += 1;
    }
    degrees
}

/// Cables on shortest paths; panics if a node is unreachable.
pub(crate) fn steps(fabric: &Fabric, from: NodeId) -> Vec<u32> {
    let steps = reached(fabric, from).into_iter();
    steps.map(|reached| reached.expect("the fabric is connected")).collect()
}

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

/// Cables on shortest paths between switches.
pub(crate) fn switch_steps(fabric: &Fabric) -> Vec<Vec<u32>> {
    let count = fabric.switches().len();
    fabric.switches().map(|switch| steps(fabric, switch)[..count].to_vec()).collect()
}

pub(crate) fn node(fabric: &Fabric, name: &str) -> NodeId {
    fabric.find_node(name).unwrap_or_else(|| panic!("no node is called {name}"))
}

pub(crate) fn assert_sound(fabric: &Fabric) {
    assert_sound_parts(fabric, 1);
    steps(fabric, NodeId::new(0));
}

/// `parts` counts equal parts.
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

/// GUIDs count up in canonical order, each kind from its first GUID.
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
