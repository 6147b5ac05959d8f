//! Check for hosts with swapped adapter cables.
//!
//! ```text
//!   leaf0 ── n1 mlx5_0, n2 mlx5_0, n5 mlx5_1      the rail of mlx5_0
//!   leaf1 ── n1 mlx5_1, n2 mlx5_1, n5 mlx5_0      the rail of mlx5_1; cables of n5 swapped
//! ```
//!
//! A leaf belongs to the rail of an adapter name if more than half of the other hosts' adapters on
//! that leaf (at least two) have this name. Adapters of a host are swapped if each is cabled to the
//! rail of another.

use crate::hostname::{adapter_name, host_name};
use crate::{Fabric, Finding, FindingKind, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

const OTHERS_MIN: usize = 2;

pub(super) fn check(fabric: &Fabric) -> Vec<Finding> {
    let plugs = plugs(fabric);
    let mut at_leaf: BTreeMap<NodeId, BTreeMap<&str, usize>> = BTreeMap::new();
    let mut of_host: BTreeMap<&str, Vec<&Plug<'_>>> = BTreeMap::new();
    for plug in &plugs {
        *at_leaf.entry(plug.leaf).or_default().entry(plug.adapter).or_default() += 1;
        of_host.entry(plug.host).or_default().push(plug);
    }
    let found = of_host.values().filter_map(|of_host| swapped(fabric, of_host, &at_leaf));
    found.collect()
}

struct Plug<'a> {
    host: &'a str,
    adapter: &'a str,
    leaf: NodeId,
}

fn plugs(fabric: &Fabric) -> Vec<Plug<'_>> {
    let plug = |ends: [NodeId; 2]| {
        let [leaf, node] = ends;
        let adapter = fabric.node(node);
        let is_plug = fabric.node(leaf).is_switch() && adapter.kind == NodeKind::Host;
        let names = (host_name(adapter)?, adapter_name(adapter)?);
        is_plug.then_some(Plug { host: names.0, adapter: names.1, leaf })
    };
    fabric.cables().iter().filter_map(|cable| plug(cable.ends.map(|end| end.node))).collect()
}

fn swapped(
    fabric: &Fabric,
    of_host: &[&Plug<'_>],
    at_leaf: &BTreeMap<NodeId, BTreeMap<&str, usize>>,
) -> Option<Finding> {
    let mut misplaced = Vec::new();
    for plug in of_host {
        let mut others = at_leaf[&plug.leaf].clone();
        for own in of_host.iter().filter(|own| own.leaf == plug.leaf) {
            *others.get_mut(own.adapter).expect("it was counted") -= 1;
        }
        if let Some(rail) = rail(&others).filter(|rail| *rail != plug.adapter) {
            misplaced.push((*plug, rail));
        }
    }
    let adapters: BTreeSet<&str> = misplaced.iter().map(|(plug, _)| plug.adapter).collect();
    misplaced.retain(|(_, rail)| adapters.contains(rail));
    let rails: BTreeSet<&str> = misplaced.iter().map(|(_, rail)| *rail).collect();
    misplaced.retain(|(plug, _)| rails.contains(plug.adapter));
    let (first, _) = misplaced.first().filter(|_| misplaced.len() > 1)?;
    let places = misplaced.iter().map(|(plug, rail)| {
        let leaf = &fabric.node(plug.leaf).name;
        format!("{} is on {leaf}, the rail of {rail}", plug.adapter)
    });
    let places = places.collect::<Vec<_>>().join("; ");
    let text = format!("cables of {} look swapped: {places}", first.host);
    Some(Finding::of_fabric(FindingKind::SwappedRails, text))
}

fn rail<'a>(adapters: &BTreeMap<&'a str, usize>) -> Option<&'a str> {
    let all: usize = adapters.values().sum();
    let most = adapters.iter().find(|(_, count)| 2 * **count > all)?;
    (*most.1 >= OTHERS_MIN).then_some(*most.0)
}
