//! Drawing for Graphviz: `dot -Tsvg fabric.dot`.
//!
//! ```text
//!    [spine]     [spine]      rank 1: switches two cables away from the nearest host
//!      ║  ╲      ╱  ║
//!    [leaf]      [leaf]       rank 0: switches with hosts
//!     · · ·       · · ·       hosts (small)
//! ```
//!
//! Line widths show the number of parallel cables.

use super::text::Written;
use crate::{Fabric, Node, NodeId, NodeKind};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;

macro_rules! add {
    ($text:expr, $($argument:tt)*) => {
        write!($text, $($argument)*).expect("a string takes any text")
    };
}

pub(super) fn write(fabric: &Fabric) -> Written {
    let mut text = String::from(
        "graph fabric {\n  rankdir=BT;\n  ranksep=1.2;\n  node [fontname=\"sans-serif\"];\n",
    );
    for (rank, switches) in ranks(fabric) {
        add!(text, "  {{ // switches of rank {rank}\n    rank=same;\n");
        for id in switches {
            add!(text, "    {};\n", box_of(fabric.node(id)));
        }
        text.push_str("  }\n");
    }
    for node in fabric.nodes().iter().filter(|node| !node.is_switch()) {
        add!(text, "  {};\n", ellipse_of(node));
    }
    lines(fabric, &mut text);
    text.push_str("}\n");
    let notes = vec!["a drawing: ports, GUIDs and speeds left out".to_owned()];
    Written { text, notes }
}

fn box_of(node: &Node) -> String {
    format!("{} [shape=box, style=filled, fillcolor=\"#dde8f5\"]", quoted(&node.name))
}

fn ellipse_of(node: &Node) -> String {
    let shape = match node.kind {
        NodeKind::Aggregation => "diamond",
        NodeKind::Router => "hexagon",
        _ => "ellipse",
    };
    let size = "fontsize=8, width=0.3, height=0.2, margin=0.02";
    format!("{} [shape={shape}, {size}]", quoted(&node.name))
}

fn lines(fabric: &Fabric, text: &mut String) {
    let mut counts: BTreeMap<(NodeId, NodeId), usize> = BTreeMap::new();
    for cable in fabric.cables() {
        let [a, b] = cable.ends.map(|end| end.node);
        *counts.entry((a, b)).or_default() += 1;
    }
    let rank = rank_of(fabric);
    for ((a, b), count) in counts {
        let (low, high) = if rank[b.index()] <= rank[a.index()] { (b, a) } else { (a, b) };
        let [low, high] = [low, high].map(|id| quoted(&fabric.node(id).name));
        add!(text, "  {low} -- {high}");
        if count > 1 {
            add!(text, " [label=\"{count}\", penwidth={}]", count.min(6));
        }
        text.push_str(";\n");
    }
}

fn ranks(fabric: &Fabric) -> BTreeMap<usize, Vec<NodeId>> {
    let rank = rank_of(fabric);
    let mut switches: BTreeMap<usize, Vec<NodeId>> = BTreeMap::new();
    for id in fabric.switches() {
        switches.entry(rank[id.index()].unwrap_or(0)).or_default().push(id);
    }
    switches
}

/// Returns the rank of each node: the number of cables to the nearest switch with a host. `None` if
/// unreachable.
fn rank_of(fabric: &Fabric) -> Vec<Option<usize>> {
    let mut rank = vec![None; fabric.nodes().len()];
    let mut queue = VecDeque::new();
    for id in fabric.switches() {
        let mut neighbours = fabric.channels_from(id).map(|channel| fabric.target(channel).node);
        if neighbours.any(|neighbour| fabric.node(neighbour).kind == NodeKind::Host) {
            rank[id.index()] = Some(0);
            queue.push_back(id);
        }
    }
    while let Some(id) = queue.pop_front() {
        let next = rank[id.index()].map(|rank| rank + 1);
        for channel in fabric.channels_from(id) {
            let neighbour = fabric.target(channel).node;
            if fabric.node(neighbour).is_switch() && rank[neighbour.index()].is_none() {
                rank[neighbour.index()] = next;
                queue.push_back(neighbour);
            }
        }
    }
    rank
}

/// Quotes a name for Graphviz, which requires escaped quotation marks and backslashes and reads
/// `\n` as a line break. Other control characters would invalidate the SVG output of Graphviz and
/// are replaced by Unicode control pictures (U+2400 to U+241F).
fn quoted(name: &str) -> String {
    let mut quoted = String::from("\"");
    for c in name.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\0'..='\x1f' => quoted.extend(char::from_u32(0x2400 + u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}
