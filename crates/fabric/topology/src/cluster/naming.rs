//! Grouping of adapters into nodes.
//!
//! ```text
//!   system GUID 0x..a0   "n1 mlx5_0"  ┐                 one card with two devices
//!   system GUID 0x..a0   "n1 mlx5_1"  ┤ node n1
//!   system GUID 0x..b8   "n1 mlx5_2"  ┘                 a second card, merged by host name
//!   system GUID 0x..c0   "MT4129 ..."   a separate node: no host name
//! ```
//!
//! A system GUID joins devices unless their descriptions name different hosts. A description shared
//! by several systems ([`shared_descriptions`]) does not name a host.

use super::adapter_number::adapter_number;
use super::role::Role;
use super::{Adapter, ClusterNode};
use crate::fabric::natural_key;
use crate::hostname::{adapter_name, host_name, shared_descriptions};
use crate::routing::switch_of;
use crate::{Fabric, NodeId, NodeKind, PortRef};
use std::collections::{BTreeMap, BTreeSet};

/// Names given by user rules.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Naming {
    /// By device: node name, and adapter name if the rule states one.
    pub by_rule: BTreeMap<NodeId, (String, Option<String>)>,
}

/// Evidence for assigning an adapter to its node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Basis {
    /// User rule.
    Rule,
    /// Host name in the description.
    Description,
    /// System image GUID shared with another device.
    SystemGuid,
    /// No evidence; the adapter forms a separate node.
    Alone,
}

impl Basis {
    /// Returns the name used in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Rule => "rule",
            Self::Description => "description",
            Self::SystemGuid => "system-guid",
            Self::Alone => "alone",
        }
    }
}

pub(super) fn nodes(fabric: &Fabric, naming: &Naming) -> Vec<ClusterNode> {
    let labels = labels(fabric, naming);
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut nodes: Vec<ClusterNode> = Vec::new();
    for (host, devices) in groups(fabric, &labels) {
        let name = host.unwrap_or_else(|| fabric.node(devices[0]).name.clone());
        let name = if used.contains(&name) { fabric.node(devices[0]).name.clone() } else { name };
        used.insert(name.clone());
        let mut adapters: Vec<Adapter> =
            devices.iter().flat_map(|device| ports(fabric, *device, &labels)).collect();
        adapters.sort_by_key(|adapter| {
            (adapter.number.is_none(), adapter.number, adapter.device, adapter.endpoint)
        });
        if devices.len() > 1 {
            for adapter in adapters.iter_mut().filter(|one| one.basis == Basis::Alone) {
                adapter.basis = Basis::SystemGuid;
            }
        }
        let names_host =
            |adapter: &Adapter| matches!(adapter.basis, Basis::Rule | Basis::Description);
        let is_named = adapters.iter().any(names_host);
        let role = Role::of(&name, is_named);
        nodes.push(ClusterNode { name, role, adapters, unit: None });
    }
    if nodes.iter().all(|node| node.role == Role::Unnamed) {
        for node in &mut nodes {
            node.role = Role::Compute;
        }
    }
    nodes.sort_by_cached_key(|node| natural_key(&node.name));
    nodes
}

struct Label {
    host: String,
    adapter: Option<String>,
    basis: Basis,
}

fn labels(fabric: &Fabric, naming: &Naming) -> BTreeMap<NodeId, Label> {
    let shared = shared_descriptions(fabric);
    let is_shared: BTreeSet<NodeId> = shared.values().flatten().copied().collect();
    let mut labels = BTreeMap::new();
    for id in fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host) {
        let device = fabric.node(id);
        if let Some((host, adapter)) = naming.by_rule.get(&id) {
            let label = Label { host: host.clone(), adapter: adapter.clone(), basis: Basis::Rule };
            labels.insert(id, label);
        } else if let Some(host) = host_name(device).filter(|_| !is_shared.contains(&id)) {
            let adapter = adapter_name(device).map(str::to_owned);
            labels.insert(id, Label { host: host.to_owned(), adapter, basis: Basis::Description });
        }
    }
    labels
}

fn groups(fabric: &Fabric, labels: &BTreeMap<NodeId, Label>) -> Vec<(Option<String>, Vec<NodeId>)> {
    let mut by_host: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
    for (id, label) in labels {
        by_host.entry(&label.host).or_default().push(*id);
    }
    let hosts_of_system = hosts_of_systems(fabric, labels);
    let mut by_system: BTreeMap<u64, Vec<NodeId>> = BTreeMap::new();
    let mut alone = Vec::new();
    for id in fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host) {
        if labels.contains_key(&id) {
            continue;
        }
        let hosts =
            system(fabric, id).and_then(|system| Some((system, hosts_of_system.get(&system)?)));
        match hosts {
            Some((system, hosts)) if hosts.is_empty() => {
                by_system.entry(system).or_default().push(id);
            }
            Some((_, hosts)) if hosts.len() == 1 => {
                let host = *hosts.first().expect("its length is 1");
                by_host.entry(host).or_default().push(id);
            }
            _ => alone.push(id),
        }
    }
    let named = by_host.into_iter().map(|(host, devices)| (Some(host.to_owned()), devices));
    let of_systems = by_system.into_values().map(|devices| (None, devices));
    named.chain(of_systems).chain(alone.into_iter().map(|id| (None, vec![id]))).collect()
}

fn hosts_of_systems<'a>(
    fabric: &Fabric,
    labels: &'a BTreeMap<NodeId, Label>,
) -> BTreeMap<u64, BTreeSet<&'a str>> {
    let mut hosts: BTreeMap<u64, BTreeSet<&str>> = BTreeMap::new();
    for id in fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host) {
        if let Some(system) = system(fabric, id) {
            let hosts = hosts.entry(system).or_default();
            hosts.extend(labels.get(&id).map(|label| &*label.host));
        }
    }
    hosts
}

fn system(fabric: &Fabric, id: NodeId) -> Option<u64> {
    fabric.node(id).identity.system_guid.map(|guid| guid.0).filter(|guid| *guid != 0)
}

fn ports(fabric: &Fabric, device: NodeId, labels: &BTreeMap<NodeId, Label>) -> Vec<Adapter> {
    let label = labels.get(&device);
    let described = || adapter_name(fabric.node(device)).map(str::to_owned);
    let name = label.map_or_else(described, |label| label.adapter.clone());
    let basis = label.map_or(Basis::Alone, |label| label.basis);
    let port = |endpoint| Adapter {
        device,
        endpoint,
        leaf: endpoint.and_then(|endpoint| switch_of(fabric, endpoint)),
        number: name.as_deref().and_then(adapter_number),
        name: name.clone(),
        rail: None,
        leaf_rail: None,
        basis,
    };
    let cabled = fabric.channels_from(device).map(|channel| fabric.source(channel));
    let cabled: Vec<PortRef> = cabled.collect();
    if cabled.is_empty() {
        return vec![port(None)];
    }
    cabled.into_iter().map(|at| port(fabric.endpoint_at(at))).collect()
}
