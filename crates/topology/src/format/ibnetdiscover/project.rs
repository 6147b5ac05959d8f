//! What of a fabric a dump can hold: the fabric as a reader of the dump will see it, and one
//! note for each thing that is lost.
//!
//! Invariant: reading what is written of a projected fabric gives the projected fabric.

use super::records::refine;
use crate::{
    Address, DraftNode, Fabric, FabricBuilder, Generation, Guid, LinkSpeed, Node, NodeId, NodeKind,
    dump_id,
};
use std::collections::{BTreeMap, BTreeSet};

/// Whose reader the text is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::format) enum Dialect {
    /// Anyone who reads what `ibnetdiscover` prints.
    Plain,
    /// The simulator `ibsim`, which has limits of its own.
    Ibsim,
}

/// GUIDs for nodes without one begin here: the range of locally administered identifiers.
const LOCAL_GUID_FIRST: u64 = 0x0200_0000_0000_0000;

/// Bytes of a description that `ibsim` keeps.
const IBSIM_DESCRIPTION_BYTES_MAX: usize = 63;

/// Counts what is lost, by the sentence that says so.
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

    /// The value, unless it is lost.
    fn keep<T>(&mut self, value: Option<T>, holds: bool, what: &'static str) -> Option<T> {
        self.add_if(value.is_some() && !holds, what);
        value.filter(|_| holds)
    }

    /// One sentence for each kind of loss, with how often it happened.
    pub(super) fn notes(self) -> Vec<String> {
        self.0.into_iter().map(|(what, count)| format!("{what}: {count}")).collect()
    }
}

/// The fabric that a dump holds, and what it loses.
pub(super) fn project(fabric: &Fabric, dialect: Dialect) -> (Fabric, Losses) {
    let mut losses = Losses::default();
    let mut guids = Guids::new(fabric, dialect);
    let mut builder = FabricBuilder::new();
    let nodes: Vec<DraftNode> = fabric
        .node_ids()
        .map(|id| {
            let mut node = project_node(fabric.node(id), dialect, &mut losses);
            project_addresses(fabric, id, &mut node, dialect, &mut losses);
            node.guid = Some(guids.give(&node, &mut losses));
            builder.add_node(node)
        })
        .collect();
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
        builder.tell_in_part(ends[0], partial);
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

/// A dump knows addresses of switches and of ports with cables. For ibsim every one of these
/// has a LID, because it reads the speed of a cable at both ends from what follows the LID.
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
    losses.keep(speed, holds, "speeds of cables that are no InfiniBand speed left out")
}

/// Names are descriptions, or ids where descriptions clash; other names are lost.
fn count_names(fabric: &Fabric, projected: &Fabric, losses: &mut Losses) {
    let kept: BTreeSet<&str> = projected.nodes().iter().map(|node| node.name.as_str()).collect();
    for node in fabric.nodes() {
        losses
            .add_if(!kept.contains(node.name.as_str()), "names that are no descriptions left out");
    }
}

/// Hands out GUIDs where there is none, or where one is taken.
struct Guids {
    dialect: Dialect,
    known: BTreeSet<Guid>,
    used: BTreeSet<String>,
    next: u64,
}

impl Guids {
    fn new(fabric: &Fabric, dialect: Dialect) -> Self {
        let known = fabric.nodes().iter().filter_map(|node| node.guid).collect();
        Self { dialect, known, used: BTreeSet::new(), next: LOCAL_GUID_FIRST }
    }

    fn give(&mut self, node: &Node, losses: &mut Losses) -> Guid {
        if let Some(guid) = node.guid {
            if self.used.insert(self.key(node.kind, guid)) {
                return guid;
            }
            losses.add("GUIDs that another node has replaced, from 0200000000000000 upwards");
        } else {
            losses.add("nodes without a GUID given one, from 0200000000000000 upwards");
        }
        while self.known.contains(&Guid(self.next)) {
            self.next += 1;
        }
        self.next += 1;
        Guid(self.next - 1)
    }

    /// A dump tells nodes apart by their ids; ibsim wants one GUID for one node.
    fn key(&self, kind: NodeKind, guid: Guid) -> String {
        match self.dialect {
            Dialect::Plain => dump_id(kind, guid),
            Dialect::Ibsim => guid.to_string(),
        }
    }
}
