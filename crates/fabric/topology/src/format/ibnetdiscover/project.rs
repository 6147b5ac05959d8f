//! Reduction of a fabric to the content of a dump.
//!
//! Invariant: writing and reading a projected fabric gives an equal fabric.

use super::records::refine;
use crate::{
    Address, DraftNode, Fabric, FabricBuilder, Generation, Guid, LinkSpeed, Node, NodeId, NodeKind,
    dump_id,
};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::format) enum Dialect {
    Plain,
    Ibsim,
}

/// First locally administered EUI-64.
const LOCAL_GUID_FIRST: u64 = 0x0200_0000_0000_0000;

const IBSIM_DESCRIPTION_BYTES_MAX: usize = 63;

#[derive(Debug, Default)]
pub(super) struct Losses(BTreeMap<&'static str, usize>);

impl Losses {
    pub(super) fn add(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    fn add_if(&mut self, lost: bool, what: &'static str) {
        if lost {
            self.add(what);
        }
    }

    fn keep<T>(&mut self, value: Option<T>, holds: bool, what: &'static str) -> Option<T> {
        self.add_if(value.is_some() && !holds, what);
        value.filter(|_| holds)
    }

    pub(super) fn notes(self) -> Vec<String> {
        self.0.into_iter().map(|(what, count)| format!("{what}: {count}")).collect()
    }
}

pub(super) fn project(fabric: &Fabric, dialect: Dialect) -> (Fabric, Losses) {
    let mut losses = Losses::default();
    let mut builder = FabricBuilder::new();
    let mut projected: Vec<Node> = fabric
        .node_ids()
        .map(|id| {
            let mut node = project_node(fabric.node(id), dialect, &mut losses);
            project_addresses(fabric, id, &mut node, dialect, &mut losses);
            node
        })
        .collect();
    Guids::new(dialect).give(&mut projected, &mut losses);
    let nodes: Vec<DraftNode> = projected.into_iter().map(|node| builder.add_node(node)).collect();
    for cable in fabric.cables() {
        let ends = cable.ends.map(|end| (nodes[end.node.index()], end.port));
        losses.add_if(cable.length.is_some(), "lengths of cables left out");
        let speed = project_speed(cable.speed, dialect, &mut losses);
        builder.add_cable(ends, speed, None).expect("the fabric has this cable");
        let holds = dialect == Dialect::Plain;
        let partial = losses.keep(
            cable.partial_speed,
            holds,
            "speeds that are known in half, such as 2x???, left out",
        );
        builder.set_partial_speed(ends[0], partial);
    }
    let projected = builder.build();
    count_names(fabric, &projected, &mut losses);
    (projected, losses)
}

fn project_node(node: &Node, dialect: Dialect, losses: &mut Losses) -> Node {
    let mut node = node.clone();
    let is_switch = node.kind == NodeKind::Switch;
    node.description = project_description(&node.description, dialect, losses);
    let kind = match node.kind {
        NodeKind::Aggregation => NodeKind::Host,
        kind => kind,
    };
    let kind = refine(kind, &node.description);
    losses.add_if(kind == NodeKind::Host && node.kind != kind, AGGREGATION_LOST);
    losses.add_if(kind == NodeKind::Aggregation && node.kind != kind, AGGREGATION_GAINED);
    node.kind = kind;
    let enhanced_port0 = node.identity.enhanced_port0;
    node.identity.enhanced_port0 = losses.keep(
        enhanced_port0,
        is_switch,
        "kinds of port 0 of other nodes than switches left out",
    );
    if dialect == Dialect::Ibsim && node.ports == 0 {
        losses.add("nodes without ports given one");
        node.ports = 1;
    }
    node.name.clone_from(&node.description);
    node
}

/// Keeps only the addresses of switches and of cabled ports. For ibsim, each address gets a LID,
/// because ibsim reads the cable's speed after the LID.
fn project_addresses(
    fabric: &Fabric,
    id: NodeId,
    node: &mut Node,
    dialect: Dialect,
    losses: &mut Losses,
) {
    let is_cabled = |port: u16| fabric.outgoing(id, port).is_some();
    let holds = |port| if node.kind == NodeKind::Switch { port == 0 } else { is_cabled(port) };
    node.addresses.retain(|port, address| {
        let is_kept = holds(*port) && *address != Address::default();
        losses.add_if(!is_kept, "addresses of ports without a cable left out");
        is_kept
    });
    if dialect == Dialect::Ibsim {
        for port in (0..=node.ports).filter(|port| holds(*port)) {
            let lid = &mut node.addresses.entry(port).or_default().lid;
            losses.add_if(lid.is_none(), "unknown LIDs written as 0, which means none");
            lid.get_or_insert(0);
        }
    }
}

const AGGREGATION_LOST: &str =
    "aggregation nodes that do not describe themselves as such will be read as hosts";
const AGGREGATION_GAINED: &str =
    "hosts that describe themselves as aggregation nodes will be read as such";

fn project_description(text: &str, dialect: Dialect, losses: &mut Losses) -> String {
    let mut text = text.to_owned();
    if text.contains(['\n', '\0']) {
        losses.add("line breaks and NULs in descriptions became blanks");
        text = text.replace(['\n', '\0'], " ");
    }
    if dialect == Dialect::Ibsim {
        if text.contains('"') {
            losses.add("quotation marks in descriptions became apostrophes");
            text = text.replace('"', "'");
        }
        if text.len() > IBSIM_DESCRIPTION_BYTES_MAX {
            losses.add("descriptions cut to 63 bytes");
            let fits = |(at, c): &(usize, char)| at + c.len_utf8() <= IBSIM_DESCRIPTION_BYTES_MAX;
            text = text.char_indices().take_while(fits).map(|(_, c)| c).collect();
        }
    }
    text
}

fn project_speed(
    speed: Option<LinkSpeed>,
    dialect: Dialect,
    losses: &mut Losses,
) -> Option<LinkSpeed> {
    let holds = match speed {
        Some(LinkSpeed::InfiniBand { width, generation }) => {
            if dialect == Dialect::Ibsim {
                let fast = generation > Generation::Hdr;
                losses.add_if(fast, "speeds beyond HDR, which ibsim 0.10 takes for SDR");
            }
            LinkSpeed::WIDTHS.contains(&width)
        }
        _ => false,
    };
    losses.keep(speed, holds, "speeds of cables that are not InfiniBand speeds left out")
}

/// Counts names lost in the dump: readers use descriptions as names, or ids if descriptions clash.
fn count_names(fabric: &Fabric, projected: &Fabric, losses: &mut Losses) {
    let kept: BTreeSet<&str> = projected.nodes().iter().map(|node| node.name.as_str()).collect();
    for node in fabric.nodes() {
        losses
            .add_if(!kept.contains(node.name.as_str()), "names that are not descriptions left out");
    }
}

/// Replacement of missing and duplicate GUIDs.
///
/// ```text
///   switch g         ports g
///   host g, 2 ports  ports g+1, g+2      ibsim ignores port GUIDs in files
/// ```
///
/// OpenSM fails if two ports share a GUID, so new node GUIDs leave room for port GUIDs.
struct Guids {
    dialect: Dialect,
    ids: BTreeSet<String>,
    nodes: BTreeSet<Guid>,
    ports: BTreeSet<Guid>,
    next: u64,
}

impl Guids {
    fn new(dialect: Dialect) -> Self {
        let (ids, nodes, ports) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        Self { dialect, ids, nodes, ports, next: LOCAL_GUID_FIRST }
    }

    fn give(mut self, nodes: &mut [Node], losses: &mut Losses) {
        let mut without: Vec<&mut Node> = Vec::new();
        for node in nodes {
            match node.guid {
                Some(guid) if self.is_free(node, guid) => self.take(node, guid),
                Some(_) => {
                    losses
                        .add("GUIDs that another node has replaced, from 0200000000000000 upwards");
                    without.push(node);
                }
                None => {
                    losses.add("nodes without a GUID given one, from 0200000000000000 upwards");
                    without.push(node);
                }
            }
        }
        for node in without {
            while !self.is_new(node, Guid(self.next)) {
                self.next += 1;
            }
            node.guid = Some(Guid(self.next));
            self.take(node, Guid(self.next));
        }
    }

    /// Returns whether a GUID is free: dumps require unique node ids, and ibsim also requires
    /// unique node and port GUIDs.
    fn is_free(&self, node: &Node, guid: Guid) -> bool {
        match self.dialect {
            Dialect::Plain => !self.ids.contains(&dump_id(node.kind, guid)),
            Dialect::Ibsim => self.is_new(node, guid),
        }
    }

    fn is_new(&self, node: &Node, guid: Guid) -> bool {
        let mut ports = port_guids(node, guid);
        !self.nodes.contains(&guid) && !ports.any(|port| self.ports.contains(&port))
    }

    fn take(&mut self, node: &Node, guid: Guid) {
        self.ids.insert(dump_id(node.kind, guid));
        self.nodes.insert(guid);
        self.ports.extend(port_guids(node, guid));
    }
}

/// Returns the port GUIDs that ibsim assigns.
fn port_guids(node: &Node, guid: Guid) -> impl Iterator<Item = Guid> {
    let ports = if node.is_switch() { 0..=0 } else { 1..=node.ports };
    ports.map(move |port| Guid(guid.0.wrapping_add(port.into())))
}
