//! Conversion of groups of switches to switches of `topology/tree`.

use super::groups::Groups;
use super::members::first_of;
use super::{Below, Entry, Form, Topology};
use crate::finding::plural;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const ONE_TOP: &str = "These switches are not a tree; one top replaces all that have no nodes.";

pub(super) fn topology(groups: Groups) -> Topology {
    let islands = groups.islands();
    let mut tree = Tree { groups, entries: Vec::new(), empty: Vec::new(), made_tops: false };
    for (number, island) in islands.iter().enumerate() {
        tree.island(island, number);
    }
    let mut notes = Vec::new();
    let mut comments = Vec::new();
    if tree.made_tops {
        comments.push(ONE_TOP.to_owned());
        notes.push(
            "the switches are not a tree: one switch replaces all above the leaves".to_owned(),
        );
    }
    if !tree.empty.is_empty() {
        let names: Vec<&str> = tree.empty.iter().map(String::as_str).collect();
        let count = plural(names.len(), "switch", "switches");
        notes.push(format!("{count} with no node below left out: {}", first_of(&names)));
    }
    let entries = tree.entries;
    Topology { form: Form::Tree, entries, block_size: None, comments, notes }
}

struct Tree {
    groups: Groups,
    entries: Vec<Entry>,
    empty: Vec<String>,
    /// Whether a top switch was added for a connected component with cycles.
    made_tops: bool,
}

impl Tree {
    fn name(&self, group: usize) -> String {
        self.groups.all[group].name.clone()
    }

    fn nodes(&self, group: usize) -> &[String] {
        &self.groups.all[group].nodes
    }

    fn neighbours(&self, group: usize) -> &BTreeSet<usize> {
        &self.groups.all[group].neighbours
    }

    fn entry(&mut self, name: String, below: Below) {
        self.entries.push(Entry { name, below });
    }

    fn island(&mut self, island: &[usize], number: usize) {
        if island.iter().all(|group| self.nodes(*group).is_empty()) {
            let names = island.iter().map(|group| self.name(*group));
            self.empty.extend(names.collect::<Vec<_>>());
        } else if self.is_tree(island) {
            self.tree(island);
        } else {
            self.leaves_below_one_top(island, number);
        }
    }

    fn is_tree(&self, island: &[usize]) -> bool {
        let ends: usize = island.iter().map(|group| self.neighbours(*group).len()).sum();
        ends == 2 * (island.len() - 1)
    }

    fn tree(&mut self, island: &[usize]) {
        let root = self.centre(island);
        let mut below: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        // Leaves come first, so that children are processed before their parents.
        for (group, above) in self.downwards(root).into_iter().rev() {
            let switches = below.remove(&group).unwrap_or_default();
            let name = self.name(group);
            if switches.is_empty() && self.nodes(group).is_empty() {
                self.empty.push(name);
                continue;
            }
            self.branch(group, switches);
            if let Some(above) = above {
                below.entry(above).or_default().push(name);
            }
        }
    }

    fn downwards(&self, root: usize) -> Vec<(usize, Option<usize>)> {
        let mut queue = VecDeque::from([(root, None)]);
        let mut order = Vec::new();
        while let Some((group, above)) = queue.pop_front() {
            order.push((group, above));
            let below = self.neighbours(group).iter().filter(|next| Some(**next) != above);
            queue.extend(below.map(|next| (*next, Some(group))));
        }
        order
    }

    fn branch(&mut self, group: usize, mut switches: Vec<String>) {
        let name = self.name(group);
        let nodes = self.nodes(group).to_vec();
        switches.reverse();
        if switches.is_empty() {
            self.entry(name, Below::Nodes(nodes));
            return;
        }
        if !nodes.is_empty() {
            let own = self.groups.names.unique(&format!("{name}-nodes"));
            self.entry(own.clone(), Below::Nodes(nodes));
            switches.push(own);
        }
        self.entry(name, Below::Switches(switches));
    }

    /// Returns the group with the smallest distance to the farthest group, preferably a group
    /// without nodes.
    fn centre(&self, island: &[usize]) -> usize {
        let farthest = |group: &usize| {
            let mut seen = BTreeSet::from([*group]);
            let mut ring = vec![*group];
            let mut hops = 0;
            while !ring.is_empty() {
                hops += 1;
                let near = ring.iter().flat_map(|near| self.neighbours(*near).iter());
                ring = near.copied().collect();
                ring.retain(|group| seen.insert(*group));
            }
            (hops, !self.nodes(*group).is_empty())
        };
        island.iter().copied().min_by_key(farthest).expect("an island has a switch")
    }

    fn leaves_below_one_top(&mut self, island: &[usize], number: usize) {
        let mut leaves = Vec::new();
        for group in island {
            let nodes = self.nodes(*group).to_vec();
            if !nodes.is_empty() {
                let name = self.name(*group);
                self.entry(name.clone(), Below::Nodes(nodes));
                leaves.push(name);
            }
        }
        self.made_tops = true;
        let top = self.groups.names.unique(&format!("top{number}"));
        self.entry(top, Below::Switches(leaves));
    }
}
