//! Hops that are left, so that a packet may choose anew at every switch among all ways that are
//! shortest.
//!
//! ```text
//!   hops to t:   s0 2 ── s1 1 ── t      at s0 a packet to t may go to s1 or to s2, at s1 to t alone
//!                 └───── s2 1 ───┘
//! ```
//!
//! In a tree a shortest way climbs to a nearest common ancestor of both ends, over any of the
//! cables upwards, and descends by the one way that there is.
//!
//! Cost: 2 bytes a pair of switches; a look at every cable of a switch to find its ways on.

use super::graph::SwitchGraph;
use crate::{ChannelId, Fabric, NodeId};

/// No way leads there.
const UNREACHED: u16 = u16::MAX;

/// The fewest channels between any two switches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShortestHops {
    switch_count: usize,
    /// By destination, then by switch.
    hops: Vec<u16>,
}

impl ShortestHops {
    /// Those of a fabric.
    pub(super) fn new(fabric: &Fabric) -> Self {
        let graph = SwitchGraph::new(fabric);
        let hop = |hops: u32| u16::try_from(hops).unwrap_or(UNREACHED);
        let hops = graph.switches().flat_map(|to| graph.distances(to)).map(hop).collect();
        Self { switch_count: graph.switch_count(), hops }
    }

    /// The hops from one switch to another; `None` if none lead there.
    pub(crate) fn between(&self, from: NodeId, to: NodeId) -> Option<u16> {
        let hops = self.hops[to.index() * self.switch_count + from.index()];
        (hops != UNREACHED).then_some(hops)
    }

    /// The channels from one switch that lead a hop nearer to another, in the order of ports.
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
