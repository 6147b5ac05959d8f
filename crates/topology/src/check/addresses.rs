//! Identifiers that two devices share: GUIDs and LIDs.

use crate::{Fabric, Finding, FindingKind, Guid, NodeId, PortRef};
use std::collections::{BTreeMap, BTreeSet};

/// GUIDs, then LIDs.
pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let mut findings = guids(fabric);
    findings.extend(lids(fabric));
    findings
}

/// A GUID belongs to one device; the device and its ports may share it.
fn guids(fabric: &Fabric) -> Vec<Finding> {
    let mut owners: BTreeMap<Guid, BTreeSet<NodeId>> = BTreeMap::new();
    for id in fabric.node_ids() {
        let node = fabric.node(id);
        let of_ports = node.addresses.values().filter_map(|address| address.guid);
        for guid in node.guid.into_iter().chain(of_ports) {
            owners.entry(guid).or_default().insert(id);
        }
    }
    let shared = owners.into_iter().filter(|(_, owners)| owners.len() > 1);
    shared
        .map(|(guid, owners)| {
            let names: Vec<&str> = owners.iter().map(|id| fabric.node(*id).name.as_str()).collect();
            let text = format!("GUID {guid} belongs to {}", names.join(" and "));
            Finding::of_fabric(FindingKind::DuplicateGuid, text)
        })
        .collect()
}

/// With LMC `m`, a port answers to 2^m LIDs from its first one. LID 0 means none.
fn lids(fabric: &Fabric) -> Vec<Finding> {
    let mut ranges: Vec<(u32, u32, PortRef)> = Vec::new();
    for id in fabric.node_ids() {
        for (port, address) in &fabric.node(id).addresses {
            if let Some(first) = address.lid.map(u32::from).filter(|lid| *lid > 0) {
                let count = 1_u32 << u32::from(address.lmc.unwrap_or(0)).min(LMC_MAX);
                ranges.push((first, first + count - 1, PortRef { node: id, port: *port }));
            }
        }
    }
    ranges.sort_unstable();
    let mut findings = Vec::new();
    let mut reaching: Option<(u32, PortRef)> = None;
    for (first, last, port) in ranges {
        if let Some((_, owner)) = reaching.filter(|(end, _)| *end >= first) {
            let [owner, port] = [owner, port].map(|port| fabric.port_name(port));
            let text = format!("LID {first} of {port} belongs to {owner} too");
            findings.push(Finding::of_fabric(FindingKind::DuplicateLid, text));
        }
        if reaching.is_none_or(|(end, _)| last > end) {
            reaching = Some((last, port));
        }
    }
    findings
}

/// LMC is a field of three bits.
const LMC_MAX: u32 = 7;
