//! Tables of a ring of four, followed by hand.

use crate::support::{clockwise, host, joined, port, ring, ring_tables, ring_with, tables};
use gingham_topology::routing::{Proof, Stray, prove, prove_without_loops};
use gingham_topology::subnet::{LID_MAX, LevelDump, LidOwner, Lids, TableDump, join_levels};
use gingham_topology::{FindingKind, Guid, NodeId};
use std::fmt::Write as _;

#[test]
fn lids_have_owners_and_offsets() {
    let fabric = ring(1);
    let lids = Lids::of(&fabric).unwrap();
    assert_eq!(lids.owner(3), Some(LidOwner::Switch(NodeId::new(2))));
    let owner = |lid_offset| Some(LidOwner::Endpoint { endpoint: host(&fabric, 1), lid_offset });
    assert_eq!([19, 20, 21, 22].map(|lid| lids.owner(lid)), [None, owner(0), owner(1), None]);
    assert_eq!([0, 9, LID_MAX].map(|lid| lids.owner(lid)), [None; 3]);
    assert_eq!((lids.lid_offsets(), lids.count_of(host(&fabric, 0))), (2, 2));
    assert_eq!(
        [0, 1, 2, 3].map(|a| lids.of_endpoint(host(&fabric, 1), a)),
        [20, 21, 20, 21].map(Some)
    );
    assert_eq!(lids.all().count(), 4 + 8);
}

#[test]
fn entries_become_ports_by_lid_offset() {
    let fabric = ring(1);
    let forwarding = joined(&fabric, &ring_tables(1));
    assert_eq!(forwarding.findings, vec![]);
    assert_eq!(forwarding.routes.len(), 2);
    for (number, routes) in forwarding.routes.iter().enumerate() {
        for from in 0..4 {
            for to in 0..4 {
                let expected = u16::from(port(from, to, number == 0));
                let found = tables(routes).port(NodeId::new(from), host(&fabric, to));
                assert_eq!(found, Some(expected), "s{from} to h{to}, LID offset {number}");
            }
        }
    }
    let to_switches = &forwarding.to_switches;
    assert_eq!(to_switches.port(NodeId::new(0), NodeId::new(3)), Some(3));
    assert_eq!(
        to_switches.port(NodeId::new(0), NodeId::new(0)),
        None,
        "a switch needs no way to itself"
    );
}

#[test]
fn endpoint_with_fewer_lids_reuses_its_own() {
    let fabric = ring_with(|host| u8::from(host != 1));
    let forwarding = joined(&fabric, &ring_tables(1));
    let port = |lid_offset: usize, to| {
        tables(&forwarding.routes[lid_offset]).port(NodeId::new(3), host(&fabric, to))
    };
    assert_eq!(forwarding.routes.len(), 2);
    // From s3 to h1, its opposite, path 0 goes clockwise; h1 has no path 1.
    assert_eq!([port(0, 1), port(1, 1)], [Some(2), Some(2)]);
    assert_eq!([port(0, 2), port(1, 2)], [Some(3), Some(3)]);
    let [finding] = &forwarding.findings[..] else { panic!("one LID of nobody") };
    assert_eq!((finding.line, finding.kind), (Some(11), FindingKind::UnknownLid));
    // Likewise its service levels.
    let text = "source_lid,destination_lid,sl\n28,20,3\n28,24,1\n28,25,2\n";
    let lids = Lids::of(&fabric).unwrap();
    let (levels, _) = join_levels(&fabric, &lids, &LevelDump::read(text).unwrap()).unwrap();
    let level = |to, lid_offset| levels.level(host(&fabric, 3), host(&fabric, to), lid_offset);
    assert_eq!([level(1, 0), level(1, 1), level(2, 0), level(2, 1)], [3, 3, 1, 2]);
}

#[test]
fn clockwise_ring_tables_close_a_cycle() {
    let fabric = ring(0);
    let forwarding = joined(&fabric, &ring_tables(0));
    let Proof::Cycle { buffers } = prove(&fabric, &forwarding.routes[0]) else {
        panic!("all opposite pairs go clockwise")
    };
    let mut expected: Vec<_> = (0..4).map(|from| clockwise(&fabric, from)).collect();
    let lowest = (0..4).min_by_key(|place| expected[*place]).unwrap();
    expected.rotate_left(lowest);
    let found: Vec<_> = buffers.iter().map(|buffer| (buffer.channel, buffer.lane)).collect();
    assert_eq!(found, expected.into_iter().map(|channel| (channel, 0)).collect::<Vec<_>>());
}

#[test]
fn loop_is_a_fault_but_no_deadlock_by_itself() {
    // Opposite pairs from s0 or s1 go clockwise and the others back, without a cycle. Then s0 and
    // s1 send packets for h2 to each other.
    let fabric = ring(0);
    let mut text = ring_tables(0);
    for (switch, lid) in [(2, 16), (3, 20)] {
        text = with_entry(&text, switch, lid, "003");
    }
    let forwarding = joined(&fabric, &text);
    assert!(prove(&fabric, &forwarding.routes[0]).is_free());
    let forwarding = joined(&fabric, &with_entry(&text, 1, 24, "003"));
    let routes = &forwarding.routes[0];
    let [fault] = &routes.trace(&fabric).faults[..] else { panic!("one destination") };
    let there = clockwise(&fabric, 0);
    let back = fabric.outgoing(NodeId::new(1), 3).unwrap();
    assert_eq!(
        (&fault.stray, fault.to, fault.sources),
        (&Stray::Loop(vec![there, back]), host(&fabric, 2), 2)
    );
    assert!(!prove(&fabric, routes).is_free());
    assert!(prove_without_loops(&fabric, routes).is_free());
}

fn with_entry(text: &str, switch: usize, lid: u16, port: &str) -> String {
    let start = text.find(&format!("(s{switch}):")).expect("the case is sound");
    let entry = format!("0x{lid:04x} ");
    let at = start + text[start..].find(&entry).expect("the case is sound") + entry.len();
    format!("{}{port}{}", &text[..at], &text[at + 3..])
}

#[test]
fn missing_or_uncabled_entries_are_black_holes() {
    let fabric = ring(0);
    let cases = [
        ("255", Stray::NoEntry(NodeId::new(3))),
        ("000", Stray::NoEntry(NodeId::new(3))),
        ("004", Stray::Uncabled { switch: NodeId::new(3), port: 4 }),
        ("001", Stray::WrongEndpoint(host(&fabric, 3))),
    ];
    for (port, stray) in cases {
        let forwarding = joined(&fabric, &with_entry(&ring_tables(0), 3, 16, port));
        let trace = forwarding.routes[0].trace(&fabric);
        // Packets of h2 and h3 come through s3.
        assert_eq!(trace.arrived_pairs, 12 - 2, "{port}");
        let [fault] = &trace.faults[..] else { panic!("one fault: {trace:?}") };
        assert_eq!((&fault.stray, fault.sources), (&stray, 2), "{port}");
    }
}

#[test]
fn inconsistent_table_entries_are_findings() {
    let fabric = ring(0);
    let text = ring_tables(0);
    let with =
        |lines: &str| text.replace("8 valid lids dumped ", &format!("{lines}9 valid lids dumped "));
    let found = |text: &str| {
        let findings = joined(&fabric, text).findings;
        findings.into_iter().map(|f| (f.line, f.kind, f.text)).collect::<Vec<_>>()
    };
    let unknown = "4 switches have entries for LID 9, which no port of the topology has";
    assert_eq!(
        found(&with("0x0009 002\n")),
        [(Some(12), FindingKind::UnknownLid, unknown.to_owned())]
    );
    assert_eq!(found(&with("0x0009 255\n")), [], "no entry for nobody");
    let found_again = found(&with("0x0010 003\n"));
    assert_eq!(found_again.len(), 3, "s3 has port 3 already");
    assert_eq!(
        found_again[0].2,
        "s0 has a second entry for LID 16, port 3; the first, port 1, is kept"
    );
    let astray = found(&with_entry(&text, 1, 3, "003"));
    let lost = "management packets for switch s2 do not arrive from 2 switches, such as s0";
    assert_eq!(astray, [(None, FindingKind::UnreachedSwitch, lost.to_owned())]);
}

#[test]
fn three_table_formats_agree() {
    let fabric = ring(0);
    let by_tool = ring_tables(0);
    let mut by_manager = String::from("ibwarn: [17] something of the tool\n");
    let mut fdbs = String::new();
    for table in TableDump::read(&by_tool).unwrap().tables {
        writeln!(by_manager, "Unicast lids [0-28] of switch Lid 1 guid 0x{} ('s'):", table.guid)
            .expect("a string takes any text");
        writeln!(
            fdbs,
            "dump_ucast_routes: Switch 0x{}\nLID    : Port : Hops : Optimal",
            table.guid
        )
        .expect("a string takes any text");
        for entry in table.entries {
            let (lid, port) = (entry.lid, entry.port.unwrap());
            writeln!(by_manager, "0x{lid:04x} {port:03} # Switch")
                .expect("a string takes any text");
            writeln!(fdbs, "0x{lid:04X} : {port:03}  : 01   : yes")
                .expect("a string takes any text");
        }
        by_manager += "28 lids dumped\n";
        fdbs += "0x0009 : UNREACHABLE\n";
    }
    let expected = joined(&fabric, &by_tool);
    assert_eq!(joined(&fabric, &by_manager), expected);
    assert_eq!(joined(&fabric, &fdbs), expected);
}

#[test]
fn table_headings_of_older_opensm_releases_are_read() {
    let long = include_str!("../fixtures/long-heading.fdbs");
    let dump = TableDump::read(long).expect("the tables read");
    let [table] = &*dump.tables else { panic!("one table: {dump:?}") };
    assert_eq!((table.line, table.guid), (2, Guid(0x20_0000)));
    let ports: Vec<_> = table.entries.iter().map(|entry| (entry.lid, entry.port)).collect();
    assert_eq!(ports, [(1, Some(0)), (2, Some(1))]);
    for heading in [
        "dump_ucast_routes: Switch 0x200000",
        "__osm_ucast_mgr_dump_ucast_routes: Switch 0x200000",
        "osm_ucast_mgr_dump_ucast_routes: Switch 0000000000200000",
    ] {
        let text = format!("{heading}\nLID    : Port : Hops : Optimal\n0x0003 : UNREACHABLE\n");
        let dump = TableDump::read(&text).expect(heading);
        assert_eq!((dump.tables[0].guid, dump.tables[0].entries[0].port), (Guid(0x20_0000), None));
    }
    assert_eq!(TableDump::read("not a dump_ucast_routes: Switch 0x1\n").unwrap_err().line, 1);
}
