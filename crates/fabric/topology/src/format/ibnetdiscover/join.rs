//! Conversion of records to a fabric.
//!
//! ```text
//!   S-a: [1] "H-b"[2]  ┐  both lines agree: one cable
//!   H-b: [2] "S-a"[1]  ┘
//!   S-a: [3] "H-c"[1]  ── no matching line of H-c: a one-sided cable
//!   S-a: [3] "H-d"[1]  ── the port is in use: a disagreement; the first line is kept
//! ```
//!
//! Names are not compared: with a node name map, `ibnetdiscover` prints the mapped name at the far
//! end of a link, but the unmapped name in the node's record.

use super::comment::NoLid;
use super::records::{Mention, NodeKey, Record, Records, description, guid_of_id, refine};
use crate::format::text::Parsed;
use crate::speed::ReportedSpeed;
use crate::{Address, DraftNode, FabricBuilder, FindingKind, Identity, Node, NodeKind};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

type RecordPort = (usize, u16);

const MISSING_NAMED_MAX: usize = 3;

#[derive(Debug)]
struct HalfCable {
    /// Both ends; the first is the end whose record comes first.
    ends: [RecordPort; 2],
    speed: ReportedSpeed,
    line: u32,
    has_answer: bool,
}

pub(super) fn join(mut records: Records<'_>) -> Parsed {
    records.finish();
    let mentions = std::mem::take(&mut records.mentions);
    define_missing(&mut records, &mentions);
    let cables = cables(&mut records, &mentions);
    report_one_sided(&mut records, &cables);
    for mention in &mentions {
        compare_address(&mut records, mention);
    }
    report_no_lids(&mut records);
    widen(&mut records, &cables);
    build(records, &cables)
}

fn define_missing<'a>(records: &mut Records<'a>, mentions: &[Mention<'a>]) {
    let mut missing: BTreeMap<NodeKey<'_>, (BTreeSet<u16>, &str)> = BTreeMap::new();
    for Mention { remote, .. } in mentions {
        let key = NodeKey::of(remote.id);
        if !records.index.contains_key(&key) {
            let (ports, text) = missing.entry(key).or_default();
            ports.insert(remote.port);
            if text.is_empty() {
                *text = remote.description;
            }
        }
    }
    let ends = missing.values().map(|(ports, _)| ports.len()).sum();
    let mut labels = Vec::new();
    for Mention { line, remote, .. } in mentions {
        let key = NodeKey::of(remote.id);
        let Some((ports, text)) = missing.remove(&key) else { continue };
        let record = undefined(remote.id, description(remote.id, text), &ports);
        labels.push((*line, label(&record)));
        records.index.insert(key, records.nodes.len());
        records.nodes.push(record);
    }
    let last = mentions.iter().map(|mention| mention.line).max();
    report_missing(records, &labels, ends, last.unwrap_or(0));
}

fn report_missing(records: &mut Records<'_>, labels: &[(u32, String)], ends: usize, last: u32) {
    if labels.len() <= MISSING_NAMED_MAX {
        for (line, label) in labels {
            let text = format!("{label} has no record; it is known from links only");
            records.find(*line, FindingKind::UndefinedNode, text);
        }
        return;
    }
    let first: Vec<&str> =
        labels.iter().take(MISSING_NAMED_MAX).map(|(_, label)| label.as_str()).collect();
    let text = format!(
        "the links end here, and {ends} ends of cables are missing: {} nodes have no record ({} and {} more). If the dump \
         was cut, take it again with `ibnetdiscover`; until then they are known from links only",
        labels.len(),
        first.join(", "),
        labels.len() - first.len()
    );
    records.find(last, FindingKind::UndefinedNode, text);
}

/// Creates the record of an undefined node. Ids in ibsim files do not show the kind: nodes with
/// several ports in use count as switches.
fn undefined<'a>(id: &'a str, description: String, ports: &BTreeSet<u16>) -> Record<'a> {
    let guid = guid_of_id(id);
    let kind = match id.as_bytes() {
        [b'S', ..] if guid.is_some() => NodeKind::Switch,
        [b'R', ..] if guid.is_some() => NodeKind::Router,
        _ if guid.is_none() && ports.len() > 1 => NodeKind::Switch,
        _ => NodeKind::Host,
    };
    Record {
        id,
        line: None,
        kind: refine(kind, &description),
        guid,
        description,
        ports: ports.last().copied().unwrap_or(0),
        identity: Identity::default(),
        addresses: BTreeMap::new(),
    }
}

fn cables(records: &mut Records<'_>, mentions: &[Mention<'_>]) -> Vec<HalfCable> {
    let mut cables: Vec<HalfCable> = Vec::new();
    let mut holder: BTreeMap<RecordPort, usize> = BTreeMap::new();
    for mention in mentions {
        let ends = ends(records, mention);
        let held = ends.map(|end| holder.get(&end).copied());
        let (line, speed) = (mention.line, mention.speed);
        match held {
            [None, None] if ends[0] != ends[1] && ends[1].1 > 0 => {
                holder.extend(ends.map(|end| (end, cables.len())));
                cables.push(HalfCable { ends, speed, line, has_answer: false });
            }
            [None, None] => {
                let [from, to] = ends.map(|end| name(records, end));
                let to = if from == to { "itself" } else { &to };
                let text = format!("{from} cannot be cabled to {to}");
                records.find(line, FindingKind::Disagreement, text);
            }
            [Some(first), Some(second)] if first == second => {
                cables[first].has_answer |= cables[first].ends[0] != ends[0];
                compare_speed(records, &mut cables[first], mention);
            }
            [Some(first), _] | [None, Some(first)] => {
                report_conflict(records, &cables[first], ends, line);
            }
        }
    }
    cables
}

fn ends(records: &Records<'_>, mention: &Mention<'_>) -> [RecordPort; 2] {
    let far = records.index[&NodeKey::of(mention.remote.id)];
    [(mention.record, mention.port), (far, mention.remote.port)]
}

fn report_conflict(records: &mut Records<'_>, held: &HalfCable, ends: [RecordPort; 2], line: u32) {
    let [from, to] = ends.map(|end| name(records, end));
    let [one, other] = held.ends.map(|end| name(records, end));
    let text = format!(
        "{from} is listed as joined to {to}, but line {} joins {one} and {other}; that line is kept",
        held.line
    );
    records.find(line, FindingKind::Disagreement, text);
}

/// Completes a partially known speed with the speed at the other end, or reports a contradiction.
fn compare_speed(records: &mut Records<'_>, cable: &mut HalfCable, mention: &Mention<'_>) {
    let (first, here) = (cable.speed, mention.speed);
    cable.speed = first.or(here);
    if first.contradicts(here) {
        let place = name(records, (mention.record, mention.port));
        let line = cable.line;
        let text = if cable.speed == first {
            format!("{place} runs at {here} here and at {first} in line {line}, kept")
        } else {
            format!("{place} runs at {here} here, kept, and at {first} in line {line}")
        };
        records.find(mention.line, FindingKind::Disagreement, text);
    }
}

fn report_one_sided(records: &mut Records<'_>, cables: &[HalfCable]) {
    for cable in cables.iter().filter(|cable| !cable.has_answer) {
        let [near, far] = cable.ends;
        if records.nodes[far.0].line.is_some() {
            let (near, far) = (name(records, near), name(records, far));
            let text = format!("{near} goes to {far}, which does not list the cable");
            records.find(cable.line, FindingKind::OneSidedCable, text);
        }
    }
}

/// Adds the address that a link gives for its far end to the far node's record.
fn compare_address(records: &mut Records<'_>, mention: &Mention<'_>) {
    let (far, port) = ends(records, mention)[1];
    let is_switch = records.nodes[far].kind == NodeKind::Switch;
    let port = if is_switch { 0 } else { port };
    if let Some(what) = mention.remote.no_lid {
        records.no_lids.entry((far, port)).or_insert((mention.line, what));
    }
    let stated = Address {
        guid: mention.remote.guid.filter(|_| !is_switch),
        lid: mention.remote.lid,
        lmc: None,
    };
    if stated == Address::default() || (port == 0 && !is_switch) {
        return;
    }
    let known = records.nodes[far].addresses.entry(port).or_default();
    known.guid = known.guid.or(stated.guid);
    known.lid = known.lid.or(stated.lid);
    let differences =
        [difference("GUID", known.guid, stated.guid), difference("LID", known.lid, stated.lid)];
    for difference in differences.into_iter().flatten() {
        let text = format!("{} has {difference}", name(records, (far, port)));
        records.find(mention.line, FindingKind::Disagreement, text);
    }
}

fn report_no_lids(records: &mut Records<'_>) {
    for (port, (line, what)) in std::mem::take(&mut records.no_lids) {
        let what = match what {
            NoLid::Empty => "is empty",
            NoLid::Negative => "is below zero",
        };
        let text = format!("the LID of {} {what}", name(records, port));
        records.find(line, FindingKind::NoLid, text);
    }
}

fn difference<T: Display + PartialEq>(
    what: &str,
    known: Option<T>,
    stated: Option<T>,
) -> Option<String> {
    let (known, stated) = known.zip(stated)?;
    (known != stated).then(|| format!("{what} {known} elsewhere, and {stated} here"))
}

fn widen(records: &mut Records<'_>, cables: &[HalfCable]) {
    for cable in cables {
        for (index, port) in cable.ends {
            let (claimed, known) = (records.nodes[index].ports, records.nodes[index].line);
            if port > claimed {
                records.nodes[index].ports = port;
                if known.is_some() {
                    let place = name(records, (index, port));
                    let text = format!("{place} is in use, and the record claims {claimed} ports");
                    records.find(cable.line, FindingKind::Disagreement, text);
                }
            }
        }
    }
}

fn build(records: Records<'_>, cables: &[HalfCable]) -> Parsed {
    let mut builder = FabricBuilder::new();
    let nodes: Vec<DraftNode> =
        records.nodes.into_iter().map(|record| builder.add_node(node(record))).collect();
    for cable in cables {
        let ends = cable.ends.map(|(index, port)| (nodes[index], port));
        builder.add_cable(ends, cable.speed.known, None).expect("ports exist and are used once");
        builder.set_partial_speed(ends[0], cable.speed.partial);
    }
    Parsed { fabric: builder.build(), findings: records.findings }
}

/// Converts a record; the node's name is its id, or its description if the id is a GUID.
fn node(record: Record<'_>) -> Node {
    let is_named = guid_of_id(record.id).is_none();
    Node {
        kind: record.kind,
        name: if is_named { record.id.to_owned() } else { record.description.clone() },
        guid: record.guid,
        description: record.description,
        ports: record.ports,
        identity: record.identity,
        addresses: record.addresses,
    }
}

/// Formats a port, such as `S-0008f10500200b50[4] ("spine 1")`.
fn name(records: &Records<'_>, (index, port): RecordPort) -> String {
    let Record { id, description, .. } = &records.nodes[index];
    if description.is_empty() || description == id {
        format!("{id}[{port}]")
    } else {
        format!("{id}[{port}] ({description:?})")
    }
}

fn label(record: &Record<'_>) -> String {
    let Record { id, description, .. } = record;
    if description.is_empty() || description == id {
        (*id).to_owned()
    } else {
        format!("{id} ({description:?})")
    }
}
