//! Writing of anynet files.

use super::{CYCLES_MAX, MM_PER_CYCLE};
use crate::format::error::WriteError;
use crate::format::text::Written;
use crate::numbering::{host_number, switch_number};
use crate::{Cable, ChannelId, Fabric, Guid, NodeId, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Writes one line per router; each link appears in the line of its first router. Router and node
/// numbers start at 0 and have no gaps, because BookSim uses them as indices. Routers without links
/// are omitted: BookSim would not recognise them (`anynet.cpp`, `readFile`).
pub(in crate::format) fn write(fabric: &Fabric) -> Result<Written, WriteError> {
    refuse(fabric)?;
    let links = links(fabric);
    if links.is_empty() {
        return Err(WriteError {
            message: "the fabric has no cable between two switches, or a switch and a host"
                .to_owned(),
            expected: "anynet lists the neighbours of routers; write toml instead".to_owned(),
        });
    }
    let linked: BTreeSet<NodeId> = links.keys().flatten().copied().collect();
    let (numbers, renumbered) = numbers(fabric, &linked);
    let with_latencies = latencies_hold(fabric);
    let mut text = String::new();
    for switch in fabric.switches().filter(|switch| linked.contains(switch)) {
        let mut line = format!("router {}", numbers[&switch]);
        for channel in fabric.channels_from(switch) {
            let other = fabric.target(channel).node;
            if links.get(&pair(switch, other)) != Some(&channel) {
                continue;
            }
            let word = if fabric.node(other).is_switch() { "router" } else { "node" };
            line = format!("{line} {word} {}", numbers[&other]);
            if let Some(cycles) = cycles(fabric.cable_of(channel)).filter(|_| with_latencies) {
                line = format!("{line} {cycles}");
            }
        }
        text.push_str(&line);
        text.push('\n');
    }
    let mut notes = Vec::from_iter(renumbered);
    notes.extend(losses(fabric, links.len(), &text, with_latencies));
    let idle = fabric.switches().filter(|switch| !linked.contains(switch)).count();
    if idle > 0 {
        notes.push(format!("switches without a cable left out: {idle}"));
    }
    let parts = parts(&links);
    if parts > 1 {
        notes.push(format!("parts that no cable joins, which BookSim refuses: {parts}"));
    }
    Ok(Written { text, notes })
}

/// Returns the linked node pairs. The channel of each pair leaves the switch whose line contains
/// the link.
fn links(fabric: &Fabric) -> BTreeMap<[NodeId; 2], ChannelId> {
    let mut links = BTreeMap::new();
    for switch in fabric.switches() {
        for channel in fabric.channels_from(switch) {
            let other = fabric.target(channel).node;
            let is_held = matches!(fabric.node(other).kind, NodeKind::Switch | NodeKind::Host);
            if is_held && other != switch {
                links.entry(pair(switch, other)).or_insert(channel);
            }
        }
    }
    links
}

fn pair(one: NodeId, other: NodeId) -> [NodeId; 2] {
    [one.min(other), one.max(other)]
}

fn parts(links: &BTreeMap<[NodeId; 2], ChannelId>) -> usize {
    let mut neighbours: BTreeMap<NodeId, Vec<NodeId>> = BTreeMap::new();
    for [one, other] in links.keys() {
        neighbours.entry(*one).or_default().push(*other);
        neighbours.entry(*other).or_default().push(*one);
    }
    let mut parts = 0;
    while let Some((first, reached)) = neighbours.pop_first() {
        parts += 1;
        let mut waiting = reached;
        neighbours.remove(&first);
        while let Some(node) = waiting.pop() {
            waiting.extend(neighbours.remove(&node).unwrap_or_default());
        }
    }
    parts
}

/// Returns the latency of a cable in cycles; `None` unless the length is a whole number of metres
/// in range.
fn cycles(cable: &Cable) -> Option<u64> {
    let mm = cable.length?.as_mm();
    let cycles = mm / MM_PER_CYCLE + 1;
    (mm % MM_PER_CYCLE == 0 && (1..=CYCLES_MAX).contains(&cycles)).then_some(cycles)
}

fn latencies_hold(fabric: &Fabric) -> bool {
    fabric.cables().iter().all(|cable| cycles(cable).is_some())
}

/// Refuses fabrics that anynet cannot represent.
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
            return refusal(id, "is cabled to a node that is not a switch");
        }
    }
    Ok(())
}

fn hosts(fabric: &Fabric) -> impl Iterator<Item = NodeId> {
    fabric.node_ids().filter(|id| fabric.node(*id).kind == NodeKind::Host)
}

/// Returns node numbers: from the GUIDs if these leave no gaps, otherwise in canonical order.
fn numbers(fabric: &Fabric, linked: &BTreeSet<NodeId>) -> (BTreeMap<NodeId, u64>, Option<String>) {
    let of = |is_switch| {
        linked.iter().copied().filter(move |id| fabric.node(*id).is_switch() == is_switch)
    };
    let numbered = [(true, switch_number as fn(Guid) -> Option<u64>), (false, host_number)];
    let given: [Option<Vec<(NodeId, u64)>>; 2] = numbered.map(|(is_switch, number)| {
        of(is_switch).map(|id| Some((id, number(fabric.node(id).guid?)?))).collect()
    });
    if let [Some(switches), Some(hosts)] = given
        && [&switches, &hosts].into_iter().all(|numbers| are_without_gap(numbers))
    {
        return (switches.into_iter().chain(hosts).collect(), None);
    }
    let dense = of(true).zip(0..).chain(of(false).zip(0..)).collect();
    let note = "GUIDs left out: routers and nodes are numbered from 0 in canonical order";
    (dense, Some(note.to_owned()))
}

fn are_without_gap(numbers: &[(NodeId, u64)]) -> bool {
    let seen: BTreeSet<u64> = numbers.iter().map(|(_, number)| *number).collect();
    seen.len() == numbers.len() && seen.into_iter().eq(0..numbers.len() as u64)
}

fn losses(fabric: &Fabric, links: usize, text: &str, with_latencies: bool) -> Vec<String> {
    let kind = |kinds: &[NodeKind]| {
        fabric.nodes().iter().filter(|node| kinds.contains(&node.kind)).count()
    };
    let holds = |id: NodeId| matches!(fabric.node(id).kind, NodeKind::Switch | NodeKind::Host);
    let cables = fabric.cables();
    let held = cables.iter().filter(|cable| cable.ends.iter().all(|end| holds(end.node))).count();
    let idle = hosts(fabric).filter(|id| fabric.channels_from(*id).next().is_none()).count();
    let speeds = cables.iter().filter(|cable| cable.speed.is_some()).count();
    let loses_length = |cable: &&Cable| cable.length.is_some() && !with_latencies;
    let lengths = cables.iter().filter(loses_length).count();
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
