//! Reading an anynet file.

use crate::format::error::{FormatError, count};
use crate::format::text::Parsed;
use crate::numbering::{NUMBER_MAX, host_guid, host_name, switch_guid, switch_name};
use crate::{DraftNode, FabricBuilder, Finding, FindingKind, NodeKind};
use std::collections::{BTreeMap, BTreeSet};

/// Reads an anynet file.
pub(in crate::format) fn read(text: &str) -> Result<Parsed, FormatError> {
    let mut net = Net::default();
    for (index, line) in text.lines().enumerate() {
        let line = NetLine { number: count(index + 1), text: line, at: 0 };
        net.line(line)?;
    }
    net.note_latencies();
    Ok(Parsed { fabric: net.builder.build(), findings: net.findings })
}

/// A router or node, by kind and number.
type NetName = (NodeKind, u64);

#[derive(Default)]
struct Net {
    builder: FabricBuilder,
    nodes: BTreeMap<NetName, DraftNode>,
    /// The router of each node.
    router_of: BTreeMap<u64, u64>,
    /// Pairs of routers, the lower number first.
    joined: BTreeSet<(u64, u64)>,
    findings: Vec<Finding>,
    /// Line of the first latency, and how many there are.
    latencies: Option<(u32, u32)>,
}

/// A word, where it begins, and what it says.
struct Word<'a> {
    offset: usize,
    text: &'a str,
}

/// A line and how far it was read.
struct NetLine<'a> {
    number: u32,
    text: &'a str,
    at: usize,
}

impl<'a> NetLine<'a> {
    fn word(&mut self) -> Option<Word<'a>> {
        let rest = &self.text[self.at..];
        let blank = rest.find(|c: char| !c.is_ascii_whitespace())?;
        let rest = &rest[blank..];
        let length = rest.find(|c: char| c.is_ascii_whitespace()).unwrap_or(rest.len());
        let offset = self.at + blank;
        self.at = offset + length;
        Some(Word { offset, text: &rest[..length] })
    }

    fn error(&self, offset: usize, message: String, expected: &str) -> FormatError {
        let column = count(self.text[..offset].chars().count() + 1);
        FormatError::at(self.number, Some(column), message, expected)
    }

    /// `router 3` or `node 3`, whose first word is given.
    fn name(&mut self, kind: &Word<'_>) -> Result<NetName, FormatError> {
        const EXPECTED: &str = "expected the number of a router or node, below 2^44";
        let kind = match kind.text {
            "router" => NodeKind::Switch,
            "node" => NodeKind::Host,
            other => {
                let message = format!("cannot read {other:?}");
                return Err(self.error(kind.offset, message, "expected `router` or `node`"));
            }
        };
        let Some(number) = self.word() else {
            return Err(self.error(self.text.len(), "the line ends here".to_owned(), EXPECTED));
        };
        match number.text.parse() {
            Ok(value) if value <= NUMBER_MAX => Ok((kind, value)),
            _ => Err(self.error(number.offset, format!("cannot read {:?}", number.text), EXPECTED)),
        }
    }
}

impl Net {
    fn line(&mut self, mut line: NetLine<'_>) -> Result<(), FormatError> {
        let Some(first) = line.word() else { return Ok(()) };
        let head = line.name(&first)?;
        self.node(head);
        let mut may_be_latency = false;
        while let Some(word) = line.word() {
            if may_be_latency && word.text.parse::<u64>().is_ok() {
                self.latencies.get_or_insert((line.number, 0)).1 += 1;
                may_be_latency = false;
                continue;
            }
            let neighbour = line.name(&word)?;
            match (head, neighbour) {
                ((NodeKind::Switch, a), (NodeKind::Switch, b)) => {
                    self.join_routers(&line, &word, a, b)?;
                }
                ((NodeKind::Switch, router), (_, node))
                | ((_, node), (NodeKind::Switch, router)) => {
                    self.join_node(&line, &word, router, node)?;
                }
                _ => {
                    let message = "a node cannot be joined to a node".to_owned();
                    return Err(line.error(word.offset, message, "expected `router`"));
                }
            }
            may_be_latency = true;
        }
        Ok(())
    }

    fn node(&mut self, (kind, number): NetName) -> DraftNode {
        let (guid, name) = match kind {
            NodeKind::Switch => (switch_guid(number), switch_name(number)),
            _ => (host_guid(number), host_name(number)),
        };
        let builder = &mut self.builder;
        *self.nodes.entry((kind, number)).or_insert_with(|| builder.add_plain(kind, &name, guid, 0))
    }

    fn join_routers(
        &mut self,
        line: &NetLine<'_>,
        word: &Word<'_>,
        a: u64,
        b: u64,
    ) -> Result<(), FormatError> {
        if a == b {
            self.disagree(line, format!("router {a} cannot be joined to itself"));
            return Ok(());
        }
        if self.joined.insert((a.min(b), a.max(b))) {
            self.cable(line, word, [(NodeKind::Switch, a), (NodeKind::Switch, b)])?;
        }
        Ok(())
    }

    fn join_node(
        &mut self,
        line: &NetLine<'_>,
        word: &Word<'_>,
        router: u64,
        node: u64,
    ) -> Result<(), FormatError> {
        match self.router_of.get(&node) {
            None => {
                self.router_of.insert(node, router);
                self.cable(line, word, [(NodeKind::Switch, router), (NodeKind::Host, node)])?;
            }
            Some(first) if *first != router => {
                let text = format!("node {node} belongs to router {first}, and here to {router}");
                self.disagree(line, text);
            }
            Some(_) => {}
        }
        Ok(())
    }

    fn disagree(&mut self, line: &NetLine<'_>, text: String) {
        let kind = FindingKind::Disagreement;
        self.findings.push(Finding { line: Some(line.number), kind, text });
    }

    /// Joins the next port of each end.
    fn cable(
        &mut self,
        line: &NetLine<'_>,
        word: &Word<'_>,
        ends: [NetName; 2],
    ) -> Result<(), FormatError> {
        let ends = ends.map(|end| self.node(end));
        for end in ends {
            let ports = &mut self.builder.node_mut(end).ports;
            *ports = ports.checked_add(1).ok_or_else(|| {
                let message = "this router has more than 65535 neighbours".to_owned();
                line.error(word.offset, message, "expected fewer")
            })?;
        }
        let ends = ends.map(|end| (end, self.builder.node(end).ports));
        self.builder.add_cable(ends, None, None).expect("both ports are new");
        Ok(())
    }

    fn note_latencies(&mut self) {
        if let Some((line, times)) = self.latencies {
            let text = format!("latencies of channels, in cycles of another clock: {times}");
            self.findings.push(Finding { line: Some(line), kind: FindingKind::Ignored, text });
        }
    }
}
