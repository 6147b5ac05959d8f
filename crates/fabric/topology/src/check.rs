//! Checks of a fabric for probable faults, and a numerical summary.
//!
//! Invariant: the order of findings depends only on the fabric, not on the format that it was read
//! from.

mod addresses;
mod distance;
mod host_names;
mod islands;
mod levels;
mod nodes;
mod rails;
mod slow_cables;
mod summary;
mod unevenness;
mod unknown_speeds;
mod uplinks;

pub use summary::{PortUse, Summary, summary};

use crate::{Fabric, Finding, FindingKind, NodeKind};

/// Returns all findings about `fabric`, grouped by check.
pub fn check(fabric: &Fabric) -> Vec<Finding> {
    let mut findings = islands::check(fabric);
    findings.extend(uncabled_hosts(fabric));
    findings.extend(loops(fabric));
    findings.extend(addresses::check(fabric));
    findings.extend(host_names::check(fabric));
    findings.extend(rails::check(fabric));
    findings.extend(nodes::check(fabric));
    let levels = levels::Levels::of(fabric);
    findings.extend(uplinks::check(fabric, &levels));
    findings.extend(slow_cables::check(fabric, &levels));
    findings.extend(unevenness::check(fabric));
    findings.extend(unknown_speeds::check(fabric));
    findings
}

const LISTED_MAX: usize = 4;

fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    let first = names[..names.len().min(LISTED_MAX)].join(", ");
    match names.len().saturating_sub(LISTED_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}

fn loops(fabric: &Fabric) -> impl Iterator<Item = Finding> {
    let loops = fabric.cables().iter().filter(|cable| cable.ends[0].node == cable.ends[1].node);
    loops.map(|cable| {
        let [one, other] = cable.ends.map(|end| fabric.port_name(end));
        let text = format!("the cable of {one} comes back to its own node, at {other}");
        Finding::of_fabric(FindingKind::LoopCable, text)
    })
}

fn uncabled_hosts(fabric: &Fabric) -> impl Iterator<Item = Finding> {
    let is_uncabled = |id| fabric.channels_from(id).next().is_none();
    let hosts = fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host);
    hosts.filter(move |id| is_uncabled(*id)).map(|id| {
        let text = format!("host {} has no cable", fabric.node(id).name);
        Finding::of_fabric(FindingKind::UncabledHost, text)
    })
}
