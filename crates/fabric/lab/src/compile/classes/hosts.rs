//! Hosts: lookup by pattern or name, and reachability.

use crate::error::LabError;
use gingham_input::InputError;
use gingham_topology::{EndpointId, Fabric, NodeId, NodeKind};
use std::collections::BTreeMap;
use std::sync::Arc;
use wildmatch::WildMatch;

pub(crate) struct Hosts {
    named: BTreeMap<String, EndpointId>,
    pub(super) island: Vec<usize>,
    pub(super) on_island: BTreeMap<usize, Arc<[EndpointId]>>,
}

pub(crate) struct NameFault {
    text: String,
    message: String,
    heading: &'static str,
    names: Vec<String>,
}

impl NameFault {
    pub(crate) fn within(self, report: impl FnOnce(String) -> InputError) -> LabError {
        report(self.message).suggesting(&self.text, self.heading, self.names).into()
    }
}

impl Hosts {
    pub(crate) fn of(fabric: &Fabric) -> Self {
        let named = host_endpoints(fabric).map(|host| (fabric.endpoint_name(host), host)).collect();
        let of_switch = label_switches(fabric);
        let label_of = |endpoint: EndpointId| {
            let peer = fabric.target(fabric.endpoint_channel(endpoint));
            match fabric.endpoint_at(peer) {
                Some(peer) => fabric.nodes().len() + endpoint.index().min(peer.index()),
                None => of_switch[peer.node.index()],
            }
        };
        let island: Vec<usize> = fabric.endpoint_ids().map(label_of).collect();
        let mut hosts: BTreeMap<usize, Vec<EndpointId>> = BTreeMap::new();
        for endpoint in host_endpoints(fabric) {
            hosts.entry(island[endpoint.index()]).or_default().push(endpoint);
        }
        let on_island = hosts.into_iter().map(|(label, hosts)| (label, hosts.into())).collect();
        Self { named, island, on_island }
    }

    pub(crate) fn joined(&self, a: EndpointId, b: EndpointId) -> bool {
        self.island[a.index()] == self.island[b.index()]
    }

    pub(crate) fn find(&self, fabric: &Fabric, text: &str) -> Result<EndpointId, NameFault> {
        if let Some(host) = self.named.get(text) {
            return Ok(*host);
        }
        let node = fabric.find_node(text);
        let on_node = |host: &EndpointId| Some(fabric.endpoint(*host).node) == node;
        let found: Vec<EndpointId> = host_endpoints(fabric).filter(on_node).collect();
        self.the_one(fabric, text, &found)
    }

    pub(super) fn the_one(
        &self,
        fabric: &Fabric,
        text: &str,
        found: &[EndpointId],
    ) -> Result<EndpointId, NameFault> {
        match found {
            [host] => Ok(*host),
            [] => Err(self.unknown(text)),
            several => Err(NameFault {
                text: text.to_owned(),
                message: format!("`{text}` stands for several; one is needed"),
                heading: "it stands for",
                names: several.iter().map(|host| fabric.endpoint_name(*host)).collect(),
            }),
        }
    }

    pub(crate) fn unknown(&self, text: &str) -> NameFault {
        NameFault {
            text: text.to_owned(),
            message: format!("no host is called `{text}`"),
            heading: "known hosts",
            names: self.named.keys().cloned().collect(),
        }
    }
}

fn host_endpoints(fabric: &Fabric) -> impl Iterator<Item = EndpointId> {
    fabric.endpoint_ids().filter(|endpoint| fabric.is_host_endpoint(*endpoint))
}

pub(crate) fn matching(fabric: &Fabric, pattern: &str) -> Vec<EndpointId> {
    let wild = WildMatch::new(pattern);
    let exact = fabric.find_node(pattern).filter(|id| fabric.node(*id).kind == NodeKind::Host);
    let matches = |endpoint: &EndpointId| {
        let node = fabric.endpoint(*endpoint).node;
        exact == Some(node)
            || wild.matches(&fabric.node(node).name)
            || wild.matches(&fabric.endpoint_name(*endpoint))
    };
    host_endpoints(fabric).filter(matches).collect()
}

/// Labels the connected component of each switch. Hosts do not connect components, because they do
/// not forward packets.
fn label_switches(fabric: &Fabric) -> Vec<usize> {
    let mut label = vec![usize::MAX; fabric.switches().len()];
    for start in fabric.switches() {
        let mut frontier: Vec<NodeId> = vec![start];
        while let Some(node) = frontier.pop() {
            if label[node.index()] == usize::MAX {
                label[node.index()] = start.index();
                let next = fabric.channels_from(node).map(|channel| fabric.target(channel).node);
                frontier.extend(next.filter(|node| fabric.node(*node).is_switch()));
            }
        }
    }
    label
}
