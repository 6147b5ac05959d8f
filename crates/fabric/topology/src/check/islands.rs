//! Check for islands: connected components without a path to the largest component.

use crate::cluster::{Cluster, Naming};
use crate::finding::plural;
use crate::{Fabric, Finding, FindingKind, NodeId, NodeKind};

/// Reports islands, but not the planes of a multi-plane network.
pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let mut parts = parts(fabric);
    parts.retain(|part| !is_lone_host(fabric, part));
    if parts.len() > 1 {
        let planes = Cluster::of(fabric, &Naming::default()).planes;
        let is_plane =
            |part: &[NodeId]| planes.iter().any(|plane| part.binary_search(&plane[0]).is_ok());
        let mut planes_before = 0;
        parts.retain(|part| {
            let is_further = is_plane(part) && planes_before > 0;
            planes_before += usize::from(is_plane(part));
            !is_further
        });
    }
    // If several components are equally large, the first is the main one. `max_by_key` alone would
    // return the last.
    let mainland = (0..parts.len()).rev().max_by_key(|index| parts[*index].len());
    let islands = parts.iter().enumerate().filter(|(index, _)| Some(*index) != mainland);
    islands
        .map(|(_, part)| Finding::of_fabric(FindingKind::Island, describe(fabric, part)))
        .collect()
}

pub(super) fn parts(fabric: &Fabric) -> Vec<Vec<NodeId>> {
    let mut is_seen = vec![false; fabric.nodes().len()];
    let mut parts = Vec::new();
    for start in fabric.node_ids() {
        if std::mem::replace(&mut is_seen[start.index()], true) {
            continue;
        }
        let mut part = vec![start];
        let mut next = 0;
        while next < part.len() {
            for channel in fabric.channels_from(part[next]) {
                let neighbour = fabric.target(channel).node;
                if !std::mem::replace(&mut is_seen[neighbour.index()], true) {
                    part.push(neighbour);
                }
            }
            next += 1;
        }
        part.sort_unstable();
        parts.push(part);
    }
    parts
}

fn is_lone_host(fabric: &Fabric, part: &[NodeId]) -> bool {
    part.len() == 1 && fabric.node(part[0]).kind == NodeKind::Host
}

fn describe(fabric: &Fabric, part: &[NodeId]) -> String {
    let first = &fabric.node(part[0]).name;
    if part.len() == 1 {
        return format!("{first} has no cable");
    }
    let count = |kind| part.iter().filter(|id| fabric.node(**id).kind == kind).count();
    let switches = plural(count(NodeKind::Switch), "switch", "switches");
    let hosts = plural(count(NodeKind::Host), "host", "hosts");
    format!("{switches} and {hosts} around {first} are joined to nothing else")
}
