//! Which end of a cable is up, for the rule "up, then down".
//!
//! ```text
//!   rank 0        s0           up: towards the lower (rank, id)
//!               ↗ ↑ ↖
//!   rank 1    s1→─┼──s2        s1 - s2 have equal ranks: s1 has the lower id, so s2 -> s1 is up
//!             ... s3 ...
//! ```
//!
//! Invariant: a total order of the switches orients every cable, so neither the up channels nor
//! the down channels close a cycle.

use super::depth_first;
use super::error::RouteError;
use super::root::{Root, roots};
use crate::routing::paths::graph::{SwitchGraph, UNREACHED};
use crate::{ChannelId, Fabric, NodeId};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How switches are ranked for up*/down*.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum SpanningTree {
    /// By their hops from the root; of equals, the lower id is higher up.
    #[default]
    BreadthFirst,
    /// In the order in which a depth-first search meets them. It goes on to the neighbour with
    /// most cables to switches that it has met, of equals to the one farthest from all others.
    /// Its authors begin at `root = "largest-distance"`.
    DepthFirst,
}

/// For each channel between switches, whether it goes up.
#[derive(Debug)]
pub(super) struct Orientation {
    up: Vec<bool>,
}

impl Orientation {
    /// Which channels go up, given the root and the tree that the user wants.
    pub(crate) fn new(
        fabric: &Fabric,
        graph: &SwitchGraph,
        root: &Root,
        tree: SpanningTree,
    ) -> Result<Self, RouteError> {
        let roots = roots(fabric, graph, root)?;
        let ranks = match tree {
            SpanningTree::BreadthFirst => breadth_first_ranks(graph, &roots),
            SpanningTree::DepthFirst => depth_first::ranks(graph, &roots),
        };
        Ok(Self::by_rank(fabric, graph, &ranks))
    }

    /// Up is towards the lower rank, and between equal ranks towards the lower id.
    fn by_rank(fabric: &Fabric, graph: &SwitchGraph, ranks: &[u32]) -> Self {
        let height = |switch: NodeId| (ranks[switch.index()], switch);
        let mut up = vec![false; fabric.channel_count()];
        for from in graph.switches() {
            for step in graph.hops_from(from) {
                up[step.channel.index()] = height(step.to) < height(from);
            }
        }
        Self { up }
    }

    /// Whether a channel between switches goes up.
    pub(super) fn is_up(&self, channel: ChannelId) -> bool {
        self.up[channel.index()]
    }
}

/// Hops from the root of a switch's own island.
fn breadth_first_ranks(graph: &SwitchGraph, roots: &[NodeId]) -> Vec<u32> {
    let mut ranks = vec![UNREACHED; graph.switch_count()];
    for root in roots {
        for (rank, hops) in ranks.iter_mut().zip(graph.distances(*root)) {
            *rank = (*rank).min(hops);
        }
    }
    ranks
}
