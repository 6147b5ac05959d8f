//! Proof that routes cannot deadlock, or a cycle as counterexample.
//!
//! ```text
//!   routes ──► dependency graph ──► components ─┬─ all single: number the buffers
//!                                                └─ one with a cycle: a shortest one
//! ```
//!
//! Routes cannot deadlock if their channel dependency graph is acyclic, that is, if the buffers
//! (channels, if there is one lane) can be numbered so that every route uses increasing numbers.
//! The packet in the highest occupied buffer can then always move, so none waits for ever (Dally
//! and Seitz, 1987, theorem 1). At an in-transit host that always ejects packets, the numbers of a
//! path begin anew. The numbering can be checked independently of the algorithm that found it.
//!
//! Without such a numbering there is a cycle, and packets that hold all of its buffers at once wait
//! for each other for ever. For tables such packets always exist; for source routes they nearly
//! always do (Schwiebert, "Deadlock-free oblivious wormhole routing with cyclic dependencies", IEEE
//! Transactions on Computers 50(9), 2001, constructs exceptions), and the proof assumes that they
//! do.
//!
//! With adaptive routing, the graph contains all possible choices of packets (`adaptive`); with
//! escape lanes only these are numbered, and only these guarantee progress.
//!
//! Cost: O(switches) per destination for tables (and a step for each pair, if tables assign service
//! levels by pair), else one walk along all routes; then O(vertices + dependencies), with
//! equivalent lanes as one vertex. The first part, which dominates, runs on all cores.

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
    /// The channel dependency graph is acyclic.
    Free {
        /// Number of each buffer, by `channel * lanes + lane`: every route uses increasing numbers.
        /// Channels from endpoints have the lowest number, channels into endpoints the highest,
        /// except those of hosts that may be full.
        order: Vec<u32>,
    },
    /// Packets that hold these buffers all at once would deadlock.
    Cycle {
        /// A shortest cycle of buffers, each waiting for the next and the last for the first. Of
        /// all shortest ones it is the lexicographically least, written from its lowest buffer.
        buffers: Vec<Buffer>,
    },
}

impl Proof {
    /// Proves or refutes deadlock freedom from the dependency graph of the fabric's routes.
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
                // Includes channels of hosts that may be full.
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

/// Proves or refutes that packets between any endpoints cannot deadlock on these routes.
///
/// Aggregation nodes on the spines of a fat tree send to each other down to a leaf and up again.
/// Shortest paths then are not deadlock-free, although they are between hosts: see
/// [`prove_between_hosts`].
pub fn prove<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::new(fabric, routes))
}

/// Proves or refutes that packets from hosts to hosts cannot deadlock on these routes, without any
/// other traffic.
pub fn prove_between_hosts<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::between_hosts(fabric, routes))
}

/// Proves or refutes that packets on routes without loops cannot deadlock: whether there is a
/// danger beside the loops found by [`crate::Routes::trace`].
pub fn prove_without_loops<'a>(fabric: &Fabric, routes: impl Into<RouteSet<'a>>) -> Proof {
    Proof::new(fabric, &DependencyGraph::without_loops(fabric, routes))
}
