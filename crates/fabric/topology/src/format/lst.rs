//! Link lists of OpenSM (`opensm-subnet.lst`) and ibdiagnet (`ibdiagnet2.lst`).
//!
//! ```text
//!   { SW Ports:24 SystemGUID:0002c9020041767b NodeGUID:.. PortGUID:.. VenID:0002C9 DevID:BD36
//!     Rev:000000A1 {spine 1} LID:0009 PN:0E } { CA Ports:01 .. {node1 HCA-1} LID:0004 PN:01 }
//!     PHY=4x LOG=ACT SPD=10                               (one line per link direction)
//! ```
//!
//! All numbers are hexadecimal. Older releases of ibdiagnet omit the description. The subnet
//! manager's node is `SW-SM` or `CA-SM`. A node's fields are read from lines that start with the
//! node. Lines that end with the node only fill gaps, because some releases print wrong fields
//! there.
//!
//! Sources: OpenSM, `osm_dump.c`, `dump_topology_node`; ibutils, `ibdm/Fabric.cpp`, `parseCables`.

use super::error::{FormatError, count};
use super::faults::{Collected, Faults};
use super::ibnetdiscover::refine;
use super::text::Parsed;
use crate::speed::ReportedSpeed;
use crate::{
    Address, DraftNode, FabricBuilder, Finding, FindingKind, Generation, Guid, Identity, LinkSpeed,
    Node, NodeKind, PartialSpeed,
};
use std::collections::BTreeMap;

const EXPECTED: &str = "expected a link such as `{ SW Ports:24 SystemGUID:.. NodeGUID:.. \
                        PortGUID:.. VenID:.. DevID:.. Rev:.. {name} LID:0009 PN:0E } { CA .. } \
                        PHY=4x LOG=ACT SPD=10`";

/// InfiniBand generations by printed speed, mostly the signalling rate per lane in Gbit/s.
const SPEEDS: [(&str, Generation); 10] = [
    ("2.5", Generation::Sdr),
    ("5", Generation::Ddr),
    ("10", Generation::Qdr),
    ("FDR10", Generation::Fdr10),
    ("14", Generation::Fdr),
    ("25", Generation::Edr),
    ("50", Generation::Hdr),
    ("53", Generation::Hdr),
    ("100", Generation::Ndr),
    ("200", Generation::Xdr),
];

pub(super) fn is_link(line: &str) -> bool {
    let kind = line.strip_prefix("{ ").and_then(|rest| rest.split(' ').next());
    kind.is_some_and(|kind| node_kind(kind).is_some() || kind == "**") && line.contains("NodeGUID:")
}

struct End<'a> {
    kind: NodeKind,
    ports: u16,
    guid: Guid,
    port_guid: Option<Guid>,
    identity: Identity,
    description: &'a str,
    lid: Option<u16>,
    port: u16,
}

type Port = (Guid, u16);

#[derive(Default)]
struct Links {
    nodes: BTreeMap<Guid, (Node, bool)>,
    cables: BTreeMap<Port, (Port, ReportedSpeed, u32)>,
    findings: Vec<Finding>,
}

pub(super) fn read(text: &str) -> Result<Parsed, Faults> {
    let mut links = Links::default();
    let mut faults = Collected::default();
    for (index, line) in text.lines().enumerate() {
        let (number, line) = (count(index + 1), line.trim());
        if line.is_empty() || line.starts_with(['#', '-']) {
            continue;
        }
        if let Some((ends, speed)) = link(line) {
            links.add(number, ends, speed);
        } else {
            let shown: String = line.chars().take(40).collect();
            let message = format!("cannot read {shown:?}");
            faults.keep(Err(FormatError::at(number, None, message, EXPECTED)));
        }
    }
    faults.finish()?;
    Ok(links.finish())
}

/// Parses `{ .. } { .. } PHY=4x LOG=ACT SPD=10`.
fn link(line: &str) -> Option<([End<'_>; 2], ReportedSpeed)> {
    let (near, rest) = end(line)?;
    let (far, rest) = end(rest.trim_start())?;
    Some(([near, far], speed(rest)?))
}

fn end(text: &str) -> Option<(End<'_>, &str)> {
    let text = text.strip_prefix("{ ")?;
    let (kind, mut rest) = text.split_once(' ')?;
    let kind = node_kind(kind)?;
    let mut fields = BTreeMap::new();
    let mut description = "";
    loop {
        rest = rest.trim_start();
        if let Some(after) = rest.strip_prefix('{') {
            let length = after.find("} LID:")?;
            description = &after[..length];
            rest = &after[length + 1..];
        } else if let Some(after) = rest.strip_prefix('}') {
            rest = after;
            break;
        } else {
            let length = rest.find([' ', '}'])?;
            let (key, value) = rest[..length].split_once(':')?;
            fields.insert(key, value);
            rest = &rest[length..];
        }
    }
    let number = |key: &str| u64::from_str_radix(fields.get(key)?, 16).ok();
    let guid = |key: &str| number(key).map(Guid);
    let short = |key: &str| number(key).and_then(|number| u16::try_from(number).ok());
    let end = End {
        kind: refine(kind, description),
        ports: short("Ports")?,
        guid: guid("NodeGUID")?,
        port_guid: guid("PortGUID"),
        identity: Identity {
            vendor: number("VenID").and_then(|number| u32::try_from(number).ok()),
            device: number("DevID").and_then(|number| u32::try_from(number).ok()),
            system_guid: guid("SystemGUID"),
            enhanced_port0: None,
        },
        description,
        lid: short("LID").filter(|lid| *lid > 0),
        port: short("PN").filter(|port| *port > 0)?,
    };
    Some((end, rest))
}

fn node_kind(word: &str) -> Option<NodeKind> {
    match word.strip_suffix("-SM").unwrap_or(word) {
        "SW" => Some(NodeKind::Switch),
        "CA" => Some(NodeKind::Host),
        "Rt" | "RT" => Some(NodeKind::Router),
        _ => None,
    }
}

fn speed(words: &str) -> Option<ReportedSpeed> {
    let value = |key: &str| words.split_ascii_whitespace().find_map(|word| word.strip_prefix(key));
    let width = value("PHY=")?.strip_suffix('x').and_then(|width| width.parse().ok());
    let width = width.filter(|width| LinkSpeed::WIDTHS.contains(width));
    let stated = value("SPD=")?;
    let generation = SPEEDS.iter().find(|(text, _)| *text == stated).map(|(_, found)| *found);
    let reported = |half: Option<PartialSpeed>| half.map(ReportedSpeed::from).unwrap_or_default();
    Some(
        reported(width.map(PartialSpeed::Width))
            .or(reported(generation.map(PartialSpeed::Generation))),
    )
}

impl Links {
    fn add(&mut self, line: u32, ends: [End<'_>; 2], speed: ReportedSpeed) {
        let ports = [0, 1].map(|side: usize| (ends[side].guid, ends[side].port));
        let [near, far] = ends;
        self.node(&near, true);
        self.node(&far, false);
        let [from, to] = ports;
        let name = |(guid, port): Port| format!("{guid}[{port}]");
        if from == to {
            let text = format!("{} cannot be cabled to itself", name(from));
            return self.find(line, text);
        }
        let held = [from, to].map(|port| self.cables.get(&port).copied());
        match held {
            [None, None] => {
                self.cables.insert(from, (to, speed, line));
                self.cables.insert(to, (from, speed, line));
            }
            [Some((far, known, first)), Some(_)] if far == to => {
                if known.contradicts(speed) {
                    let text = format!(
                        "{} runs at {speed} here and at {known} in line {first}, kept",
                        name(from)
                    );
                    self.find(line, text);
                }
                let both = known.or(speed);
                self.cables.insert(from, (to, both, first));
                self.cables.insert(to, (from, both, first));
            }
            [Some((_, _, first)), _] | [None, Some((_, _, first))] => {
                let (from, to) = (name(from), name(to));
                let text = format!(
                    "{from} is listed as joined to {to}, against line {first}, which is kept"
                );
                self.find(line, text);
            }
        }
    }

    fn find(&mut self, line: u32, text: String) {
        self.findings.push(Finding { line: Some(line), kind: FindingKind::Disagreement, text });
    }

    /// Adds a node or fills its gaps; `is_near` means that the line starts with the node.
    fn node(&mut self, end: &End<'_>, is_near: bool) {
        let port = if end.kind == NodeKind::Switch { 0 } else { end.port };
        let address = Address { guid: end.port_guid, lid: end.lid, lmc: None };
        let fresh = || Node {
            kind: end.kind,
            name: end.description.to_owned(),
            guid: Some(end.guid),
            description: end.description.to_owned(),
            ports: end.ports.max(end.port),
            identity: end.identity.clone(),
            addresses: BTreeMap::new(),
        };
        let (node, was_near) = self.nodes.entry(end.guid).or_insert_with(|| (fresh(), is_near));
        if is_near && !*was_near {
            let addresses = std::mem::take(&mut node.addresses);
            *node = Node { addresses, ports: fresh().ports.max(node.ports), ..fresh() };
            node.addresses.insert(port, address);
            *was_near = true;
        }
        node.ports = node.ports.max(end.port);
        node.addresses.entry(port).or_insert(address);
    }

    fn finish(self) -> Parsed {
        let mut builder = FabricBuilder::new();
        let add = |(guid, (node, _)): (Guid, (Node, bool))| (guid, builder.add_node(node));
        let drafts: BTreeMap<Guid, DraftNode> = self.nodes.into_iter().map(add).collect();
        for (from, (to, speed, _)) in self.cables {
            if from < to {
                let ends = [from, to].map(|(guid, port)| (drafts[&guid], port));
                builder.add_cable(ends, speed.known, None).expect("ports are used once");
                builder.set_partial_speed(ends[0], speed.partial);
            }
        }
        Parsed { fabric: builder.build(), findings: self.findings }
    }
}
