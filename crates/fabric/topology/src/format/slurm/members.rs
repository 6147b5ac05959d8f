//! Slurm names of cluster nodes.

use super::Form;
use super::names::Names;
use crate::cluster::{Basis, Cluster, ClusterNode, Role};
use crate::finding::plural;
use crate::hostname::{host_name, shared_descriptions};
use crate::{Fabric, NodeId};
use std::collections::BTreeSet;

const NAMED_MAX: usize = 4;

#[derive(Debug)]
pub(super) struct Members {
    /// Slurm name of each cluster node; `None` if the node is omitted.
    pub(super) names: Vec<Option<String>>,
    pub(super) notes: Vec<String>,
}

impl Members {
    pub(super) fn of(fabric: &Fabric, cluster: &Cluster, form: Form) -> Self {
        let mut members = Self { names: Vec::new(), notes: Vec::new() };
        let mut names = Names::default();
        let (mut uncabled, mut renamed, mut others) = (Vec::new(), Vec::new(), Vec::new());
        let mut nameless = BTreeSet::new();
        for node in &cluster.nodes {
            let host = &*node.name;
            if !has_host_name(node) {
                nameless.extend(node.adapters.iter().map(|adapter| adapter.device));
                members.names.push(None);
            } else if node.unit.is_none() {
                uncabled.push(host);
                members.names.push(None);
            } else if form == Form::Block && node.role != Role::Compute {
                others.push(host);
                members.names.push(None);
            } else {
                let name = names.unique(host);
                if name != host {
                    renamed.push(host);
                }
                members.names.push(Some(name));
            }
        }
        members.note_adapters(fabric, &nameless);
        members.note(&uncabled, "without a cable to a switch left out");
        members.note(&others, "of other roles than compute left out");
        members.note(&renamed, "renamed for Slurm");
        members
    }

    fn note(&mut self, hosts: &[&str], what: &str) {
        if !hosts.is_empty() {
            let count = plural(hosts.len(), "host", "hosts");
            self.notes.push(format!("{count} {what}: {}", first_of(hosts)));
        }
    }

    fn note_adapters(&mut self, fabric: &Fabric, nameless: &BTreeSet<NodeId>) {
        let mut shared = shared_descriptions(fabric);
        shared.retain(|_, adapters| {
            adapters.retain(|adapter| nameless.contains(adapter));
            adapters.first().is_some_and(|first| host_name(fabric.node(*first)).is_some())
        });
        let of_several: usize = shared.values().map(Vec::len).sum();
        if nameless.len() > of_several {
            let count = plural(nameless.len() - of_several, "adapter", "adapters");
            self.notes.push(format!("{count} whose description names no host left out"));
        }
        if of_several > 0 {
            let count = plural(of_several, "adapter", "adapters");
            let names: Vec<&str> = shared.into_keys().collect();
            let names = first_of(&names);
            self.notes
                .push(format!("{count} of several systems with one description left out: {names}"));
        }
    }
}

fn has_host_name(node: &ClusterNode) -> bool {
    let names = |basis| matches!(basis, Basis::Description | Basis::Rule);
    node.adapters.iter().any(|adapter| names(adapter.basis))
}

pub(super) fn first_of(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED_MAX)].join(", ");
    match names.len().saturating_sub(NAMED_MAX) {
        0 => first,
        more => format!("{first} and {more} more"),
    }
}
