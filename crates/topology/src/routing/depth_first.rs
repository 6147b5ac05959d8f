//! Ranks of a depth-first search, for up*/down* that forbids less near the root.
//!
//! ```text
//!   s0 ── s1        met in the order s0, s1, s3, s2: up is towards what was met earlier
//!   │      │
//!   s2 ── s3        ranks  s0 0, s1 1, s3 2, s2 3
//! ```
//!
//! The search goes on from a switch to the unmet neighbour with most cables to switches met so
//! far; of equals to the one with the largest sum of hops to all others, then to the lowest.
//! Every switch but the root has a neighbour with a lower rank, its parent in the tree, so that
//! every two of an island are joined by a legal path.
//!
//! Source: Sancho, Robles and Duato, "A new methodology to compute deadlock-free routing tables
//! for irregular networks", CANPC 2000; the rules for the root and the next switch are theirs as
//! far as we know them, that up leads to the earlier switch is our reading.

use super::graph::{SwitchGraph, UNREACHED};
use super::root::total_distance;
use crate::NodeId;
use std::cmp::Reverse;

/// The order in which searches from the roots meet the switches of their islands.
pub(super) fn ranks(graph: &SwitchGraph, roots: &[NodeId]) -> Vec<u32> {
    let mut search = Search {
        graph,
        totals: graph.switches().map(|switch| total_distance(graph, switch)).collect(),
        ranks: vec![UNREACHED; graph.switch_count()],
        met: 0,
        cables_to_met: vec![0; graph.switch_count()],
    };
    for root in roots {
        search.run_from(*root);
    }
    search.ranks
}

struct Search<'a> {
    graph: &'a SwitchGraph,
    /// By switch: hops to all others.
    totals: Vec<u64>,
    ranks: Vec<u32>,
    /// Number of switches met.
    met: u32,
    /// By switch: cables to switches that were met.
    cables_to_met: Vec<u32>,
}

impl Search<'_> {
    fn run_from(&mut self, root: NodeId) {
        self.meet(root);
        let mut path = vec![root];
        while let Some(&switch) = path.last() {
            match self.next(switch) {
                Some(next) => {
                    self.meet(next);
                    path.push(next);
                }
                None => _ = path.pop(),
            }
        }
    }

    fn meet(&mut self, switch: NodeId) {
        self.ranks[switch.index()] = self.met;
        self.met += 1;
        for step in self.graph.steps(switch) {
            self.cables_to_met[step.to.index()] += 1;
        }
    }

    fn next(&self, switch: NodeId) -> Option<NodeId> {
        let neighbours = self.graph.steps(switch).iter().map(|step| step.to);
        let unmet = neighbours.filter(|near| self.ranks[near.index()] == UNREACHED);
        unmet.min_by_key(|near| {
            let place = near.index();
            (Reverse(self.cables_to_met[place]), Reverse(self.totals[place]), *near)
        })
    }
}
