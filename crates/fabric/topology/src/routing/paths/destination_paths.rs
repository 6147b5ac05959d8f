//! Paths from all switches to one destination, if they form a tree.
//!
//! ```text
//!   toward h5:   s0 ─► s2 ─► s5 ─► h5       switches left   s0 3, s1 3, s2 2, s5 1
//!                s1 ─► s2                   farthest first  s0, s1, s2, s5
//! ```
//!
//! The tree lets sums over all pairs take O(switches) per destination instead of O(path length) per
//! pair.

use super::graph::{SwitchGraph, largest_first};
use super::routes::{RouteRow, RowPaths};
use crate::{ChannelId, Fabric, NodeId};

/// Marker for an unvisited switch and, after [`DestinationPaths::fill`], for a switch whose packets
/// do not arrive.
const UNKNOWN: u32 = 0;
const OPEN: u32 = u32::MAX - 1;
const LOST: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct DestinationPaths {
    next: Vec<Option<ChannelId>>,
    /// By switch: number of switches on its path, including itself; or a marker.
    switches: Vec<u32>,
    order: Vec<NodeId>,
}

impl DestinationPaths {
    pub(crate) fn new(graph: &SwitchGraph) -> Self {
        let count = graph.switch_count();
        Self { next: vec![None; count], switches: vec![UNKNOWN; count], order: Vec::new() }
    }

    /// Computes the paths of a row; returns `false` if the row stores whole paths.
    pub(crate) fn fill(
        &mut self,
        fabric: &Fabric,
        graph: &SwitchGraph,
        row: &RouteRow<'_>,
    ) -> bool {
        let Some(channels) = row.column(fabric, graph) else { return false };
        self.switches.fill(UNKNOWN);
        self.next.clear();
        self.next.extend(channels);
        let mut visited = Vec::new();
        for start in graph.switches() {
            let mut left = self.follow(fabric, row, start, &mut visited);
            for switch in visited.drain(..).rev() {
                left = if left == LOST { LOST } else { left + 1 };
                self.switches[NodeId::index(switch)] = left;
            }
        }
        for switches in &mut self.switches {
            *switches = if *switches == LOST { UNKNOWN } else { *switches };
        }
        let order = largest_first(&self.switches, UNKNOWN);
        self.order = order.into_iter().map(NodeId::new).collect();
        true
    }

    fn follow(
        &mut self,
        fabric: &Fabric,
        row: &RouteRow<'_>,
        start: NodeId,
        visited: &mut Vec<NodeId>,
    ) -> u32 {
        let mut switch = start;
        loop {
            match self.switches[switch.index()] {
                UNKNOWN => {}
                OPEN => return LOST,
                known => return known,
            }
            self.switches[switch.index()] = OPEN;
            visited.push(switch);
            let Some(channel) = self.next[switch.index()] else {
                let is_there = switch == row.switch && matches!(row.paths, RowPaths::Column(_));
                return if is_there { 0 } else { LOST };
            };
            let end = fabric.target(channel);
            if end.node.index() < self.next.len() {
                switch = end.node;
                continue;
            }
            let is_there = fabric.endpoint_at(end) == Some(row.destinations[0]);
            return if is_there { 0 } else { LOST };
        }
    }

    /// Returns the number of switches on the path, including `from`; `None` if packets do not
    /// arrive.
    pub(crate) fn switches(&self, from: NodeId) -> Option<usize> {
        let switches = self.switches[from.index()];
        (switches != UNKNOWN).then_some(switches as usize)
    }

    /// Returns the next channel; `None` without a route, and at the last switch if the destinations
    /// share a row.
    pub(crate) fn next(&self, switch: NodeId) -> Option<ChannelId> {
        self.next[switch.index()]
    }

    pub(crate) fn farthest_first(&self) -> &[NodeId] {
        &self.order
    }
}
