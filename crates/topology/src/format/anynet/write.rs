//! Writing an anynet file.

use super::{CYCLES_MAX, MM_PER_CYCLE};
use crate::format::error::WriteError;
use crate::format::text::Written;
use crate::numbering::{host_number, switch_number};
use crate::{Cable, Fabric, Node, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Writes `fabric` as an anynet file: one line a router, each link in the line of its first
/// router.
pub(in crate::format) fn write(fabric: &Fabric) -> Result<Written, WriteError> {
    refuse(fabric)?;
    let (numbers, mut notes) = numbers(fabric);
    let mut pairs = BTreeSet::new();
    let with_latencies = latencies_hold(fabric);
    let mut text = String::new();
    for switch in fabric.switches() {
        let mut line = format!("router {}", numbers[&switch]);
        for channel in fabric.channels_from(switch) {
            let other = fabric.target(channel).node;
            let word = match fabric.node(other).kind {
                NodeKind::Switch => "router",
                NodeKind::Host => "node",
                _ => continue,
            };
            if other != switch && pairs.insert((switch.min(other), switch.max(other))) {
                line = format!("{line} {word} {}", numbers[&other]);
                if let Some(cycles) = cycles(fabric.cable_of(channel)).filter(|_| with_latencies) {
                    line = format!("{line} {cycles}");
                }
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    notes.extend(losses(fabric, pairs.len(), &text, with_latencies));
    Ok(Written { text, notes })
}

/// A length as a latency, where it is one.
fn cycles(cable: &Cable) -> Option<u64> {
    let mm = cable.length?.as_mm();
    let cycles = mm / MM_PER_CYCLE + 1;
    (mm % MM_PER_CYCLE == 0 && (1..=CYCLES_MAX).contains(&cycles)).then_some(cycles)
}

/// Whether the lengths of all cables are latencies: a cable without one would get one.
fn latencies_hold(fabric: &Fabric) -> bool {
    fabric.cables().iter().all(|cable| cycles(cable).is_some())
}

/// What no numbering mends: a host that is not at exactly one switch.
fn refuse(fabric: &Fabric) -> Result<(), WriteError> {
    let refusal = |id: NodeId, what: &str| {
        Err(WriteError {
            message: format!("{} {what}", fabric.node(id).name),
            expected: "anynet joins a node to exactly one router; write toml instead".to_owned(),
        })
    };
    if fabric.switches().len() == 0 {
        return Err(WriteError {
            message: "the fabric has no switch".to_owned(),
            expected: "anynet lists the neighbours of routers; write toml instead".to_owned(),
        });
    }
    for id in hosts(fabric) {
        let mut channels = fabric.channels_from(id);
        let first = channels.next();
        if channels.next().is_some() {
            return refusal(id, "has several cables");
        }
        if first.is_some_and(|channel| !fabric.node(fabric.target(channel).node).is_switch()) {
            return refusal(id, "is cabled to a node that is no switch");
        }
    }
    Ok(())
}

fn hosts(fabric: &Fabric) -> impl Iterator<Item = NodeId> {
    fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host)
}

/// The numbers that GUIDs stand for, or else dense ones in canonical order.
fn numbers(fabric: &Fabric) -> (BTreeMap<NodeId, u64>, Vec<String>) {
    let given: Option<BTreeMap<NodeId, u64>> = fabric
        .switches()
        .chain(hosts(fabric))
        .map(|id| Some((id, number(fabric.node(id))?)))
        .collect();
    if let Some(given) = given.filter(|given| are_distinct(fabric, given)) {
        return (given, Vec::new());
    }
    let dense = fabric.switches().zip(0..).chain(hosts(fabric).zip(0..)).collect();
    let note = "GUIDs left out: routers and nodes are numbered from 0 in canonical order";
    (dense, vec![note.to_owned()])
}

fn number(node: &Node) -> Option<u64> {
    if node.is_switch() { switch_number(node.guid?) } else { host_number(node.guid?) }
}

fn are_distinct(fabric: &Fabric, numbers: &BTreeMap<NodeId, u64>) -> bool {
    let seen: BTreeSet<(NodeKind, u64)> =
        numbers.iter().map(|(id, number)| (fabric.node(*id).kind, *number)).collect();
    seen.len() == numbers.len()
}

/// What the text does not say, by counting and by reading it back.
fn losses(fabric: &Fabric, links: usize, text: &str, with_latencies: bool) -> Vec<String> {
    let kind = |kinds: &[NodeKind]| {
        fabric.nodes().iter().filter(|node| kinds.contains(&node.kind)).count()
    };
    let holds = |id: NodeId| matches!(fabric.node(id).kind, NodeKind::Switch | NodeKind::Host);
    let cables = fabric.cables();
    let held = cables.iter().filter(|cable| cable.ends.iter().all(|end| holds(end.node))).count();
    let idle = hosts(fabric).filter(|id| fabric.channels_from(*id).next().is_none()).count();
    let speeds = cables.iter().filter(|cable| cable.speed.is_some()).count();
    let told = |cable: &&Cable| cable.length.is_some() && !with_latencies;
    let lengths = cables.iter().filter(told).count();
    let mut notes: Vec<String> = [
        (
            "aggregation nodes and routers left out",
            kind(&[NodeKind::Aggregation, NodeKind::Router]),
        ),
        ("hosts without a cable left out", idle),
        (
            "cables beside another of the same two switches, or of a switch to itself, left out",
            held - links,
        ),
        ("speeds of cables left out", speeds),
        ("lengths of cables left out", lengths),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(what, count)| format!("{what}: {count}"))
    .collect();
    let back = super::read(text).expect("our own text is well formed").fabric;
    let ends = |fabric: &Fabric| -> Vec<_> {
        fabric.cables().iter().map(|cable| cable.ends.map(|end| (end.node, end.port))).collect()
    };
    let is_whole =
        back.cables().len() == cables.len() && back.nodes().len() == fabric.nodes().len();
    if is_whole && ends(&back) != ends(fabric) {
        notes.push("numbers of ports left out".to_owned());
    }
    notes
}
