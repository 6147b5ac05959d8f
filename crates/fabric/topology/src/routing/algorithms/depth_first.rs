//! Ranks by depth-first search, so that up*/down* forbids fewer turns near the root.
//!
//! ```text
//!   s0 ── s1        visited in the order s0, s1, s3, s2: up is towards the earlier switch
//!    │      │
//!   s2 ── s3        ranks  s0 0, s1 1, s3 2, s2 3
//! ```
//!
//! The search continues to the unvisited neighbour with the most cables to visited switches. Ties
//! go to the neighbour with the largest sum of hops to all other switches, then to the
//! lowest-numbered. Every switch except the root has a neighbour with a lower rank, so legal paths
//! join all switches of a connected component.
//!
//! Source: Sancho, Robles and Duato, "A new methodology to compute deadlock-free routing tables for
//! irregular networks", CANPC 2000. That up leads to the earlier switch is our interpretation.

use super::root::total_distance;
use crate::NodeId;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use std::cmp::Reverse;

pub(crate) fn ranks(graph: &SwitchGraph, roots: &[NodeId]) -> Vec<u32> {
    let mut search = DepthFirst {
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

struct DepthFirst<'a> {
    graph: &'a SwitchGraph,
    totals: Vec<u64>,
    ranks: Vec<u32>,
    met: u32,
    cables_to_met: Vec<u32>,
}

impl DepthFirst<'_> {
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
        for step in self.graph.hops_from(switch) {
            self.cables_to_met[step.to.index()] += 1;
        }
    }

    fn next(&self, switch: NodeId) -> Option<NodeId> {
        let neighbours = self.graph.hops_from(switch).iter().map(|step| step.to);
        let unmet = neighbours.filter(|near| self.ranks[near.index()] == UNREACHED);
        unmet.min_by_key(|near| {
            let place = near.index();
            (Reverse(self.cables_to_met[place]), Reverse(self.totals[place]), *near)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FabricBuilder, Guid, NodeKind};

    fn graph(switches: u64, cables: &[(usize, usize)]) -> SwitchGraph {
        let mut builder = FabricBuilder::new();
        let add = |n| builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(n + 1), 9);
        let nodes: Vec<_> = (0..switches).map(add).collect();
        for (a, b) in cables {
            let ends = [nodes[*a], nodes[*b]];
            let ports = ends.map(|node| builder.free_port(node).expect("a free port"));
            let ends = [(ends[0], ports[0]), (ends[1], ports[1])];
            builder.add_cable(ends, None, None).expect("the ports are free");
        }
        SwitchGraph::new(&builder.build())
    }

    fn ranks_from(root: usize, graph: &SwitchGraph) -> Vec<u32> {
        ranks(graph, &[NodeId::new(root)])
    }

    #[test]
    fn depth_first_search_goes_round_a_ring() {
        // The neighbours of s0 tie, so s1 is next, then its only unvisited neighbour. From s3 the
        // order is s1, s0, s2.
        let ring = graph(4, &[(0, 1), (1, 3), (3, 2), (2, 0)]);
        assert_eq!(ranks_from(0, &ring), [0, 1, 3, 2]);
        assert_eq!(ranks_from(3, &ring), [2, 1, 3, 0]);
    }

    #[test]
    fn neighbour_with_most_cables_to_visited_comes_first() {
        // Two cables lead from s0 to s1, one to s2. From s1, s4 precedes s3, because s4 has a
        // second cable to a visited switch, s0. From s4 only s2 is left.
        let graph = graph(5, &[(0, 1), (0, 1), (0, 2), (1, 3), (1, 4), (4, 0), (4, 2)]);
        assert_eq!(ranks_from(0, &graph), [0, 1, 3, 4, 2]);
    }

    #[test]
    fn equal_neighbours_are_ordered_by_largest_distance_sum() {
        // Sums of hops: s1 and s3 have 1 + 2 + 2 + 3 = 8, s2 has 1 + 1 + 2 + 2 = 6.
        let graph = graph(5, &[(0, 2), (0, 1), (0, 3), (2, 4)]);
        assert_eq!(ranks_from(0, &graph), [0, 1, 3, 2, 4]);
    }

    #[test]
    fn each_island_is_searched_from_its_root() {
        let graph = graph(4, &[(0, 1), (2, 3)]);
        assert_eq!(ranks(&graph, &[NodeId::new(1), NodeId::new(2)]), [1, 0, 2, 3]);
    }
}
