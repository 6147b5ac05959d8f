//! The proof that routes cannot deadlock, or a cycle that shows how they can.
//!
//! ```text
//!   routes ──► dependency graph ──► components ─┬─ all single: number the buffers
//!                                                └─ one with a cycle: a shortest one
//! ```
//!
//! Routes cannot deadlock if their channel dependency graph is acyclic: if the buffers (channels,
//! where there is one lane) can be numbered so that every route uses increasing numbers. The packet
//! in the highest buffer that is held can then always go on, so none waits for ever (Dally and
//! Seitz, 1987, theorem 1). Where a path visits an in-transit host that always ejects packets, its
//! numbers begin anew. Anybody can check the numbering without knowing how it was found.
//!
//! Without such a numbering there is a cycle, and packets that hold its buffers all at once wait
//! for each other for ever. For tables such packets always exist; for source routes they nearly
//! always do (Schwiebert, "Deadlock-free oblivious wormhole routing with cyclic dependencies",
//! IEEE Transactions on Computers 50(9), 2001, constructs exceptions), and we take none on trust.
//!
//! Where packets choose anew at every switch, the graph is that of all that they may do (`adaptive`);
//! with escape lanes the numbers are of these alone, and only they say how packets go on.
//!
//! Cost: O(switches) a destination where routes are tables (and a look at each pair, where tables
//! give it a service level), else one walk along all routes; then O(vertices + dependencies), where
//! lanes that are alike are one vertex. The first, which is the most, goes on all cores.

mod adaptive;
mod by_destination;
mod by_level;
mod column;
pub(super) mod components;
pub(super) mod cycle;
pub(super) mod dependency;
mod ejection;
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

/// What can be said of routes and deadlock.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Proof {
    /// The channel dependency graph is acyclic.
    Free {
        /// The number of each buffer, by `channel * lanes + lane`: every route uses increasing
        /// numbers. Channels from endpoints have the lowest number, channels into endpoints the
        /// highest, but for those of hosts that may be full.
        order: Vec<u32>,
    },
    /// Packets that hold these buffers all at once would.
    Cycle {
        /// A shortest cycle of buffers, each waiting for the next and the last for the
        /// first. Of all shortest ones it is the lexicographically least, written from
        /// its lowest buffer.
        buffers: Vec<Buffer>,
    },
}

impl Proof {
    /// Proves or refutes from the dependency graph of the fabric's routes.
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
                // Also at a host that may be full.
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

    /// Whether the routes are free of deadlock.
    pub fn is_free(&self) -> bool {
        matches!(self, Self::Free { .. })
    }
}

/// Proves or refutes that packets between any endpoints cannot deadlock on these routes.
///
/// Aggregation nodes on the spines of a fat tree send to each other down to a leaf and up
/// again. Shortest paths are then not free of deadlock, though they are between hosts:
/// [`prove_between_hosts`].
pub fn prove<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::new(fabric, routes))
}

/// Proves or refutes that packets from hosts to hosts cannot deadlock on these routes, if
/// nothing else is on the way.
pub fn prove_between_hosts<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::between_hosts(fabric, routes))
}

/// Proves or refutes that packets on routes that come to an end cannot deadlock: whether there
/// is a danger beside that of the loops that [`crate::Routes::trace`] finds.
pub fn prove_without_loops<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::without_loops(fabric, routes))
}
