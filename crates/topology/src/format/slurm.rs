//! The fabric as `topology.conf` of Slurm's tree plug-in, by which it places jobs.
//!
//! ```text
//!   SwitchName=leaf1 Nodes=node1,node2
//!   SwitchName=leaf2 Nodes=node3
//!   SwitchName=top Switches=leaf1,leaf2
//! ```
//!
//! Slurm wants a tree in which a switch has nodes or switches below it, and each node one switch.
//! Leaves that are the rails of a set of nodes are one switch (`groups`). An island whose
//! switches are no tree becomes its leaf switches below one top that stands for
//! all others, which keeps the question that Slurm asks: which nodes share a leaf? A switch of a
//! tree with both nodes and switches is written as two; one with nothing below is left out.
//!
//! A node is called by the first word of its description, as `hostname HCA-1` is usual. Adapters
//! whose description names no host, or belongs to several systems, are left out (`nodes`).
//!
//! Invariants: each switch that is named below another has been written before; each node is
//! written once.
//!
//! Source: Slurm, `topology.conf(5)`.

mod groups;
mod names;
mod nodes;

use self::groups::{Group, Groups};
use self::names::Names;
use self::nodes::{Nodes, first_of};
use super::text::Written;
use crate::Fabric;
use crate::finding::plural;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// The lines of a `topology.conf`.
pub(super) fn write(fabric: &Fabric) -> Written {
    let hosts = Nodes::of(fabric);
    let mut names = Names::default();
    let groups = Groups::of(fabric, &hosts, &mut names);
    let mut notes = hosts.notes;
    notes.extend(group_notes(fabric, &groups));
    let islands = groups.islands();
    let mut writer = ConfWriter {
        groups: groups.groups,
        names,
        text: String::new(),
        empty: Vec::new(),
        made_tops: false,
    };
    writer.line("# Written by gingham; for TopologyPlugin=topology/tree.");
    writer.rails(fabric);
    for (number, island) in islands.iter().enumerate() {
        writer.island(island, number);
    }
    if writer.made_tops {
        notes.push("the switches are no tree: all above the leaves stand as one".to_owned());
    }
    if !writer.empty.is_empty() {
        let names: Vec<&str> = writer.empty.iter().map(String::as_str).collect();
        let count = plural(names.len(), "switch", "switches");
        notes.push(format!("{count} with no node below left out: {}", first_of(&names)));
    }
    notes.push("Slurm's file holds which nodes are near, no ports and no speeds".to_owned());
    Written { text: writer.text, notes }
}

/// Notes on merged leaves and on nodes with cables to several switches.
fn group_notes(fabric: &Fabric, groups: &Groups) -> Vec<String> {
    let mut notes = Vec::new();
    let merged: Vec<&Group> = groups.groups.iter().filter(|g| g.switches.len() > 1).collect();
    if let Some(first) = merged.first() {
        let switches = merged.iter().map(|group| group.switches.len()).sum();
        let switches = plural(switches, "leaf", "leaves");
        let into = plural(merged.len(), "switch", "switches");
        let example = switch_names(fabric, first);
        notes.push(format!(
            "{switches} merged into {into}, for they have the same nodes: {} stands for {example}",
            first.name
        ));
    }
    if groups.divided > 0 {
        let count = plural(groups.divided, "node", "nodes");
        let where_to = "placed where most of the cables are";
        notes.push(format!("{count} on several leaves that share few nodes: {where_to}"));
    }
    notes
}

fn switch_names(fabric: &Fabric, group: &Group) -> String {
    let names: Vec<&str> = group.switches.iter().map(|id| &*fabric.node(*id).name).collect();
    names.join(", ")
}

struct ConfWriter {
    groups: Vec<Group>,
    names: Names,
    text: String,
    /// Names of switches with nothing below.
    empty: Vec<String>,
    /// Whether an island has cycles.
    made_tops: bool,
}

impl ConfWriter {
    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes any text");
    }

    /// A comment for each switch of the file that stands for several.
    fn rails(&mut self, fabric: &Fabric) {
        for position in 0..self.groups.len() {
            let group = &self.groups[position];
            if group.switches.len() > 1 {
                let names = switch_names(fabric, group).replace(|c: char| c.is_control(), "_");
                self.line(&format!("# {} stands for {names}.", self.groups[position].name));
            }
        }
    }

    fn switch(&mut self, name: &str, what: &str, below: &[String]) {
        self.line(&format!("SwitchName={name} {what}={}", below.join(",")));
    }

    fn island(&mut self, island: &[usize], number: usize) {
        if island.iter().all(|group| self.groups[*group].nodes.is_empty()) {
            let names = island.iter().map(|group| self.groups[*group].name.clone());
            self.empty.extend(names);
        } else if self.is_tree(island) {
            self.tree(island);
        } else {
            self.leaves_below_one_top(island, number);
        }
    }

    /// Connected switches with one joint less than there are of them.
    fn is_tree(&self, island: &[usize]) -> bool {
        let ends: usize = island.iter().map(|group| self.groups[*group].neighbours.len()).sum();
        ends == 2 * (island.len() - 1)
    }

    fn tree(&mut self, island: &[usize]) {
        let root = self.centre(island);
        let mut below: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        // From the leaves to the root: each child is written, or known to be empty, before its parent.
        for (group, above) in self.downwards(root).into_iter().rev() {
            let switches = below.remove(&group).unwrap_or_default();
            let name = self.groups[group].name.clone();
            if switches.is_empty() && self.groups[group].nodes.is_empty() {
                self.empty.push(name);
                continue;
            }
            self.branch(group, switches);
            if let Some(above) = above {
                below.entry(above).or_default().push(name);
            }
        }
    }

    /// The groups of a tree with the one above each, the root first.
    fn downwards(&self, root: usize) -> Vec<(usize, Option<usize>)> {
        let mut queue = VecDeque::from([(root, None)]);
        let mut order = Vec::new();
        while let Some((group, above)) = queue.pop_front() {
            order.push((group, above));
            let below = self.groups[group].neighbours.iter().filter(|next| Some(**next) != above);
            queue.extend(below.map(|next| (*next, Some(group))));
        }
        order
    }

    fn branch(&mut self, group: usize, mut switches: Vec<String>) {
        let name = self.groups[group].name.clone();
        let nodes: Vec<String> = self.groups[group].nodes.iter().cloned().collect();
        switches.reverse();
        if switches.is_empty() {
            self.switch(&name, "Nodes", &nodes);
        } else if nodes.is_empty() {
            self.switch(&name, "Switches", &switches);
        } else {
            let own = self.names.unique(&format!("{name}-nodes"));
            self.switch(&own, "Nodes", &nodes);
            switches.push(own);
            self.switch(&name, "Switches", &switches);
        }
    }

    /// The group from which the farthest is nearest; of equals, the first without nodes.
    fn centre(&self, island: &[usize]) -> usize {
        let farthest = |group: &usize| {
            let mut seen = BTreeSet::from([*group]);
            let mut ring = vec![*group];
            let mut hops = 0;
            while !ring.is_empty() {
                hops += 1;
                let near = ring.iter().flat_map(|near| self.groups[*near].neighbours.iter());
                ring = near.copied().collect();
                ring.retain(|group| seen.insert(*group));
            }
            (hops, !self.groups[*group].nodes.is_empty())
        };
        island.iter().copied().min_by_key(farthest).expect("an island has a switch")
    }

    fn leaves_below_one_top(&mut self, island: &[usize], number: usize) {
        self.line("# These switches are no tree; one top stands for all that have no nodes.");
        let mut leaves = Vec::new();
        for group in island {
            let group = &self.groups[*group];
            let nodes: Vec<String> = group.nodes.iter().cloned().collect();
            if !nodes.is_empty() {
                let name = group.name.clone();
                self.switch(&name, "Nodes", &nodes);
                leaves.push(name);
            }
        }
        self.made_tops = true;
        let top = self.names.unique(&format!("top{number}"));
        self.switch(&top, "Switches", &leaves);
    }
}
