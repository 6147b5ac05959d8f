//! Check for compute nodes whose adapters differ from those of other nodes in their unit, and for
//! system GUIDs shared by several hosts.
//!
//! A compute node lacks an adapter on a rail if more than half of the other compute nodes in its
//! unit (at least two) have one on that rail. A compute node is divided if it also has cables to
//! another unit with several leaves.

use super::listed;
use crate::cluster::{Cluster, ClusterNode, Naming, Role};
use crate::hostname::host_name;
use crate::{Fabric, Finding, FindingKind, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

const OTHERS_MIN: usize = 2;

pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let cluster = Cluster::of(fabric, &Naming::default());
    let mut findings = missing_adapters(&cluster);
    findings.extend(divided_nodes(fabric, &cluster));
    findings.extend(shared_systems(fabric));
    findings
}

fn missing_adapters(cluster: &Cluster) -> Vec<Finding> {
    if cluster.rails.len() < 2 {
        return Vec::new();
    }
    let has = |node: &ClusterNode, rail: usize| {
        node.on_rail(rail).is_some_and(|adapter| adapter.endpoint.is_some())
    };
    let mut findings = Vec::new();
    for unit in &cluster.units {
        let nodes = unit.nodes.iter().map(|node| &cluster.nodes[*node]);
        let nodes: Vec<&ClusterNode> = nodes.filter(|node| node.role == Role::Compute).collect();
        for node in &nodes {
            let others = nodes.len() - 1;
            let lacks = |rail: &usize| {
                let having = nodes.iter().filter(|other| has(other, *rail)).count();
                !has(node, *rail) && having >= OTHERS_MIN && 2 * having > others
            };
            let rails: Vec<usize> = (0..cluster.rails.len()).filter(lacks).collect();
            if rails.is_empty() || others < OTHERS_MIN {
                continue;
            }
            let names = rails.iter().map(|rail| match cluster.rails[*rail].number {
                Some(number) => format!("{rail} (adapter {number})"),
                None => rail.to_string(),
            });
            let names = names.collect::<Vec<_>>().join(", ");
            let what = if rails.len() == 1 { "rail" } else { "rails" };
            let text = format!(
                "{} has no cabled adapter on {what} {names}, unlike most nodes of its unit",
                node.name
            );
            findings.push(Finding::of_fabric(FindingKind::MissingAdapter, text));
        }
    }
    findings
}

fn divided_nodes(fabric: &Fabric, cluster: &Cluster) -> Vec<Finding> {
    let units = cluster.units.iter().enumerate().filter(|(_, unit)| unit.leaves.len() > 1);
    let unit_of: BTreeMap<NodeId, usize> = units
        .flat_map(|(number, unit)| unit.leaves.iter().map(move |leaf| (*leaf, number)))
        .collect();
    let mut findings = Vec::new();
    for node in cluster.nodes.iter().filter(|node| node.role == Role::Compute) {
        let leaves = node.adapters.iter().filter_map(|adapter| adapter.leaf);
        let elsewhere: BTreeSet<NodeId> = leaves
            .filter(|leaf| unit_of.get(leaf).is_some_and(|unit| Some(*unit) != node.unit))
            .collect();
        if !elsewhere.is_empty() {
            let names = listed(elsewhere.iter().map(|leaf| fabric.node(*leaf).name.clone()));
            let text = format!("{} has cables to leaves of another unit: {names}", node.name);
            findings.push(Finding::of_fabric(FindingKind::DividedNode, text));
        }
    }
    findings
}

fn shared_systems(fabric: &Fabric) -> Vec<Finding> {
    let mut hosts: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for device in fabric.nodes().iter().filter(|node| node.kind == NodeKind::Host) {
        let system = device.identity.system_guid.map(|guid| guid.0).filter(|guid| *guid != 0);
        if let Some((system, host)) = system.zip(host_name(device)) {
            hosts.entry(system).or_default().insert(host);
        }
    }
    let shared = hosts.into_iter().filter(|(_, hosts)| hosts.len() > 1);
    let finding = |(system, hosts): (u64, BTreeSet<&str>)| {
        let names = listed(hosts.into_iter().map(str::to_owned));
        let text =
            format!("adapters of several hosts have the system GUID {system:#018x}: {names}");
        Finding::of_fabric(FindingKind::SharedSystem, text)
    };
    shared.map(finding).collect()
}
