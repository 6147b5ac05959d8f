//! Groups of switches that appear as one switch in Slurm's file: all leaves of a unit.
//!
//! ```text
//!   r1 ── n1, n2 ── r2       unit of two leaves: group "r1" with n1 and n2
//!    ╲             ╱
//!         spine              group of one switch
//! ```

use super::members::Members;
use super::names::Names;
use crate::cluster::Cluster;
use crate::finding::plural;
use crate::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug)]
pub(super) struct Group {
    switches: Vec<NodeId>,
    pub(super) name: String,
    pub(super) nodes: Vec<String>,
    pub(super) neighbours: BTreeSet<usize>,
}

#[derive(Debug)]
pub(super) struct Groups {
    pub(super) all: Vec<Group>,
    pub(super) names: Names,
    divided: usize,
}

impl Groups {
    pub(super) fn of(fabric: &Fabric, cluster: &Cluster, members: &Members) -> Self {
        let mut group_of: Vec<usize> = vec![usize::MAX; fabric.switches().len()];
        let first_leaf = first_leaves(cluster);
        let mut names = Names::default();
        let mut groups: Vec<Group> = Vec::new();
        for switch in fabric.switches() {
            let name = names.unique(&fabric.node(switch).name);
            let first = first_leaf.get(&switch).copied().unwrap_or(switch);
            if first != switch {
                let group = group_of[first.index()];
                group_of[switch.index()] = group;
                groups[group].switches.push(switch);
                continue;
            }
            group_of[switch.index()] = groups.len();
            let (switches, nodes) = (vec![switch], Vec::new());
            groups.push(Group { switches, name, nodes, neighbours: BTreeSet::new() });
        }
        join(fabric, &group_of, &mut groups);
        let mut divided = 0;
        for (node, name) in cluster.nodes.iter().zip(&members.names) {
            let Some((name, unit)) = name.as_ref().zip(node.unit) else { continue };
            let group = group_of[cluster.units[unit].leaves[0].index()];
            groups[group].nodes.push(name.clone());
            let leaves = node.adapters.iter().filter_map(|adapter| adapter.leaf);
            let at: BTreeSet<usize> = leaves.map(|leaf| group_of[leaf.index()]).collect();
            divided += usize::from(at.len() > 1);
        }
        Self { all: groups, names, divided }
    }

    pub(super) fn notes(&self, fabric: &Fabric) -> Vec<String> {
        let mut notes = Vec::new();
        let merged: Vec<&Group> = self.merged().collect();
        if let Some(first) = merged.first() {
            let switches = merged.iter().map(|group| group.switches.len()).sum();
            let switches = plural(switches, "leaf", "leaves");
            let into = plural(merged.len(), "switch", "switches");
            let example = switch_names(fabric, first);
            notes.push(format!(
                "{switches} merged into {into}, because they have the same nodes: {} stands for {example}",
                first.name
            ));
        }
        if self.divided > 0 {
            let count = plural(self.divided, "node", "nodes");
            let where_to = "placed where most of the cables are";
            notes.push(format!("{count} on several leaves that share few nodes: {where_to}"));
        }
        notes
    }

    pub(super) fn comments(&self, fabric: &Fabric) -> Vec<String> {
        let comment = |group: &Group| {
            let names = switch_names(fabric, group).replace(|c| !is_printable(c), "_");
            format!("{} stands for {names}.", group.name)
        };
        self.merged().map(comment).collect()
    }

    /// Returns the groups that have nodes and consist of several leaves.
    fn merged(&self) -> impl Iterator<Item = &Group> {
        self.all.iter().filter(|group| group.switches.len() > 1 && !group.nodes.is_empty())
    }

    pub(super) fn islands(&self) -> Vec<Vec<usize>> {
        let mut is_seen = vec![false; self.all.len()];
        let mut islands = Vec::new();
        for start in 0..self.all.len() {
            let mut island = Vec::new();
            let mut open = vec![start];
            while let Some(group) = open.pop() {
                if !std::mem::replace(&mut is_seen[group], true) {
                    island.push(group);
                    open.extend(&self.all[group].neighbours);
                }
            }
            island.sort_unstable();
            islands.push(island);
        }
        islands.retain(|island| !island.is_empty());
        islands
    }
}

fn first_leaves(cluster: &Cluster) -> BTreeMap<NodeId, NodeId> {
    let units = cluster.units.iter();
    units.flat_map(|unit| unit.leaves.iter().map(|leaf| (*leaf, unit.leaves[0]))).collect()
}

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

/// Returns whether a character is safe in comments of all formats.
fn is_printable(c: char) -> bool {
    c.is_alphanumeric() || c.is_ascii_graphic() || c == ' '
}

fn switch_names(fabric: &Fabric, group: &Group) -> String {
    let names: Vec<&str> = group.switches.iter().map(|id| &*fabric.node(*id).name).collect();
    names.join(", ")
}
