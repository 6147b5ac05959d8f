//! Top switches of a tree, derived from its hosts.
//!
//! ```text
//!   rank 0    s0    s1     tops: smallest sum of squared hops to leaves
//!             │ ╲  ╱ │
//!             │  ╲╱  │
//!             │  ╱╲  │
//!   rank 1    s2     s3    leaves: switches with hosts
//!            h0 h1  h2 h3
//! ```
//!
//! A connected component is a tree if up*/down* from its tops preserves nearly all its shortest
//! paths:
//!
//! 1. **Leaves** have more than a third of the mean number of hosts per switch with hosts (a spine
//!    may have a server).
//! 2. **Tops** are the other switches whose sum of squared hops to all leaves is smaller than each
//!    neighbour's. (With two pods, the mean distance does not distinguish tops from switches in the
//!    middle of a pod.) Ranks are hops to the nearest top.
//! 3. **Inverted switches are corrected.** A switch without hosts or lower neighbours, but on
//!    shortest paths between leaves, is a top that lost cables. It gets the rank above its
//!    neighbours.
//! 4. **Checks.** No cable joins equal ranks; switches below a leaf have no other path up; at most
//!    one pair of hosts in twenty loses all its shortest paths (because of missing cables).
//! 5. **Tops at several heights**, as in the second drawing, fail the checks. Ranks are then
//!    counted upwards from the leaves, with the same checks of cables and shortest paths.
//!
//! ```text
//!   rank 0         c           tops: c, and p at another height
//!                 ╱ ╲
//!   rank 1   p   m   m
//!           ╱ ╲ ╱     ╲
//!   rank 2 l   l       l
//! ```
//!
//! Ranks are as in OpenSM's "updn" engine (`osm_ucast_updn.c`). The rule for tops is ours, because
//! OpenSM's (`osm_updn_find_root_nodes_by_min_hop`) fails if leaves have different depths.

use super::orientation::{Orientation, breadth_first_ranks};
use super::phases;
use crate::parallel::Threads;
use crate::routing::paths::graph::SwitchGraph;
use crate::{Fabric, NodeId};

const MEAN_PER_LEAF: u64 = 3;
const PAIRS_PER_DETOUR: u64 = 20;

pub(super) fn ranks(fabric: &Fabric, graph: &SwitchGraph) -> Vec<u32> {
    ranked(fabric, graph).0
}

pub(super) fn ranked<'a>(fabric: &Fabric, graph: &'a SwitchGraph) -> (Vec<u32>, Vec<Island<'a>>) {
    let islands = graph.islands();
    let lowest: Vec<_> =
        graph.switches().filter(|switch| islands[switch.index()] == *switch).collect();
    let mut ranks = breadth_first_ranks(graph, &lowest);
    let mut trees = Vec::new();
    for lowest in lowest {
        let members = graph.switches().filter(|switch| islands[switch.index()] == lowest);
        let island = Island::new(graph, members.collect());
        let with_tree = |of_tree: Vec<u32>| {
            let mut with_tree = ranks.clone();
            for switch in &island.members {
                with_tree[switch.index()] = of_tree[switch.index()];
            }
            island.keeps_shortest_paths(fabric, &with_tree).then_some(with_tree)
        };
        let from_tops = island.ranks_below_tops().and_then(with_tree);
        let found = from_tops.or_else(|| island.ranks_above_leaves().and_then(with_tree));
        if let Some(found) = found {
            ranks = found;
            trees.push(island);
        }
    }
    (ranks, trees)
}

pub(super) struct Island<'a> {
    graph: &'a SwitchGraph,
    pub(super) members: Vec<NodeId>,
    leaves: Vec<NodeId>,
}

impl<'a> Island<'a> {
    fn new(graph: &'a SwitchGraph, members: Vec<NodeId>) -> Self {
        let hosts = |switch: NodeId| u64::from(graph.host_count(switch));
        let all: u64 = members.iter().map(|switch| hosts(*switch)).sum();
        let with_hosts = members.iter().filter(|switch| hosts(**switch) > 0).count() as u64;
        let is_leaf = |switch: &NodeId| hosts(*switch) * with_hosts * MEAN_PER_LEAF > all;
        let leaves = members.iter().copied().filter(is_leaf).collect();
        Self { graph, members, leaves }
    }

    fn ranks_below_tops(&self) -> Option<Vec<u32>> {
        let tops = self.tops();
        if tops.is_empty() || self.leaves.len() < 2 {
            return None;
        }
        let mut ranks = breadth_first_ranks(self.graph, &tops);
        if !self.is_layered(&ranks) {
            return None;
        }
        self.turn_over(&mut ranks);
        let ends_there = |leaf: &NodeId| self.nothing_passes_through(*leaf, &ranks);
        self.leaves.iter().all(ends_there).then_some(ranks)
    }

    fn ranks_above_leaves(&self) -> Option<Vec<u32>> {
        if self.leaves.len() == self.members.len() || self.leaves.len() < 2 {
            return None;
        }
        let mut ranks = breadth_first_ranks(self.graph, &self.leaves);
        let highest = self.members.iter().map(|switch| ranks[switch.index()]).max()?;
        for switch in &self.members {
            ranks[switch.index()] = highest - ranks[switch.index()];
        }
        self.is_layered(&ranks).then_some(ranks)
    }

    fn tops(&self) -> Vec<NodeId> {
        let mut is_leaf = vec![false; self.graph.switch_count()];
        for leaf in &self.leaves {
            is_leaf[leaf.index()] = true;
        }
        if self.leaves.len() == self.members.len() {
            return Vec::new();
        }
        let sums = self.sums_of_squares(self.threads(self.leaves.len()));
        let is_top = |switch: &NodeId| {
            let mut steps = self.graph.hops_from(*switch).iter();
            let sum = sums[switch.index()];
            !is_leaf[switch.index()] && steps.all(|step| sums[step.to.index()] > sum)
        };
        self.members.iter().copied().filter(is_top).collect()
    }

    fn sums_of_squares(&self, threads: Threads) -> Vec<u64> {
        let parts = threads.share(|part| {
            let mut sums = vec![0; self.graph.switch_count()];
            for leaf in part.of(self.leaves.iter()) {
                let hops = self.graph.distances(*leaf);
                for switch in &self.members {
                    sums[switch.index()] += u64::from(hops[switch.index()]).pow(2);
                }
            }
            sums
        });
        let added = |mut all: Vec<u64>, part: Vec<u64>| {
            all.iter_mut().zip(part).for_each(|(all, part)| *all += part);
            all
        };
        parts.into_iter().reduce(added).expect("there is a part")
    }

    fn threads(&self, searches: usize) -> Threads {
        Threads::for_steps((searches * self.graph.hop_count()) as u64)
    }

    fn is_layered(&self, ranks: &[u32]) -> bool {
        let differs = |switch: NodeId| {
            let rank = ranks[switch.index()];
            self.graph.hops_from(switch).iter().all(|step| ranks[step.to.index()] != rank)
        };
        self.members.iter().all(|switch| differs(*switch))
    }

    /// Corrects inverted switches; terminates because ranks decrease each time.
    fn turn_over(&self, ranks: &mut [u32]) {
        loop {
            let stands = |switch: &NodeId| self.is_upside_down(*switch, ranks);
            let candidates: Vec<_> = self.members.iter().copied().filter(stands).collect();
            let turned = self.passed(&candidates);
            if turned.is_empty() {
                return;
            }
            // Each inverted switch is below all its neighbours, so no two of them are neighbours.
            for switch in turned {
                ranks[switch.index()] -= 2;
            }
        }
    }

    fn is_upside_down(&self, switch: NodeId, ranks: &[u32]) -> bool {
        let rank = ranks[switch.index()];
        let mut neighbours = self.graph.hops_from(switch).iter();
        self.graph.host_count(switch) == 0
            && rank >= 2
            && neighbours.all(|step| ranks[step.to.index()] < rank)
    }

    fn passed(&self, candidates: &[NodeId]) -> Vec<NodeId> {
        let mut open: Vec<_> =
            candidates.iter().map(|switch| (*switch, self.graph.distances(*switch))).collect();
        let mut passed = Vec::new();
        for from in &self.leaves {
            if open.is_empty() {
                break;
            }
            let direct = self.graph.distances(*from);
            open.retain(|(switch, hops)| {
                let by = |to: &NodeId| hops[from.index()] + hops[to.index()];
                let is_passed = self.leaves.iter().any(|to| by(to) == direct[to.index()]);
                if is_passed {
                    passed.push(*switch);
                }
                !is_passed
            });
        }
        passed
    }

    fn nothing_passes_through(&self, leaf: NodeId, ranks: &[u32]) -> bool {
        let below = |switch: NodeId, of: NodeId| ranks[switch.index()] > ranks[of.index()];
        let steps = self.graph.hops_from(leaf);
        steps.iter().filter(|step| below(step.to, leaf)).all(|step| {
            let onward = self.graph.hops_from(step.to);
            onward.iter().all(|onward| onward.to == leaf || below(onward.to, step.to))
        })
    }

    fn keeps_shortest_paths(&self, fabric: &Fabric, ranks: &[u32]) -> bool {
        let orientation = Orientation::by_rank(fabric, self.graph, ranks);
        let (pairs, detours) = self.detours(&orientation, self.threads(self.members.len()));
        detours * PAIRS_PER_DETOUR <= pairs
    }

    fn detours(&self, orientation: &Orientation, threads: Threads) -> (u64, u64) {
        let hosts = |switch: NodeId| u64::from(self.graph.host_count(switch));
        let with_hosts: Vec<_> =
            self.members.iter().copied().filter(|switch| hosts(*switch) > 0).collect();
        let parts = threads.share(|part| {
            let (mut pairs, mut detours) = (0, 0);
            for &to in part.of(with_hosts.iter()) {
                let lawful = phases::hops(self.graph, orientation, to, |_| false);
                let shortest = self.graph.distances(to);
                for from in self.members.iter().copied().filter(|from| *from != to) {
                    let weight = hosts(from) * hosts(to);
                    let detour = lawful[phases::start(from).index()] > shortest[from.index()];
                    pairs += weight;
                    detours += if detour { weight } else { 0 };
                }
            }
            (pairs, detours)
        });
        let sum = |(pairs, detours), (more, of_them)| (pairs + more, detours + of_them);
        parts.into_iter().fold((0, 0), sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::{Generator, Irregular, Torus};

    #[test]
    fn distance_sums_are_independent_of_thread_count() {
        let irregular = Irregular {
            switches: 20,
            ports: 6,
            hosts_per_switch: 2,
            cables_per_pair_max: 1,
            rails: 1,
        };
        let torus = Torus { dimensions: vec![5, 5], hosts_per_switch: 2, rails: 1 };
        for generator in [Generator::Irregular(irregular), Generator::Torus(torus)] {
            let fabric = generator.generate(1).expect("lawful parameters");
            let graph = SwitchGraph::new(&fabric);
            let island = Island::new(&graph, graph.switches().collect());
            let ranks = breadth_first_ranks(&graph, &[NodeId::new(0)]);
            let orientation = Orientation::by_rank(&fabric, &graph, &ranks);
            let sums = |threads| island.sums_of_squares(Threads::exactly(threads));
            let detours = |threads| island.detours(&orientation, Threads::exactly(threads));
            assert!(detours(1).1 > 0, "one root is not enough for all shortest paths");
            for threads in [2, 3, 50] {
                assert_eq!(sums(threads), sums(1));
                assert_eq!(detours(threads), detours(1));
            }
        }
    }
}
