//! Table of the fabric's nodes.

use gingham_results::{Builder, Table};
use gingham_topology::{Fabric, Guid, Node};

/// Returns a row for each node in canonical order, except for switch ports 0.
pub(super) fn table(fabric: &Fabric) -> Table {
    columns(fabric.listed_nodes())
}

pub(super) fn columns(nodes: &[Node]) -> Table {
    Builder::new(nodes)
        .texts("node", "unique name", |node| node.name.clone())
        .texts("kind", "switch, host, aggregation or router", |node| node.kind.name().to_owned())
        .integers(("ports", "ports"), "number of its highest port", |node| u64::from(node.ports))
        .texts("guid", "16 hexadecimal digits; empty if there is none", |node| {
            node.guid.as_ref().map(Guid::to_string).unwrap_or_default()
        })
        .build("nodes", "one row per node of the fabric, in the order of ids")
}
