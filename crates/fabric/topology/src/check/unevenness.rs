//! Check for uneven cable counts and speeds, which often explain why a part of the fabric is
//! slower.
//!
//! Each finding names one example of the most common value, and up to eight examples of every other
//! value.

use crate::finding::plural;
use crate::{Cable, Fabric, Finding, FindingKind, NodeId, NodeKind};
use std::collections::BTreeMap;
use std::fmt::Display;

const NAMED_MAX: usize = 8;

pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let notes = [bundles(fabric), uplinks(fabric), speeds(fabric)];
    notes
        .into_iter()
        .flatten()
        .map(|text| Finding::of_fabric(FindingKind::Unevenness, text))
        .collect()
}

pub(super) fn bundle_sizes(fabric: &Fabric) -> BTreeMap<(NodeId, NodeId), usize> {
    let mut sizes = BTreeMap::new();
    for [a, b] in fabric.cables().iter().map(|cable| cable.ends.map(|end| end.node)) {
        if a != b && fabric.node(a).is_switch() && fabric.node(b).is_switch() {
            *sizes.entry((a, b)).or_default() += 1;
        }
    }
    sizes
}

pub(super) fn host_cables(fabric: &Fabric) -> Vec<usize> {
    let is_host = |channel| fabric.node(fabric.target(channel).node).kind == NodeKind::Host;
    let count = |id| fabric.channels_from(id).filter(|channel| is_host(*channel)).count();
    fabric.switches().map(count).collect()
}

fn bundles(fabric: &Fabric) -> Option<String> {
    let sizes = bundle_sizes(fabric);
    let name =
        |(a, b): (NodeId, NodeId)| format!("{} and {}", fabric.node(a).name, fabric.node(b).name);
    uneven(sizes.into_iter().map(|(pair, size)| (size, name(pair)))).map(|counts| {
        let shown = counts.iter().map(|count| {
            let pairs = plural(count.times, "pair", "pairs");
            format!("{pairs} by {} ({})", plural(count.value, "cable", "cables"), count.named())
        });
        format!("pairs of switches are joined unevenly: {}", join(shown))
    })
}

fn uplinks(fabric: &Fabric) -> Option<String> {
    let is_switch = |channel| fabric.node(fabric.target(channel).node).is_switch();
    let leaves = fabric.switches().zip(host_cables(fabric)).filter(|(_, hosts)| *hosts > 0);
    let counts = leaves.map(|(id, _)| {
        let uplinks = fabric.channels_from(id).filter(|channel| is_switch(*channel)).count();
        (uplinks, fabric.node(id).name.clone())
    });
    uneven(counts).map(|counts| {
        let shown = counts.iter().map(|count| {
            let leaves = plural(count.times, "leaf", "leaves");
            format!("{leaves} with {} ({})", count.value, count.named())
        });
        format!("leaf switches have uneven numbers of uplinks: {}", join(shown))
    })
}

fn speeds(fabric: &Fabric) -> Option<String> {
    let is_trunk = |cable: &&Cable| cable.ends.iter().all(|end| fabric.node(end.node).is_switch());
    let describe = |what: &str, wanted: bool| {
        let cables = fabric.cables().iter().filter(|cable| is_trunk(cable) == wanted);
        let known = cables.filter_map(|cable| {
            let name = fabric.port_name(cable.ends[1]);
            cable.speed.map(|speed| (speed, name))
        });
        uneven(known.map(|(speed, name)| ((speed.rate(), speed), name))).map(|counts| {
            let shown = counts.iter().map(|count| {
                let cables = plural(count.times, "cable", "cables");
                format!("{cables} at {} ({})", count.value.1, count.named())
            });
            format!("{what}: {}", join(shown))
        })
    };
    let parts = [describe("between switches", true), describe("at other nodes", false)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    (!parts.is_empty()).then(|| format!("speeds are mixed {}", parts.join("; ")))
}

fn join(parts: impl Iterator<Item = impl Display>) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(", ")
}

struct Count<T> {
    value: T,
    times: usize,
    names: Vec<String>,
}

impl<T> Count<T> {
    fn named(&self) -> String {
        let named = self.names.join("; ");
        let more = self.times - self.names.len();
        if self.names.len() == 1 || more == 0 { named } else { format!("{named}; and {more} more") }
    }
}

fn uneven<T: Ord + Copy>(values: impl Iterator<Item = (T, String)>) -> Option<Vec<Count<T>>> {
    let mut by_value: BTreeMap<T, Vec<String>> = BTreeMap::new();
    for (value, name) in values {
        by_value.entry(value).or_default().push(name);
    }
    let most = by_value.values().map(Vec::len).max()?;
    let count = |(value, mut names): (T, Vec<String>)| {
        let times = names.len();
        names.truncate(if times == most { 1 } else { NAMED_MAX });
        Count { value, times, names }
    };
    Some(by_value.into_iter().map(count).collect::<Vec<_>>()).filter(|counts| counts.len() > 1)
}
