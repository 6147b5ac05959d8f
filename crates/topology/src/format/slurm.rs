//! The fabric as `topology.conf` of Slurm's tree plug-in, by which it places jobs.
//!
//! ```text
//!   SwitchName=leaf1 Nodes=node1,node2
//!   SwitchName=leaf2 Nodes=node3
//!   SwitchName=top Switches=leaf1,leaf2
//! ```
//!
//! Slurm wants a tree in which a switch has nodes or switches below it, and each node one switch.
//! An island whose switches are no tree becomes its leaf switches below one top that stands for
//! all others, which keeps the question that Slurm asks: which nodes share a leaf? A switch of a
//! tree with both nodes and switches is written as two.
//!
//! A node is called by the first word of its description, as `hostname HCA-1` is usual.
//!
//! Source: Slurm, `topology.conf(5)`.

use super::text::Written;
use crate::routing::{islands, switch_of};
use crate::{Fabric, NodeId};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

/// The lines of a `topology.conf`.
pub(super) fn write(fabric: &Fabric) -> Written {
    let mut writer = ConfWriter::new(fabric);
    writer.line("# Written by gingham; for TopologyPlugin=topology/tree.");
    let mut notes = BTreeSet::new();
    let islands = islands(fabric);
    let tops: BTreeSet<NodeId> = islands.iter().copied().collect();
    for (number, top) in tops.into_iter().enumerate() {
        let members: Vec<NodeId> =
            fabric.switches().filter(|switch| islands[switch.index()] == top).collect();
        if writer.is_tree(&members) {
            writer.tree(&members);
        } else {
            notes.insert("the switches are no tree: all above the leaves stand as one".to_owned());
            writer.leaves_below_one_top(&members, number);
        }
    }
    notes.insert("Slurm's file holds which nodes are near, no ports and no speeds".to_owned());
    Written { text: writer.text, notes: notes.into_iter().collect() }
}

struct ConfWriter<'a> {
    fabric: &'a Fabric,
    /// By switch: the nodes that are written there.
    nodes: Vec<BTreeSet<String>>,
    /// By switch: switches that cables join to it.
    neighbours: Vec<BTreeSet<NodeId>>,
    names: Vec<String>,
    text: String,
}

impl<'a> ConfWriter<'a> {
    fn new(fabric: &'a Fabric) -> Self {
        let mut writer = Self {
            fabric,
            nodes: vec![BTreeSet::new(); fabric.switches().len()],
            neighbours: vec![BTreeSet::new(); fabric.switches().len()],
            names: names(fabric),
            text: String::new(),
        };
        writer.place_nodes();
        for switch in fabric.switches() {
            let far_ends = fabric.channels_from(switch).map(|channel| fabric.target(channel).node);
            let is_other = |node: &NodeId| fabric.node(*node).is_switch() && *node != switch;
            writer.neighbours[switch.index()] = far_ends.filter(is_other).collect();
        }
        writer
    }

    /// A node that hangs on several switches is written at the first.
    fn place_nodes(&mut self) {
        let mut placed: BTreeMap<String, NodeId> = BTreeMap::new();
        let hosts = self.fabric.endpoint_ids();
        for endpoint in hosts.filter(|endpoint| self.fabric.is_host_endpoint(*endpoint)) {
            let node = self.fabric.node(self.fabric.endpoint(endpoint).node);
            let called = first_word(&node.description).unwrap_or(&node.name);
            let Some(switch) = switch_of(self.fabric, endpoint) else { continue };
            let place = *placed.entry(word(called)).or_insert(switch);
            self.nodes[place.index()].insert(word(called));
        }
    }

    fn line(&mut self, line: &str) {
        writeln!(self.text, "{line}").expect("a string takes any text");
    }

    fn switch(&mut self, name: &str, what: &str, below: impl IntoIterator<Item = String>) {
        let below: Vec<String> = below.into_iter().collect();
        if !below.is_empty() {
            self.line(&format!("SwitchName={name} {what}={}", below.join(",")));
        }
    }

    /// Connected switches with one joint less than there are of them.
    fn is_tree(&self, members: &[NodeId]) -> bool {
        let ends: usize = members.iter().map(|switch| self.neighbours[switch.index()].len()).sum();
        ends == 2 * (members.len() - 1)
    }

    fn tree(&mut self, members: &[NodeId]) {
        let Some(root) = self.centre(members) else { return };
        let mut above: BTreeMap<NodeId, Option<NodeId>> = BTreeMap::from([(root, None)]);
        let mut queue = VecDeque::from([root]);
        let mut order = Vec::new();
        while let Some(switch) = queue.pop_front() {
            order.push(switch);
            for &next in &self.neighbours[switch.index()] {
                if Some(next) != above[&switch] {
                    above.insert(next, Some(switch));
                    queue.push_back(next);
                }
            }
        }
        // From the leaves to the root, so that what is named has been written.
        for switch in order.into_iter().rev() {
            let below: Vec<NodeId> =
                above.iter().filter(|(_, top)| **top == Some(switch)).map(|(s, _)| *s).collect();
            self.branch(switch, &below);
        }
    }

    fn branch(&mut self, switch: NodeId, below: &[NodeId]) {
        let name = self.names[switch.index()].clone();
        let nodes: Vec<String> = self.nodes[switch.index()].iter().cloned().collect();
        let below: Vec<String> = below.iter().map(|s| self.names[s.index()].clone()).collect();
        if below.is_empty() {
            self.switch(&name, "Nodes", nodes);
        } else if nodes.is_empty() {
            self.switch(&name, "Switches", below);
        } else {
            let own = format!("{name}-nodes");
            self.switch(&own, "Nodes", nodes);
            self.switch(&name, "Switches", below.into_iter().chain([own]));
        }
    }

    /// The switch from which the farthest is nearest; of equals, the lowest.
    fn centre(&self, members: &[NodeId]) -> Option<NodeId> {
        let farthest = |switch: &&NodeId| {
            let mut seen = BTreeSet::from([**switch]);
            let mut ring = vec![**switch];
            let mut hops = 0;
            while !ring.is_empty() {
                hops += 1;
                let near = ring.iter().flat_map(|s| self.neighbours[s.index()].iter().copied());
                ring = near.collect::<Vec<_>>();
                ring.retain(|s| seen.insert(*s));
            }
            hops
        };
        members.iter().min_by_key(farthest).copied()
    }

    fn leaves_below_one_top(&mut self, members: &[NodeId], number: usize) {
        self.line("# These switches are no tree; one top stands for all that have no nodes.");
        let leaves: Vec<NodeId> =
            members.iter().copied().filter(|s| !self.nodes[s.index()].is_empty()).collect();
        for leaf in &leaves {
            let nodes: Vec<String> = self.nodes[leaf.index()].iter().cloned().collect();
            let name = self.names[leaf.index()].clone();
            self.switch(&name, "Nodes", nodes);
        }
        let names: Vec<String> = leaves.iter().map(|s| self.names[s.index()].clone()).collect();
        self.switch(&format!("top{number}"), "Switches", names);
    }
}

/// Names of switches without characters that the file cannot hold, unique.
fn names(fabric: &Fabric) -> Vec<String> {
    let mut used = BTreeSet::new();
    let unique = |switch: NodeId| {
        let plain = word(&fabric.node(switch).name);
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let mut candidates = std::iter::once(plain.clone()).chain(numbered);
        let name = candidates.find(|name| !used.contains(name)).expect("numbers do not end");
        used.insert(name.clone());
        name
    };
    fabric.switches().map(unique).collect()
}

fn first_word(text: &str) -> Option<&str> {
    text.split_whitespace().next()
}

/// The text with a low line for every character that a list of names cannot hold.
fn word(text: &str) -> String {
    let lawful = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
    text.chars().map(|c| if lawful(c) { c } else { '_' }).collect()
}
