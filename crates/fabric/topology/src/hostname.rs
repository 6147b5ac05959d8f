//! Host names in adapter descriptions.
//!
//! ```text
//!   "n5 mlx5_0"                                  host n5, adapter mlx5_0
//!   "n5"                                         host n5, adapter without a name
//!   "MT4123 ConnectX6   Mellanox Technologies"   no host name: the vendor's default
//!   "localhost HCA-1"                            no host name: not set yet
//! ```
//!
//! The default description remains until `rdma-ndd` on the host sets host and device names
//! (`%h %d`).

use crate::{Fabric, Guid, Node, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// First words of descriptions set by hosts without a name.
const PLACEHOLDERS: [&str; 4] = ["localhost", "localhost.localdomain", "ubuntu", "(none)"];
const VENDOR: &str = "Mellanox Technologies";

pub(crate) fn host_name(node: &Node) -> Option<&str> {
    let description = described(node)?;
    let name = description.split_whitespace().next()?;
    let is_default = description.trim_end().ends_with(VENDOR) || PLACEHOLDERS.contains(&name);
    (!is_default).then_some(name)
}

pub(crate) fn adapter_name(node: &Node) -> Option<&str> {
    let (_, adapter) = described(node)?.trim().split_once(char::is_whitespace)?;
    Some(adapter.trim_start())
}

/// Returns a node's description, or its name if the description is empty; `None` for a bare GUID.
fn described(node: &Node) -> Option<&str> {
    let is_empty = node.description.trim().is_empty();
    let text = if is_empty { &node.name } else { &node.description };
    (node.dump_id().as_ref() != Some(text)).then_some(text)
}

/// Returns the descriptions that adapters with different system GUIDs share.
pub(crate) fn shared_descriptions(fabric: &Fabric) -> BTreeMap<&str, Vec<NodeId>> {
    let mut adapters: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for id in fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host) {
        if let Some(description) = described(fabric.node(id)) {
            adapters.entry(description.trim()).or_default().push(id);
        }
    }
    adapters.retain(|_, ids| {
        ids.iter().map(|id| system(fabric, *id)).collect::<BTreeSet<_>>().len() > 1
    });
    adapters
}

fn system(fabric: &Fabric, id: NodeId) -> Result<Guid, NodeId> {
    let node = fabric.node(id);
    node.identity.system_guid.or(node.guid).ok_or(id)
}
