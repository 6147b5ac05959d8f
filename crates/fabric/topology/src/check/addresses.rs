//! Check for GUIDs and LIDs shared by several devices, and for invalid LIDs.

use crate::subnet::LID_MAX;
use crate::{Fabric, Finding, FindingKind, Guid, NodeId, PortRef};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let mut findings = guids(fabric);
    findings.extend(no_lids(fabric));
    findings.extend(lids(fabric));
    findings
}

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

/// Reports LIDs outside the unicast range; a single finding if all LIDs are 0 because no subnet
/// manager has run.
fn no_lids(fabric: &Fabric) -> Vec<Finding> {
    let reported: Vec<(u16, PortRef)> = addresses(fabric).collect();
    let wrong = || reported.iter().filter(|(lid, _)| !(1..=LID_MAX).contains(lid));
    let count = wrong().count();
    let find = |text| Finding::of_fabric(FindingKind::NoLid, text);
    if count > 1 && count == reported.len() && reported.iter().all(|(lid, _)| *lid == 0) {
        let text = format!("all {count} LIDs are 0: no subnet manager has given any");
        return vec![find(text)];
    }
    let stated = |(lid, port): &(u16, PortRef)| {
        let name = fabric.port_name(*port);
        find(format!("LID {lid} of {name} is none of a port; these are 1 to {LID_MAX}"))
    };
    wrong().map(stated).collect()
}

fn addresses(fabric: &Fabric) -> impl Iterator<Item = (u16, PortRef)> {
    fabric.node_ids().flat_map(|id| {
        let addresses = fabric.node(id).addresses.iter();
        addresses.filter_map(move |(port, address)| {
            Some((address.lid?, PortRef { node: id, port: *port }))
        })
    })
}

/// Reports overlapping LID ranges: a port with LMC `m` has 2^m LIDs, starting at its base LID.
fn lids(fabric: &Fabric) -> Vec<Finding> {
    let mut ranges: Vec<(u32, u32, PortRef)> = Vec::new();
    for id in fabric.node_ids() {
        for (port, address) in &fabric.node(id).addresses {
            let lid = address.lid.filter(|lid| (1..=LID_MAX).contains(lid));
            if let Some(first) = lid.map(u32::from) {
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

const LMC_MAX: u32 = 7;
