//! Routes of either form, and the traversal of all paths.

pub(super) mod destination_paths;
mod given_paths;
pub(super) mod graph;
pub(super) mod ports;
pub(super) mod routes;
mod shortest_hops;
pub(super) mod source_routes;
pub(super) mod switch_tables;
pub(super) mod table_routes;
mod trace;

pub(crate) use graph::{Hop, SwitchGraph, UNREACHED};
pub(crate) use routes::joins_switches;
pub use routes::{Path, Routes};
pub(crate) use shortest_hops::ShortestHops;
pub use source_routes::{FallBacks, KeptPath, Onward, SourceRoutes};
pub use switch_tables::SwitchTables;
pub use table_routes::{LongerPath, TableRoutes};
pub use trace::{RouteFault, Stray, Trace};

use crate::{EndpointId, Fabric, NodeId};

/// Returns, by switch, the lowest-numbered switch of its connected component.
pub(crate) fn islands(fabric: &Fabric) -> Vec<NodeId> {
    SwitchGraph::new(fabric).islands()
}

/// Returns the switch of an endpoint; `None` if its cable leads to another endpoint.
pub(crate) fn switch_of(fabric: &Fabric, endpoint: EndpointId) -> Option<NodeId> {
    match graph::attachment(fabric, endpoint) {
        graph::Attachment::Switch(switch) => Some(switch),
        graph::Attachment::Peer(_) => None,
    }
}
