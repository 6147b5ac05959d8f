//! Orientation of cables for the rule "up, then down".
//!
//! ```text
//!   rank 0        s0           up: towards the lower (rank, id)
//!               ↗ ↑ ↖
//!   rank 1    s1→─┼──s2        s1 - s2 have equal ranks: s1 has the lower id, so s2 -> s1 is up
//!             ... s3 ...
//! ```
//!
//! Invariant: a total order of the switches orients every cable. If a connected component has
//! several roots, `peaks` changes the order until only one switch has no higher neighbour.

use super::depth_first;
use super::error::RouteError;
use super::peaks::Order;
use super::root::{Root, one_root_an_island, roots};
use super::tops;
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{ChannelId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// Ranking of switches for up*/down*.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpanningTree {
    /// By number of hops from the root; at equal distance, the switch with the lower id is higher
    /// up.
    #[default]
    BreadthFirst,
    /// By depth-first search, which prefers the neighbour with the most cables to visited switches,
    /// then the switch farthest from all others. Sancho et al. use `root = "largest-distance"`.
    DepthFirst,
}

#[derive(Debug)]
pub(super) struct Orientation {
    up: Vec<bool>,
    /// Whether any connected component has several switches without a higher neighbour.
    pub(super) has_several_roots: bool,
}

impl Orientation {
    pub(crate) fn new(
        fabric: &Fabric,
        graph: &SwitchGraph,
        root: &Root,
        tree: SpanningTree,
    ) -> Result<Self, RouteError> {
        Ok(Self::by_rank(fabric, graph, &ranks(fabric, graph, root, tree)?))
    }

    pub(super) fn by_rank(fabric: &Fabric, graph: &SwitchGraph, ranks: &[u32]) -> Self {
        let mut order = Order::by_rank(graph, ranks);
        let has_several_roots = order.join_peaks(graph);
        let mut up = vec![false; fabric.channel_count()];
        for from in graph.switches() {
            for step in graph.hops_from(from) {
                up[step.channel.index()] = order.is_higher(step.to, from);
            }
        }
        Self { up, has_several_roots }
    }

    pub(super) fn is_up(&self, channel: ChannelId) -> bool {
        self.up[channel.index()]
    }
}

pub(super) fn roots_taken(
    fabric: &Fabric,
    graph: &SwitchGraph,
    root: &Root,
    tree: SpanningTree,
) -> Result<Vec<NodeId>, RouteError> {
    Ok(Order::by_rank(graph, &ranks(fabric, graph, root, tree)?).peaks(graph))
}

fn ranks(
    fabric: &Fabric,
    graph: &SwitchGraph,
    root: &Root,
    tree: SpanningTree,
) -> Result<Vec<u32>, RouteError> {
    Ok(match (tree, root) {
        (SpanningTree::BreadthFirst, Root::TopSwitches) => tops::ranks(fabric, graph),
        (SpanningTree::BreadthFirst, _) => breadth_first_ranks(graph, &roots(fabric, graph, root)?),
        (SpanningTree::DepthFirst, _) => {
            depth_first::ranks(graph, &one_root_an_island(fabric, graph, root)?)
        }
    })
}

pub(super) fn breadth_first_ranks(graph: &SwitchGraph, roots: &[NodeId]) -> Vec<u32> {
    let mut ranks = vec![UNREACHED; graph.switch_count()];
    for root in roots {
        ranks[root.index()] = 0;
    }
    let mut queue: VecDeque<_> = roots.iter().copied().collect();
    while let Some(near) = queue.pop_front() {
        for step in graph.hops_from(near) {
            if ranks[step.to.index()] == UNREACHED {
                ranks[step.to.index()] = ranks[near.index()] + 1;
                queue.push_back(step.to);
            }
        }
    }
    ranks
}
