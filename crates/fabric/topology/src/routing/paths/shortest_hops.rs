//! Hop counts between switches, for adaptive routing over all shortest paths.
//!
//! Memory: 2 bytes per pair of switches.

use super::graph::SwitchGraph;
use crate::{ChannelId, Fabric, NodeId};

const UNREACHED: u16 = u16::MAX;

#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct ShortestHops {
    switch_count: usize,
    /// Remaining hops, by destination switch and then by current switch.
    hops: Vec<u16>,
}

impl ShortestHops {
    pub(super) fn new(fabric: &Fabric) -> Self {
        let graph = SwitchGraph::new(fabric);
        let hop = |hops: u32| u16::try_from(hops).unwrap_or(UNREACHED);
        let hops = graph.switches().flat_map(|to| graph.distances(to)).map(hop).collect();
        Self { switch_count: graph.switch_count(), hops }
    }

    pub(crate) fn between(&self, from: NodeId, to: NodeId) -> Option<u16> {
        let hops = self.hops[to.index() * self.switch_count + from.index()];
        (hops != UNREACHED).then_some(hops)
    }

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
