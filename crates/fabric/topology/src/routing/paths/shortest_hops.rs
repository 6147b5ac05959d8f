//! Remaining hops, for packets that choose at every switch among all shortest paths.
//!
//! ```text
//!   hops to t:   s0 2 ── s1 1 ── t      at s0 a packet to t may go to s1 or to s2, at s1 to t alone
//!                 └───── s2 1 ───┘
//! ```
//!
//! In a tree a shortest path ascends to a nearest common ancestor of both ends, over any of the
//! cables upwards, and descends by the only path.
//!
//! Cost: 2 bytes a pair of switches; one visit of every cable of a switch to find the channels that
//! lead nearer.

use super::graph::SwitchGraph;
use crate::{ChannelId, Fabric, NodeId};

/// Hop count of a switch that cannot be reached.
const UNREACHED: u16 = u16::MAX;

/// Fewest channels between any two switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShortestHops {
    switch_count: usize,
    /// By destination, then by switch.
    hops: Vec<u16>,
}

impl ShortestHops {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let graph = SwitchGraph::new(fabric);
        let hop = |hops: u32| u16::try_from(hops).unwrap_or(UNREACHED);
        let hops = graph.switches().flat_map(|to| graph.distances(to)).map(hop).collect();
        Self { switch_count: graph.switch_count(), hops }
    }

    /// Returns the number of hops from one switch to another; `None` without a path.
    pub(crate) fn between(&self, from: NodeId, to: NodeId) -> Option<u16> {
        let hops = self.hops[to.index() * self.switch_count + from.index()];
        (hops != UNREACHED).then_some(hops)
    }

    /// Returns the channels from one switch that lead one hop nearer to another, in the order of
    /// ports.
    pub(crate) fn onward<'a>(
        &'a self,
        fabric: &'a Fabric,
        from: NodeId,
        to: NodeId,
    ) -> impl Iterator<Item = ChannelId> + 'a {
        let left = self.between(from, to).unwrap_or(0);
        let leads_nearer = move |channel: &ChannelId| {
            let end = fabric.target(*channel).node;
            end.index() < self.switch_count
                && left > 0
                && self.between(end, to).is_some_and(|hops| hops + 1 == left)
        };
        fabric.channels_from(from).filter(leads_nearer)
    }
}
