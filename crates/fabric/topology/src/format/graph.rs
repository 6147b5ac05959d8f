//! Conversion of graphs to fabrics, shared by CSV and GraphML.
//!
//! ```text
//!   leaf0 ── spine0      the attribute `type` or `kind` is the node's kind; without it, a node
//!   leaf0 ── h0          with one edge is a host, and a node with more edges is a switch
//! ```
//!
//! Repeated edges are parallel cables. An edge in the opposite direction of an earlier edge
//! describes the same cable, until both directions have equal numbers of edges. Edges without ports
//! get the lowest free ports. Nodes get no GUIDs.

use super::error::{FormatError, count};
use super::text::Parsed;
use crate::finding::plural;
use crate::speed::ReportedSpeed;
use crate::{
    FabricBuilder, Finding, FindingKind, Generation, Identity, LinkSpeed, Node, NodeKind,
    PartialSpeed,
};
use gingham_kernel::Length;
use std::collections::{BTreeMap, BTreeSet};

const KINDS: [(&str, NodeKind); 21] = [
    ("switch", NodeKind::Switch),
    ("leaf", NodeKind::Switch),
    ("spine", NodeKind::Switch),
    ("core", NodeKind::Switch),
    ("tor", NodeKind::Switch),
    ("edge", NodeKind::Switch),
    ("superspine", NodeKind::Switch),
    ("host", NodeKind::Host),
    ("server", NodeKind::Host),
    ("node", NodeKind::Host),
    ("compute", NodeKind::Host),
    ("storage", NodeKind::Host),
    ("terminal", NodeKind::Host),
    ("endpoint", NodeKind::Host),
    ("hca", NodeKind::Host),
    ("ca", NodeKind::Host),
    ("nic", NodeKind::Host),
    ("gpu", NodeKind::Host),
    ("aggregation", NodeKind::Aggregation),
    ("router", NodeKind::Router),
    ("gateway", NodeKind::Router),
];

pub(super) fn kind(word: &str) -> Option<NodeKind> {
    let word = word.trim().to_ascii_lowercase();
    KINDS.iter().find(|(name, _)| *name == word).map(|(_, kind)| *kind)
}

pub(super) fn speed(text: &str) -> Option<ReportedSpeed> {
    let text = text.trim();
    let lanes = || text.strip_suffix(['x', 'X'])?.parse().ok();
    if text.is_empty() {
        Some(ReportedSpeed::default())
    } else if let Ok(speed) = text.parse::<LinkSpeed>() {
        Some(speed.into())
    } else if let Ok(half) = text.parse::<PartialSpeed>() {
        Some(half.into())
    } else if let Some(width) = lanes() {
        LinkSpeed::WIDTHS.contains(&width).then(|| PartialSpeed::Width(width).into())
    } else {
        let is_named = |found: &Generation| found.name().eq_ignore_ascii_case(text);
        let found = Generation::ALL.into_iter().find(is_named)?;
        Some(PartialSpeed::Generation(found).into())
    }
}

pub(super) type End = (usize, Option<u16>);

pub(super) struct Edge {
    pub(super) line: u32,
    pub(super) ends: [End; 2],
    pub(super) speed: ReportedSpeed,
    pub(super) length: Option<Length>,
}

#[derive(Default)]
pub(super) struct Graph {
    index: BTreeMap<String, usize>,
    nodes: Vec<(String, Option<NodeKind>)>,
    edges: Vec<Edge>,
    pub(super) findings: Vec<Finding>,
    /// First line and number of nodes of each unknown kind.
    strange: BTreeMap<String, (u32, usize)>,
}

impl Graph {
    /// Returns the index of the node with this key, adding the node if necessary. A node without a
    /// name is named by its key.
    pub(super) fn node(&mut self, key: &str) -> usize {
        let next = self.nodes.len();
        let index = *self.index.entry(key.to_owned()).or_insert(next);
        if index == next {
            self.nodes.push((key.to_owned(), None));
        }
        index
    }

    pub(super) fn set_name(&mut self, node: usize, name: &str) {
        name.clone_into(&mut self.nodes[node].0);
    }

    pub(super) fn set_kind(&mut self, line: u32, node: usize, word: &str) {
        match kind(word) {
            Some(kind) => _ = self.nodes[node].1.get_or_insert(kind),
            None if word.trim().is_empty() => {}
            None => self.strange.entry(word.trim().to_owned()).or_insert((line, 0)).1 += 1,
        }
    }

    pub(super) fn add(&mut self, edge: Edge) {
        self.edges.push(edge);
    }

    pub(super) fn note(&mut self, line: u32, kind: FindingKind, text: String) {
        self.findings.push(Finding { line: Some(line), kind, text });
    }

    pub(super) fn finish(mut self) -> Result<Parsed, FormatError> {
        for (word, (line, times)) in std::mem::take(&mut self.strange) {
            let nodes = plural(times, "node", "nodes");
            let text = format!("the kind {word:?} of {nodes} is unknown: their edges decide");
            self.note(line, FindingKind::Ignored, text);
        }
        let edges = self.cables();
        let places = places(&edges, &self.nodes)?;
        let kinds = self.kinds(&edges);
        let mut ports = vec![0_u16; self.nodes.len()];
        for (node, port) in places.iter().flatten() {
            ports[*node] = ports[*node].max(*port);
        }
        let mut builder = FabricBuilder::new();
        let mut drafts = Vec::new();
        for (index, (name, _)) in self.nodes.iter().enumerate() {
            drafts.push(builder.add_node(Node {
                kind: kinds[index],
                name: name.clone(),
                guid: None,
                description: name.clone(),
                ports: ports[index],
                identity: Identity::default(),
                addresses: BTreeMap::new(),
            }));
        }
        for (edge, place) in edges.iter().zip(&places) {
            let ends = place.map(|(node, port)| (drafts[node], port));
            builder.add_cable(ends, edge.speed.known, edge.length).expect("ports are free");
            builder.set_partial_speed(ends[0], edge.speed.partial);
        }
        Ok(Parsed { fabric: builder.build(), findings: self.findings })
    }

    fn cables(&mut self) -> Vec<Edge> {
        let mut open: BTreeMap<[End; 2], usize> = BTreeMap::new();
        let mut kept = Vec::new();
        for edge in std::mem::take(&mut self.edges) {
            let [from, to] = edge.ends;
            if from.0 == to.0 {
                let text = format!("an edge from {:?} to itself left out", self.nodes[from.0].0);
                self.note(edge.line, FindingKind::LoopCable, text);
                continue;
            }
            if let Some(count) = open.get_mut(&[to, from]).filter(|count| **count > 0) {
                *count -= 1;
            } else {
                *open.entry([from, to]).or_default() += 1;
                kept.push(edge);
            }
        }
        kept
    }

    fn kinds(&mut self, edges: &[Edge]) -> Vec<NodeKind> {
        let mut degrees = vec![0_usize; self.nodes.len()];
        edges.iter().flat_map(|edge| edge.ends).for_each(|(node, _)| degrees[node] += 1);
        let by_degree = |degree| if degree > 1 { NodeKind::Switch } else { NodeKind::Host };
        let kinds: Vec<NodeKind> = self
            .nodes
            .iter()
            .zip(degrees)
            .map(|((_, stated), degree)| stated.unwrap_or_else(|| by_degree(degree)))
            .collect();
        let unstated = self.nodes.iter().filter(|(_, stated)| stated.is_none()).count();
        if unstated > 0 {
            let hosts = kinds.iter().filter(|kind| **kind == NodeKind::Host).count();
            let text = format!(
                "{} without a kind: those with one edge are hosts, others switches; the fabric has {}",
                plural(unstated, "node is", "nodes are"),
                plural(hosts, "host", "hosts")
            );
            self.findings.push(Finding::of_fabric(FindingKind::Assumption, text));
        }
        kinds
    }
}

fn places(
    edges: &[Edge],
    nodes: &[(String, Option<NodeKind>)],
) -> Result<Vec<[(usize, u16); 2]>, FormatError> {
    let mut taken = BTreeSet::new();
    for edge in edges {
        for (node, port) in edge.ends {
            let Some(port) = port else { continue };
            if port == 0 || !taken.insert((node, port)) {
                let message = format!("port {port} of {:?} cannot hold this edge", nodes[node].0);
                let expected = "expected a port from 1 that no other edge names";
                return Err(FormatError::at(edge.line, None, message, expected));
            }
        }
    }
    let mut lowest = vec![1_u16; nodes.len()];
    let mut places = Vec::with_capacity(edges.len());
    for edge in edges {
        let mut place = [(0, 0); 2];
        for (place, (node, port)) in place.iter_mut().zip(edge.ends) {
            let Some(port) = port.or_else(|| free_port(&taken, node, &mut lowest[node])) else {
                let message = format!("{:?} has more than 65535 edges", nodes[node].0);
                return Err(FormatError::at(edge.line, None, message, "expected fewer"));
            };
            taken.insert((node, port));
            *place = (node, port);
        }
        places.push(place);
    }
    Ok(places)
}

fn free_port(taken: &BTreeSet<(usize, u16)>, node: usize, lowest: &mut u16) -> Option<u16> {
    let free = (*lowest..=u16::MAX).find(|port| !taken.contains(&(node, *port)))?;
    *lowest = free;
    Some(free)
}

pub(super) fn port(text: &str) -> Result<Option<u16>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let whole = text.strip_suffix(".0").unwrap_or(text);
    whole.parse().map(Some).map_err(|_| format!("{text:?} is not a port"))
}

pub(super) fn line_number(number: u64) -> u32 {
    usize::try_from(number).map_or(u32::MAX, count)
}
