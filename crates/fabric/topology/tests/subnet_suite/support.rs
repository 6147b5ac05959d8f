//! A ring of four with its tables, to be followed by hand.

use gingham_topology::routing::{
    LaneMap, LaneRow, Lanes, RouteSet, Routes, ServiceLevels, TableRoutes,
};
use gingham_topology::subnet::{ForwardingTables, Lids, TableDump, join};
use gingham_topology::{
    Address, ChannelId, EndpointId, Fabric, FabricBuilder, Guid, NodeId, NodeKind,
};
use std::fmt::Write as _;

/// Switches s0 to s3 in a ring with hosts h0 to h3. Port 1 of a switch leads to its host, port 2
/// clockwise, port 3 back. Switch n has LID 1 + n, host n LID 16 + 4 n and 2^lmc - 1 more.
pub(crate) fn ring(lmc: u8) -> Fabric {
    ring_with(|_| lmc)
}

/// `lmc` is by host.
pub(crate) fn ring_with(lmc: impl Fn(u16) -> u8) -> Fabric {
    let mut builder = FabricBuilder::new();
    let address =
        |guid, lid, lmc| Address { guid: Some(Guid(guid)), lid: Some(lid), lmc: Some(lmc) };
    let switches: Vec<_> = (0..4_u16)
        .map(|n| {
            let guid = 0x10 + u64::from(n);
            let node = builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(guid), 4);
            builder.node_mut(node).addresses.insert(0, address(guid, 1 + n, 0));
            node
        })
        .collect();
    for (n, switch) in (0..4_u16).zip(&switches) {
        let guid = 0x100 + u64::from(n);
        let node = builder.add_plain(NodeKind::Host, &format!("h{n}"), Guid(guid), 1);
        builder
            .node_mut(node)
            .addresses
            .insert(1, address(0x200 + u64::from(n), 16 + 4 * n, lmc(n)));
        builder.add_cable([(*switch, 1), (node, 1)], None, None).expect("the ports are free");
    }
    for n in 0..4 {
        let ends = [(switches[n], 2), (switches[(n + 1) % 4], 3)];
        builder.add_cable(ends, None, None).expect("the ports are free");
    }
    builder.build()
}

/// On a shortest path from switch `from` to `to`; `clockwise` decides for opposite switches.
pub(crate) fn port(from: usize, to: usize, clockwise: bool) -> u8 {
    match (4 + to - from) % 4 {
        0 => 1,
        1 => 2,
        2 if clockwise => 2,
        _ => 3,
    }
}

/// As printed by `dump_lfts`.
pub(crate) fn ring_tables(lmc: u8) -> String {
    let mut text = String::new();
    for s in 0..4 {
        writeln!(
            text,
            "Unicast lids [0x0-0x1c] of switch Lid {} guid 0x{:016x} (s{s}):",
            1 + s,
            16 + s
        )
        .expect("the case is sound");
        text.push_str("  Lid  Out   Destination\n       Port     Info \n");
        let mut count = 0;
        for to in 0..4 {
            let port = if to == s { 0 } else { port(s, to, true) };
            writeln!(
                text,
                "0x{:04x} {port:03} : (Switch portguid 0x{:016x}: 's{to}')",
                1 + to,
                16 + to
            )
            .expect("the case is sound");
            count += 1;
        }
        for to in 0..4 {
            for path in 0..1 << lmc {
                // Paths to a host go clockwise and back in turn.
                let port = port(s, to, path % 2 == 0);
                writeln!(text, "0x{:04x} {port:03} ", 16 + 4 * to + path)
                    .expect("the case is sound");
                count += 1;
            }
        }
        writeln!(text, "{count} valid lids dumped ").expect("the case is sound");
    }
    text
}

pub(crate) fn joined(fabric: &Fabric, text: &str) -> ForwardingTables {
    let lids = Lids::of(fabric).expect("a sound fabric");
    join(fabric, &lids, &TableDump::read(text).expect("sound tables"))
        .expect("tables of the fabric")
}

pub(crate) fn tables(routes: &Routes) -> &TableRoutes {
    match routes {
        Routes::Table(tables) => tables,
        Routes::Source(_) => panic!("tables"),
    }
}

pub(crate) fn host(fabric: &Fabric, number: usize) -> EndpointId {
    let name = format!("h{number}");
    let named = |endpoint: &EndpointId| fabric.endpoint_name(*endpoint) == name;
    fabric.endpoint_ids().find(named).expect("a host of the ring")
}

pub(crate) fn clockwise(fabric: &Fabric, from: usize) -> ChannelId {
    fabric.outgoing(NodeId::new(from), 2).expect("the ring is closed")
}

/// By numbers of source and destination host.
pub(crate) fn levels(fabric: &Fabric, level: impl Fn(usize, usize) -> u8) -> ServiceLevels {
    ServiceLevels::by_pair(fabric, 1, |from, to, _| level(from.index(), to.index()))
}

/// One row for all switches.
pub(crate) fn lanes(fabric: &Fabric, row: LaneRow, level: impl Fn(usize, usize) -> u8) -> Lanes {
    Lanes::new(fabric, LaneMap::uniform(fabric, row), levels(fabric, level))
}

pub(crate) fn on_lanes<'a>(routes: &'a [Routes], lanes: &'a Lanes) -> RouteSet<'a> {
    RouteSet::new(routes, Some(lanes))
}
