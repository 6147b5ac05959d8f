//! Proof that routes cannot deadlock, or a cycle of buffers as counterexample.
//!
//! Routes cannot deadlock if the buffers (with one lane: the channels) can be numbered so that the
//! numbers increase along every route: the packet in the highest occupied buffer can then always
//! move (Dally and Seitz, 1987, theorem 1). At an in-transit host that always ejects packets, a new
//! route starts.
//!
//! Otherwise the dependency graph has a cycle, and packets that hold all its buffers at once wait
//! for each other for ever. With tables, these packets always exist. Source routes may be
//! exceptions (Schwiebert, "Deadlock-free oblivious wormhole routing with cyclic dependencies",
//! IEEE Transactions on Computers 50(9), 2001), but are treated alike.
//!
//! If there are escape lanes, only these are numbered, and guarantee progress (`adaptive`).
//!
//! Cost: O(switches) per destination for tables, otherwise one traversal of all routes; then
//! O(vertices + dependencies).

mod adaptive;
mod by_destination;
mod by_level;
mod column;
pub(super) mod components;
pub(super) mod cycle;
pub(super) mod dependency;
mod ejection;
mod junctions;
mod lane_groups;
#[cfg(test)]
mod tests;
mod turns;

pub use cycle::{buffer_name, cycle_witnesses, describe_cycle, vertex_name};
pub use dependency::DependencyGraph;

use crate::Fabric;
use crate::routing::lanes::route_set::{Buffer, BufferId, RouteSet};
use components::Components;
use cycle::shortest_cycle;

/// Result of the proof.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// Acyclic dependency graph: deadlock is impossible.
    Free {
        /// Number of each buffer (`channel * lanes + lane`), increasing along every route: lowest
        /// on channels from endpoints, highest on channels into endpoints, except at hosts that may
        /// be full.
        order: Vec<u32>,
    },
    /// Cycle of buffers: packets that hold all of them would deadlock.
    Cycle {
        /// Shortest cycle, starting with its lowest buffer; each buffer waits for the next. In a
        /// tie, the lexicographically least cycle.
        buffers: Vec<Buffer>,
    },
}

impl Proof {
    /// Proves that a dependency graph is free of cycles, or finds a counterexample.
    pub fn new(fabric: &Fabric, graph: &DependencyGraph) -> Self {
        let components = Components::new(graph);
        if let Some(cycle) = shortest_cycle(graph, &components) {
            let buffers = cycle.into_iter().map(|vertex| graph.lowest(vertex)).collect();
            return Self::Cycle { buffers };
        }
        let is_switch = |node| fabric.node(node).is_switch();
        let number = |buffer: BufferId| {
            let (vertex, channel) = (graph.vertex(buffer), graph.buffer(buffer).channel);
            let component = components.of[vertex.index()];
            if !graph.after(vertex).is_empty() {
                // Hosts that may be full have dependencies too, so their channels are included
                // here.
                components.count - component
            } else if !is_switch(fabric.source(channel).node) {
                0
            } else if is_switch(fabric.target(channel).node) {
                components.count - component
            } else {
                components.count + 1
            }
        };
        Self::Free { order: BufferId::first(graph.buffer_count()).map(number).collect() }
    }

    /// Returns whether the routes are deadlock-free.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Free { .. })
    }
}

/// Runs the proof for packets between any endpoints.
///
/// Shortest paths may deadlock between aggregation nodes on the spines of a fat tree, because these
/// paths go down to a leaf and up again.
pub fn prove<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::new(fabric, routes))
}

/// Runs the proof for host-to-host packets only.
pub fn prove_between_hosts<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::between_hosts(fabric, routes))
}

/// Runs the proof for routes known to have no loops.
pub fn prove_without_loops<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::without_loops(fabric, routes))
}
