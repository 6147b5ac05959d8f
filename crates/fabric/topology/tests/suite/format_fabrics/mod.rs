//! Random fabrics for the tests of file formats.

use gingham_kernel::{Length, Rate};
use gingham_topology::{
    Address, Fabric, FabricBuilder, Generation, Guid, Identity, LinkSpeed, Node, NodeKind,
};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;

/// Pieces with a meaning in a format.
const PIECES: [&str; 20] = [
    "\"",
    "\\",
    "#",
    "[1]",
    "[",
    "]",
    "=",
    " lid 9 4xNDR",
    " lmc 0",
    "\t",
    "\r",
    "'",
    "(scp)",
    "s0",
    "h1",
    "é",
    "Aggregation Node",
    " enhanced port 0",
    "@",
    "  ",
];

/// Hard to represent; with line breaks and NULs if `wild`.
fn text(wild: bool) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => proptest::sample::select(PIECES.to_vec()).prop_map(str::to_owned),
        1 => any::<char>().prop_map(String::from),
        1 => Just(if wild { "\n" } else { "x" }.to_owned()),
        1 => Just(if wild { "\0" } else { "y" }.to_owned()),
    ];
    let joined = vec(piece, 0..6).prop_map(|pieces| pieces.concat());
    joined.prop_map(move |text| if wild { text } else { text.replace(['\n', '\0'], "_") })
}

fn kind() -> impl Strategy<Value = NodeKind> {
    prop_oneof![
        Just(NodeKind::Switch),
        Just(NodeKind::Host),
        Just(NodeKind::Aggregation),
        Just(NodeKind::Router),
    ]
}

fn identity() -> impl Strategy<Value = Identity> {
    let fields = (any::<Option<u32>>(), any::<Option<u32>>(), guid(), any::<Option<bool>>());
    fields.prop_map(|(vendor, device, system_guid, enhanced_port0)| Identity {
        vendor,
        device,
        system_guid,
        enhanced_port0,
    })
}

/// Few values, to provoke clashes, and arbitrary ones.
fn guid() -> impl Strategy<Value = Option<Guid>> {
    option::of(prop_oneof![0..4_u64, Just(0x0200_0000_0000_0000), any::<u64>()])
        .prop_map(|guid| guid.map(Guid))
}

fn address() -> impl Strategy<Value = Address> {
    let fields = (guid(), any::<Option<u16>>(), any::<Option<u8>>());
    fields.prop_map(|(guid, lid, lmc)| Address { guid, lid, lmc })
}

fn infiniband() -> impl Strategy<Value = LinkSpeed> {
    let width = proptest::sample::select(LinkSpeed::WIDTHS.to_vec());
    let generation = proptest::sample::select(Generation::ALL.to_vec());
    (width, generation).prop_map(|(width, generation)| LinkSpeed::InfiniBand { width, generation })
}

fn speed() -> impl Strategy<Value = Option<LinkSpeed>> {
    let rate = (1..=u64::MAX).prop_map(|rate| LinkSpeed::Rate(Rate::from_bytes_per_second(rate)));
    option::of(prop_oneof![infiniband(), rate])
}

fn length() -> impl Strategy<Value = Option<Length>> {
    any::<Option<u64>>().prop_map(|length| length.map(Length::from_mm))
}

/// Nodes and ports are taken modulo the available number.
type Attempt = ([(usize, u16); 2], Option<LinkSpeed>, Option<Length>);

fn end() -> impl Strategy<Value = (usize, u16)> {
    (any::<usize>(), any::<u16>())
}

pub(crate) fn any_fabric() -> impl Strategy<Value = Fabric> {
    let node = (kind(), text(true), text(true), guid(), 0..5_u16, identity());
    let node = (node, btree_map(0..6_u16, address(), 0..3)).prop_map(
        |((kind, name, description, guid, ports, identity), addresses)| Node {
            kind,
            description: if name.len().is_multiple_of(2) { name.clone() } else { description },
            name,
            guid,
            ports,
            identity,
            addresses,
        },
    );
    let attempt = ([end(), end()], speed(), length());
    (vec(node, 1..8), vec(attempt, 0..12)).prop_map(|(nodes, cables)| build(nodes, &cables))
}

/// Different GUIDs, names equal to descriptions, and only addresses that a dump has.
#[allow(dead_code, reason = "not every test that shares this module writes dumps")]
pub(crate) fn dumpable_fabric() -> impl Strategy<Value = Fabric> {
    let node = (kind(), text(false), 0..5_u16, identity(), address(), address());
    let attempt = ([end(), end()], option::of(infiniband()), Just(None));
    (btree_set(any::<u64>(), 1..8), vec(node, 8), vec(attempt, 0..12)).prop_map(
        |(guids, nodes, cables)| {
            let nodes = guids.into_iter().zip(nodes).map(
                |(guid, (kind, description, ports, identity, first, second))| {
                    dumpable_node(kind, description, guid, ports, identity, [first, second])
                },
            );
            let fabric = build(nodes.collect(), &cables);
            without_idle_addresses(&fabric)
        },
    )
}

fn dumpable_node(
    kind: NodeKind,
    description: String,
    guid: u64,
    ports: u16,
    mut identity: Identity,
    addresses: [Address; 2],
) -> Node {
    let is_switch = kind == NodeKind::Switch;
    let is_reducing = description.contains("Aggregation Node");
    let kind = match kind {
        NodeKind::Host | NodeKind::Aggregation if is_reducing => NodeKind::Aggregation,
        NodeKind::Aggregation => NodeKind::Host,
        kind => kind,
    };
    identity.enhanced_port0 = identity.enhanced_port0.filter(|_| is_switch);
    let first = u16::from(!is_switch);
    let addresses = (first..).zip(addresses).take(if is_switch { 1 } else { 2 });
    let addresses = addresses.filter(|(_, address)| *address != Address::default()).collect();
    let name = description.clone();
    Node { kind, name, guid: Some(Guid(guid)), description, ports, identity, addresses }
}

/// A dump has no addresses of ports without cables.
fn without_idle_addresses(fabric: &Fabric) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut drafts = Vec::new();
    for id in fabric.node_ids() {
        let mut node = fabric.node(id).clone();
        node.name.clone_from(&node.description);
        if !node.is_switch() {
            node.addresses.retain(|port, _| fabric.outgoing(id, *port).is_some());
        }
        drafts.push(builder.add_node(node));
    }
    for cable in fabric.cables() {
        let ends = cable.ends.map(|end| (drafts[end.node.index()], end.port));
        builder.add_cable(ends, cable.speed, cable.length).expect("it had the cable");
    }
    builder.build()
}

fn build(nodes: Vec<Node>, cables: &[Attempt]) -> Fabric {
    let mut builder = FabricBuilder::new();
    let drafts: Vec<_> = nodes.into_iter().map(|node| builder.add_node(node)).collect();
    for (ends, speed, length) in cables {
        let ends = ends.map(|(node, port)| {
            let draft = drafts[node % drafts.len()];
            (draft, 1 + port % builder.node(draft).ports.max(1))
        });
        // A taken or missing port is skipped.
        let _ = builder.add_cable(ends, *speed, *length);
    }
    builder.build()
}
