//! The nodes of Slurm: hosts, with the switches that their adapters hang on.

use super::names::{Names, word};
use crate::finding::plural;
use crate::hostname::{host_name, shared_descriptions};
use crate::routing::switch_of;
use crate::{Fabric, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Maximum number of names in a note.
const NAMED_MAX: usize = 4;

/// Hosts by the name that Slurm's file has for them.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    /// By node: its cables at each switch.
    pub(super) cables: BTreeMap<String, BTreeMap<NodeId, usize>>,
    /// Notes on adapters and hosts that were left out or renamed.
    pub(super) notes: Vec<String>,
}

impl Nodes {
    pub(super) fn of(fabric: &Fabric) -> Self {
        let adapters = Adapters::of(fabric);
        let mut nodes = Self::default();
        let mut names = Names::default();
        let (mut uncabled, mut renamed) = (Vec::new(), Vec::new());
        for (host, adapters) in &adapters.by_host {
            let cables = cables(fabric, adapters);
            if cables.is_empty() {
                uncabled.push(*host);
                continue;
            }
            let name = names.unique(&word(host));
            if name != *host {
                renamed.push(*host);
            }
            nodes.cables.insert(name, cables);
        }
        nodes.notes.extend(adapters.notes());
        nodes.note(&uncabled, "without a cable to a switch left out");
        nodes.note(&renamed, "renamed for Slurm");
        if nodes.cables.is_empty() {
            nodes.notes.push("no adapter names its host: the file has no nodes".to_owned());
        }
        nodes
    }

    fn note(&mut self, hosts: &[&str], what: &str) {
        if !hosts.is_empty() {
            let count = plural(hosts.len(), "host", "hosts");
            self.notes.push(format!("{count} {what}: {}", first_of(hosts)));
        }
    }
}

/// Adapters by the host in their description.
struct Adapters<'a> {
    by_host: BTreeMap<&'a str, Vec<NodeId>>,
    /// Adapters without a description of their own: none, the vendor's, or a placeholder.
    nameless: usize,
    /// Descriptions that several systems share.
    shared: BTreeMap<&'a str, Vec<NodeId>>,
}

impl<'a> Adapters<'a> {
    fn of(fabric: &'a Fabric) -> Self {
        let mut shared = shared_descriptions(fabric);
        shared.retain(|_, adapters| host_name(fabric.node(adapters[0])).is_some());
        let is_shared: BTreeSet<NodeId> = shared.values().flatten().copied().collect();
        let mut by_host: BTreeMap<&str, Vec<NodeId>> = BTreeMap::new();
        let mut nameless = 0;
        for id in fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host) {
            match host_name(fabric.node(id)) {
                None => nameless += 1,
                Some(_) if is_shared.contains(&id) => {}
                Some(host) => by_host.entry(host).or_default().push(id),
            }
        }
        Self { by_host, nameless, shared }
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.nameless > 0 {
            let count = plural(self.nameless, "adapter", "adapters");
            notes.push(format!("{count} whose description names no host left out"));
        }
        if !self.shared.is_empty() {
            let adapters = self.shared.values().map(Vec::len).sum();
            let count = plural(adapters, "adapter", "adapters");
            let names: Vec<&str> = self.shared.keys().copied().collect();
            let names = first_of(&names);
            notes
                .push(format!("{count} of several systems with one description left out: {names}"));
        }
        notes
    }
}

/// Cables of these adapters by the switch that they lead to.
fn cables(fabric: &Fabric, adapters: &[NodeId]) -> BTreeMap<NodeId, usize> {
    let channels = adapters.iter().flat_map(|adapter| fabric.channels_from(*adapter));
    let endpoints = channels.filter_map(|channel| fabric.endpoint_at(fabric.source(channel)));
    let mut cables = BTreeMap::new();
    for switch in endpoints.filter_map(|endpoint| switch_of(fabric, endpoint)) {
        *cables.entry(switch).or_default() += 1;
    }
    cables
}

/// The first of some names, and how many more there are.
pub(super) fn first_of(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
