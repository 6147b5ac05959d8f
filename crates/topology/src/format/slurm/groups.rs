//! Switches as Slurm sees them: the rails of a set of nodes are one switch.
//!
//! ```text
//!   r1 ── n1, n2 ── r2       two leaves, one group "r1" with n1 and n2
//!    ╲             ╱
//!         spine              a group by itself
//! ```
//!
//! Two leaves belong to one group if more than half of the nodes of each hang on both, or a chain of
//! such leaves joins them. A node between groups, such as a server with an adapter on each of
//! two leaves of other nodes, joins none: it is placed in the group that has most of its cables, of
//! equals in the one with most nodes.

use super::names::{Names, word};
use super::nodes::Nodes;
use crate::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// One switch of Slurm's file.
#[derive(Debug)]
pub(super) struct Group {
    /// The switches that it stands for, in canonical order.
    pub(super) switches: Vec<NodeId>,
    /// Its name: that of its first switch.
    pub(super) name: String,
    /// The nodes placed here.
    pub(super) nodes: BTreeSet<String>,
    /// Groups that cables join to it, by their position.
    pub(super) neighbours: BTreeSet<usize>,
}

/// All groups, in the order of their first switches.
#[derive(Debug)]
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// Number of nodes with cables to several groups.
    pub(super) divided: usize,
}

impl Groups {
    pub(super) fn of(fabric: &Fabric, nodes: &Nodes, names: &mut Names) -> Self {
        let group_of = group_of(fabric, nodes);
        let mut groups: Vec<Group> = Vec::new();
        for switch in fabric.switches() {
            let name = names.unique(&word(&fabric.node(switch).name));
            match groups.get_mut(group_of[switch.index()]) {
                Some(group) => group.switches.push(switch),
                None => groups.push(Group {
                    switches: vec![switch],
                    name,
                    nodes: BTreeSet::new(),
                    neighbours: BTreeSet::new(),
                }),
            }
        }
        join(fabric, &group_of, &mut groups);
        let divided = place(nodes, &group_of, &mut groups);
        Self { groups, divided }
    }

    /// Sets of groups that cables join, in the order of their first groups.
    pub(super) fn islands(&self) -> Vec<Vec<usize>> {
        let mut is_seen = vec![false; self.groups.len()];
        let mut islands = Vec::new();
        for start in 0..self.groups.len() {
            let mut island = Vec::new();
            let mut open = vec![start];
            while let Some(group) = open.pop() {
                if !std::mem::replace(&mut is_seen[group], true) {
                    island.push(group);
                    open.extend(&self.groups[group].neighbours);
                }
            }
            island.sort_unstable();
            islands.push(island);
        }
        islands.retain(|island| !island.is_empty());
        islands
    }
}

/// By switch: the position of its group.
fn group_of(fabric: &Fabric, nodes: &Nodes) -> Vec<usize> {
    let count = fabric.switches().len();
    let mut size = vec![0_usize; count];
    let mut common: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for cables in nodes.cables.values() {
        let leaves: Vec<NodeId> = cables.keys().copied().collect();
        for (position, leaf) in leaves.iter().enumerate() {
            size[leaf.index()] += 1;
            for other in &leaves[position + 1..] {
                *common.entry((*leaf, *other)).or_default() += 1;
            }
        }
    }
    let mut first: Vec<usize> = (0..count).collect();
    for ((a, b), common) in common {
        if 2 * common > size[a.index()].max(size[b.index()]) {
            let [a, b] = [a, b].map(|leaf| first[leaf.index()]);
            let (low, high) = (a.min(b), a.max(b));
            first.iter_mut().filter(|first| **first == high).for_each(|first| *first = low);
        }
    }
    let firsts: Vec<usize> = first.iter().copied().collect::<BTreeSet<_>>().into_iter().collect();
    first.iter().map(|switch| firsts.partition_point(|first| first < switch)).collect()
}

/// Records which groups are joined by cables.
fn join(fabric: &Fabric, group_of: &[usize], groups: &mut [Group]) {
    for cable in fabric.cables() {
        let ends = cable.ends.map(|end| end.node);
        if ends.iter().all(|node| fabric.node(*node).is_switch()) {
            let [a, b] = ends.map(|switch| group_of[switch.index()]);
            if a != b {
                groups[a].neighbours.insert(b);
                groups[b].neighbours.insert(a);
            }
        }
    }
}

/// Places each node in one group; returns the number of nodes with cables to several.
fn place(nodes: &Nodes, group_of: &[usize], groups: &mut [Group]) -> usize {
    let mut sizes = vec![0_usize; groups.len()];
    let mut cables_of = BTreeMap::new();
    for (node, cables) in &nodes.cables {
        let mut by_group: BTreeMap<usize, usize> = BTreeMap::new();
        for (switch, count) in cables {
            *by_group.entry(group_of[switch.index()]).or_default() += count;
        }
        for group in by_group.keys() {
            sizes[*group] += 1;
        }
        cables_of.insert(node, by_group);
    }
    let mut divided = 0;
    for (node, by_group) in cables_of {
        divided += usize::from(by_group.len() > 1);
        let order = |group: usize| (by_group[&group], sizes[group], std::cmp::Reverse(group));
        let best = by_group.keys().copied().max_by_key(|group| order(*group));
        groups[best.expect("a node has a cable")].nodes.insert(node.clone());
    }
    divided
}
