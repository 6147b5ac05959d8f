//! Check for descriptions shared by adapters of different systems, which make several hosts look
//! like one.

use super::listed;
use crate::hostname::{host_name, shared_descriptions};
use crate::{Fabric, Finding, FindingKind, NodeId};

pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let shared = shared_descriptions(fabric);
    shared
        .into_iter()
        .map(|(description, adapters)| finding(fabric, description, &adapters))
        .collect()
}

fn finding(fabric: &Fabric, description: &str, adapters: &[NodeId]) -> Finding {
    let is_named = host_name(fabric.node(adapters[0])).is_some();
    let kind = if is_named { FindingKind::SharedName } else { FindingKind::DefaultName };
    let names = listed(adapters.iter().map(|id| fabric.node(*id).name.clone()));
    let text = format!("{} adapters have the description {description:?}: {names}", adapters.len());
    Finding::of_fabric(kind, text)
}
