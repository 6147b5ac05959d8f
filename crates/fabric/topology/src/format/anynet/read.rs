//! Reading of anynet files.

use super::{CYCLES_MAX, MM_PER_CYCLE};
use crate::finding::plural;
use crate::format::Faults;
use crate::format::error::{FormatError, count};
use crate::format::faults::Collected;
use crate::format::text::Parsed;
use crate::numbering::{NUMBER_MAX, host_guid, host_name, switch_guid, switch_name};
use crate::{DraftNode, FabricBuilder, Finding, FindingKind, NodeKind};
use gingham_kernel::Length;
use std::collections::BTreeMap;

pub(in crate::format) fn read(text: &str) -> Result<Parsed, Faults> {
    let mut net = Net::default();
    let mut faults = Collected::default();
    for (index, line) in text.lines().enumerate() {
        let line = NetLine { number: count(index + 1), text: line, at: 0 };
        faults.keep(net.line(line));
    }
    faults.finish()?;
    Ok(net.finish())
}

type NetName = (NodeKind, u64);

#[derive(Default)]
struct Net {
    builder: FabricBuilder,
    nodes: BTreeMap<NetName, DraftNode>,
    router_of: BTreeMap<u64, u64>,
    links: Vec<Link>,
    index: BTreeMap<[NetName; 2], usize>,
    findings: Vec<Finding>,
    latencies: Option<(u32, usize)>,
}

struct Link {
    ends: [(DraftNode, u16); 2],
    latency: Option<u64>,
}

struct Word<'a> {
    offset: usize,
    text: &'a str,
}

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
        let mut last = None;
        while let Some(word) = line.word() {
            if let Some(neighbour) = last.take_if(|_| word.text.parse::<u64>().is_ok()) {
                self.latency(&line, &word, [head, neighbour])?;
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
            last = Some(neighbour);
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
        let ends = [a.min(b), a.max(b)].map(|router| (NodeKind::Switch, router));
        if self.index.contains_key(&ends) {
            return Ok(());
        }
        self.link(line, word, [a, b].map(|router| (NodeKind::Switch, router)))
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
                self.link(line, word, [(NodeKind::Switch, router), (NodeKind::Host, node)])?;
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

    fn link(
        &mut self,
        line: &NetLine<'_>,
        word: &Word<'_>,
        ends: [NetName; 2],
    ) -> Result<(), FormatError> {
        self.index.insert(sorted(ends), self.links.len());
        let ends = ends.map(|end| self.node(end));
        for end in ends {
            let ports = &mut self.builder.node_mut(end).ports;
            *ports = ports.checked_add(1).ok_or_else(|| {
                let message = "this router has more than 65535 neighbours".to_owned();
                line.error(word.offset, message, "expected fewer")
            })?;
        }
        let ends = ends.map(|end| (end, self.builder.node(end).ports));
        self.links.push(Link { ends, latency: None });
        Ok(())
    }

    fn latency(
        &mut self,
        line: &NetLine<'_>,
        word: &Word<'_>,
        ends: [NetName; 2],
    ) -> Result<(), FormatError> {
        let cycles = word.text.parse().ok().filter(|cycles| (1..=CYCLES_MAX).contains(cycles));
        let Some(cycles) = cycles else {
            let message = format!("{} is not a latency", word.text);
            let expected = format!("expected from 1 to {CYCLES_MAX} cycles");
            return Err(line.error(word.offset, message, &expected));
        };
        self.latencies.get_or_insert((line.number, 0)).1 += 1;
        // Neither a router joined to itself nor a node joined to a second router has a link here.
        let Some(index) = self.index.get(&sorted(ends)) else { return Ok(()) };
        let known = *self.links[*index].latency.get_or_insert(cycles);
        if known != cycles {
            let text = format!("a latency of {cycles} cycles here, and of {known} above, kept");
            self.disagree(line, text);
        }
        Ok(())
    }

    fn finish(mut self) -> Parsed {
        let length = |link: &Link| Length::from_mm((link.latency.unwrap_or(1) - 1) * MM_PER_CYCLE);
        for link in &self.links {
            let length = self.latencies.map(|_| length(link));
            self.builder.add_cable(link.ends, None, length).expect("both ports are new");
        }
        if let Some((line, times)) = self.latencies {
            let latencies = plural(times, "latency is a length", "latencies are lengths");
            let text = format!(
                "{latencies} of cables, 1 m for each cycle after the first; cables without one \
                 have 0 m"
            );
            self.findings.push(Finding { line: Some(line), kind: FindingKind::Assumption, text });
            self.note_differing(line);
        }
        Parsed { fabric: self.builder.build(), findings: self.findings }
    }
}

impl Net {
    /// Adds a note that BookSim's `min` minimises cycles, so its paths may have more channels than
    /// ours.
    fn note_differing(&mut self, line: u32) {
        let is_between_routers = |link: &&Link| {
            let kinds = link.ends.map(|(node, _)| self.builder.node(node).kind);
            kinds == [NodeKind::Switch; 2]
        };
        let links = self.links.iter().filter(is_between_routers);
        let latencies = || links.clone().map(|link| link.latency.unwrap_or(1));
        let (Some(least), Some(most)) = (latencies().min(), latencies().max()) else { return };
        if least < most {
            let text = format!(
                "latencies between routers are from {least} to {most} cycles: BookSim's routing \
                 `min` adds them, as `shortest-path` does with weight = \"latency\"; without it \
                 `shortest-path` counts channels, and its paths may differ"
            );
            self.findings.push(Finding { line: Some(line), kind: FindingKind::Assumption, text });
        }
    }
}

fn sorted([one, other]: [NetName; 2]) -> [NetName; 2] {
    [one.min(other), one.max(other)]
}
