//! Node and port lines of a dump, before the ends of cables are matched.

use super::comment::NoLid;
use super::cursor::{LineError, shown};
use super::line::{Ending, IdentityField, NodeLine, PortLine, Remote, Statement, statement};
use super::noise::could_be_a_beginning;
use crate::format::error::{FaultCode, FormatError};
use crate::format::lines;
use crate::speed::ReportedSpeed;
use crate::{Address, Finding, FindingKind, Guid, Identity, NodeKind};
use std::collections::BTreeMap;

#[derive(Debug, Clone)]
pub(super) struct Record<'a> {
    pub(super) id: &'a str,
    /// Line of the record; `None` for a node that occurs only in links.
    pub(super) line: Option<u32>,
    pub(super) kind: NodeKind,
    pub(super) guid: Option<Guid>,
    pub(super) description: String,
    pub(super) ports: u16,
    pub(super) identity: Identity,
    pub(super) addresses: BTreeMap<u16, Address>,
}

#[derive(Debug)]
pub(super) struct Mention<'a> {
    pub(super) line: u32,
    pub(super) record: usize,
    pub(super) port: u16,
    pub(super) remote: Remote<'a>,
    pub(super) speed: ReportedSpeed,
}

#[derive(Debug, Default)]
pub(super) struct Records<'a> {
    pub(super) nodes: Vec<Record<'a>>,
    pub(super) index: BTreeMap<NodeKey<'a>, usize>,
    pub(super) mentions: Vec<Mention<'a>>,
    pub(super) findings: Vec<Finding>,
    pub(super) noise: Option<Noise<'a>>,
    /// For each port, by record and port number: first line with an invalid LID.
    pub(super) no_lids: BTreeMap<(usize, u16), (u32, NoLid)>,
    pending: Pending,
    current: Current,
    is_grouped: bool,
    /// Whether `ibnetdiscover` printed the dump; handwritten files have neither vendors nor speeds.
    is_printed: bool,
    /// First line and number of lines with ignored content, by description of the content.
    ignored: BTreeMap<String, (u32, u32)>,
}

/// Device identified by an id; two spellings of a GUID identify one device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NodeKey<'a> {
    Guid(u8, Guid),
    Name(&'a str),
}

impl<'a> NodeKey<'a> {
    pub(super) fn of(id: &'a str) -> Self {
        guid_of_id(id).map_or(Self::Name(id), |guid| Self::Guid(id.as_bytes()[0], guid))
    }
}

#[derive(Debug, Default, Clone, Copy)]
enum Current {
    #[default]
    Nobody,
    Record(usize),
    Unreadable,
}

#[derive(Debug)]
pub(super) struct Noise<'a> {
    pub(super) line: u32,
    first: &'a str,
    lines: usize,
}

impl Noise<'_> {
    pub(super) fn stated(&self) -> String {
        let (be, first) = match self.lines {
            1 => ("is", String::new()),
            _ => ("are", "the first ".to_owned()),
        };
        let lines = lines(self.lines);
        format!("{lines} {be} no part of a dump, {first}{}", shown(self.first))
    }
}

#[derive(Debug, Default)]
struct Pending {
    line: Option<u32>,
    identity: Identity,
    node: Option<(NodeKind, Guid, Option<Guid>)>,
}

impl<'a> Records<'a> {
    /// Removes and reports a carriage return and byte order mark.
    pub(super) fn bare(&mut self, number: u32, line: &'a str) -> &'a str {
        let line = line.strip_suffix('\r').map_or(line, |line| {
            self.ignore(number, "the end of a line as Windows has it");
            line
        });
        line.strip_prefix('\u{feff}').map_or(line, |line| {
            self.ignore(number, "a byte order mark");
            line
        })
    }

    pub(super) fn add_line(&mut self, number: u32, line: &'a str) -> Result<(), FormatError> {
        match statement(line) {
            Ok(statement) => self.add(number, line, statement),
            Err(error) => {
                self.give_up(line);
                Err(placed(number, error))
            }
        }
    }

    /// Ends the current node, since ports after an unreadable line may belong to another node.
    fn give_up(&mut self, line: &str) {
        if !line.starts_with('[') {
            self.current = Current::Unreadable;
            self.pending = Pending::default();
        }
    }

    /// Adds the last line, which has no line break: unless the line is complete, the text is
    /// truncated.
    pub(super) fn add_last_line(&mut self, number: u32, line: &'a str) -> Result<(), FormatError> {
        let statement = statement(line).map_err(|error| cut(number, &error.message))?;
        if matches!(statement, Statement::Noise) && could_be_a_beginning(line) {
            return Err(cut(number, &format!("it is {}", shown(line))));
        }
        self.missing(&statement).map_or(Ok(()), |what| Err(cut(number, what)))?;
        self.add(number, line, statement)
    }

    /// Returns a description of content that `ibnetdiscover` always prints but the line lacks, a
    /// sign of truncation. Handwritten files have no comments.
    fn missing(&self, statement: &Statement<'_>) -> Option<&'static str> {
        match statement {
            Statement::Identity(_) => Some("the node of this identity does not follow"),
            Statement::Port(port) if port.unknown.is_some() => Some("its last word is cut"),
            Statement::Port(port) => match port.ending {
                Ending::Nothing => self.is_printed.then_some("the port has no comment"),
                Ending::CommentWithoutSpeed => Some("the port has no speed"),
                Ending::Speed => None,
            },
            Statement::Node(node) => match (node.description, node.kind) {
                (None, _) => self.is_printed.then_some("the node has no description"),
                (Some(_), NodeKind::Switch) if node.words.lmc.is_none() => {
                    Some("the switch has no LMC")
                }
                _ => None,
            },
            Statement::Nothing | Statement::Grouping | Statement::Ignored(_) | Statement::Noise => {
                None
            }
        }
    }

    fn add(
        &mut self,
        line: u32,
        text: &'a str,
        statement: Statement<'a>,
    ) -> Result<(), FormatError> {
        match statement {
            Statement::Nothing => {}
            Statement::Noise => {
                let first = Noise { line, first: text.trim(), lines: 0 };
                self.noise.get_or_insert(first).lines += 1;
            }
            Statement::Grouping => self.is_grouped = true,
            Statement::Ignored(what) => self.ignore(line, what),
            Statement::Identity(field) => self.add_identity(line, field),
            Statement::Node(node) => self.add_node(line, &node),
            Statement::Port(port) => return self.add_port(line, port),
        }
        Ok(())
    }

    fn ignore(&mut self, line: u32, what: &str) {
        self.ignored.entry(what.to_owned()).or_insert((line, 0)).1 += 1;
    }

    pub(super) fn find(&mut self, line: u32, kind: FindingKind, text: String) {
        self.findings.push(Finding { line: Some(line), kind, text });
    }

    fn add_identity(&mut self, line: u32, field: IdentityField) {
        let starts_anew = matches!(field, IdentityField::Vendor(_)) || self.pending.node.is_some();
        if starts_anew {
            self.drop_pending();
        }
        self.current = Current::Nobody;
        self.is_printed |= matches!(field, IdentityField::Vendor(_));
        self.pending.line.get_or_insert(line);
        match field {
            IdentityField::Vendor(vendor) => self.pending.identity.vendor = Some(vendor),
            IdentityField::Device(device) => self.pending.identity.device = Some(device),
            IdentityField::System(guid) => self.pending.identity.system_guid = Some(guid),
            IdentityField::Node(kind, guid, port) => self.pending.node = Some((kind, guid, port)),
        }
    }

    fn drop_pending(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if let (Some(line), Some((_, guid, _))) = (pending.line, pending.node) {
            let text = format!("an identity with GUID {guid} stands here, and no node after it");
            self.find(line, FindingKind::UndefinedNode, text);
        }
    }

    fn add_node(&mut self, line: u32, node: &NodeLine<'a>) {
        if let Some(word) = node.words.unknown {
            self.ignore(line, &format!("the word {word:?} in a comment"));
        }
        let pending = std::mem::take(&mut self.pending);
        let id = node.id;
        let record = self.record(line, node, pending);
        if let Some(first) = self.index.get(&NodeKey::of(id)).copied() {
            self.compare_duplicate(line, first, &record);
            self.current = Current::Record(first);
            return;
        }
        if let Some(what) = node.words.no_lid {
            self.no_lids.insert((self.nodes.len(), 0), (line, what));
        }
        self.current = Current::Record(self.nodes.len());
        self.index.insert(NodeKey::of(id), self.nodes.len());
        self.nodes.push(record);
    }

    fn record(&mut self, line: u32, node: &NodeLine<'a>, pending: Pending) -> Record<'a> {
        let from_id = guid_of_id(node.id);
        let mut identity = pending.identity;
        identity.enhanced_port0 = node.words.enhanced_port0;
        let mut port0 = Address { guid: None, lid: node.words.lid, lmc: node.words.lmc };
        let mut guid = from_id;
        if let Some((kind, given, port_guid)) = pending.node {
            guid = from_id.or(Some(given));
            port0.guid = port_guid;
            let of_system = identity.system_guid == Some(given) && port_guid == from_id;
            if from_id.is_some_and(|guid| guid != given && !of_system) || kind != node.kind {
                let text = format!(
                    "the GUID {given} above does not fit this node, {}; it keeps its id",
                    node.id
                );
                self.find(line, FindingKind::Disagreement, text);
            }
        }
        let description = description(node.id, node.description.unwrap_or(""));
        let mut addresses = BTreeMap::new();
        if node.kind == NodeKind::Switch && port0 != Address::default() {
            addresses.insert(0, port0);
        }
        let kind = refine(node.kind, &description);
        Record {
            id: node.id,
            line: Some(line),
            kind,
            guid,
            description,
            ports: node.ports,
            identity,
            addresses,
        }
    }

    /// Compares two records with the same id. A chassis listing may repeat records; a record that
    /// differs is a second device.
    fn compare_duplicate(&mut self, line: u32, first: usize, record: &Record<'_>) {
        let before = &self.nodes[first];
        let port0 = |record: &Record<'_>| record.addresses.get(&0).copied();
        let is_same = before.kind == record.kind
            && before.ports == record.ports
            && before.description == record.description
            && before.identity == record.identity
            && port0(before) == port0(record);
        let (id, first_line) = (record.id, before.line.unwrap_or(0));
        if !is_same {
            let text = format!(
                "a second record of {id} differs from the one of line {first_line}, which is kept"
            );
            self.find(line, FindingKind::DuplicateGuid, text);
        } else if !self.is_grouped {
            let text = format!("the record of {id} stands in line {first_line} already");
            self.find(line, FindingKind::Ignored, text);
        }
    }

    fn add_port(&mut self, line: u32, port: PortLine<'a>) -> Result<(), FormatError> {
        let record = match self.current {
            Current::Record(record) => record,
            Current::Unreadable => return Ok(()),
            Current::Nobody => {
                self.current = Current::Unreadable;
                let expected = "expected its node (`Switch`, `Ca` or `Rt`) in a line above";
                return Err(FormatError::at(line, None, "a port without a node", expected));
            }
        };
        if let Some(what) = port.no_lid {
            self.no_lids.entry((record, port.port)).or_insert((line, what));
        }
        if let Some(word) = port.unknown {
            self.ignore(line, &format!("the word {word:?} in a comment"));
        }
        self.is_printed |= port.ending == Ending::Speed;
        let node = &mut self.nodes[record];
        let own = Address { guid: port.guid, lid: port.lid, lmc: port.lmc };
        if node.kind != NodeKind::Switch && own != Address::default() {
            node.addresses.entry(port.port).or_insert(own);
        }
        match port.remote {
            None => {}
            Some(remote) if remote.id.contains('@') => {
                self.ignore(line, "a cable to an alias of a port (ibsim)");
            }
            Some(_) if port.port == 0 => {
                let text = format!("port 0 of {} cannot hold a cable", node.id);
                self.find(line, FindingKind::Disagreement, text);
            }
            Some(remote) => {
                let (port, speed) = (port.port, port.speed);
                self.mentions.push(Mention { line, record, port, remote, speed });
            }
        }
        Ok(())
    }

    pub(super) fn finish(&mut self) {
        self.drop_pending();
        for (what, (line, times)) in std::mem::take(&mut self.ignored) {
            let again = if times > 1 { format!(", {times} times") } else { String::new() };
            self.find(line, FindingKind::Ignored, format!("{what}{again}"));
        }
        if let Some(noise) = self.noise.take() {
            self.find(noise.line, FindingKind::Noise, noise.stated());
        }
    }
}

fn placed(line: u32, error: LineError) -> FormatError {
    FormatError::at(line, Some(error.column), error.message, error.expected)
}

fn cut(line: u32, message: &str) -> FormatError {
    FormatError::at(
        line,
        None,
        format!("the dump looks truncated: its last line is incomplete ({message})"),
        "take the dump again, or end the line with a line break if it is complete",
    )
    .coded(FaultCode::Truncated)
}

pub(in crate::format) fn refine(kind: NodeKind, description: &str) -> NodeKind {
    let is_aggregation = kind == NodeKind::Host && description.contains(AGGREGATION);
    if is_aggregation { NodeKind::Aggregation } else { kind }
}

const AGGREGATION: &str = "Aggregation Node";

/// Parses ids such as `S-0008f10500200b50` or `S-0x8f10500200b50`.
pub(super) fn guid_of_id(id: &str) -> Option<Guid> {
    let (_, digits) = id.split_once('-').filter(|(kind, _)| matches!(*kind, "S" | "H" | "R"))?;
    Guid::from_hexadecimal(digits)
}

/// Returns the description of a node. As in ibsim, an id that is not a GUID replaces an empty
/// description.
pub(super) fn description(id: &str, text: &str) -> String {
    let text = if text.is_empty() && guid_of_id(id).is_none() { id } else { text };
    text.to_owned()
}
