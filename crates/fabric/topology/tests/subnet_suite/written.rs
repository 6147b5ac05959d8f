//! Files written for OpenSM and for Slurm.

use crate::support::{joined, ring, ring_tables};
use gingham_topology::format::{self, Format};
use gingham_topology::generate::{FoldedClos, Generator, Irregular, KAryNTree, Torus};
use gingham_topology::routing::{
    Algorithm, DimensionOrder, Form, Root, UpDown, prove, route, route_to_switches,
};
use gingham_topology::subnet::{Lids, TableDump, write_tables};
use gingham_topology::{Fabric, FabricBuilder, Guid, NodeKind};

#[test]
fn tables_are_written_in_the_opensm_dump_format() {
    let fabric = ring(1);
    let forwarding = joined(&fabric, &ring_tables(1));
    let lids = Lids::of(&fabric).unwrap();
    let text = write_tables(&fabric, &lids, &forwarding.routes, &forwarding.to_switches).unwrap();
    insta::assert_snapshot!(text.lines().take(15).collect::<Vec<_>>().join("\n"), @"
    Unicast lids [0-29] of switch Lid 1 guid 0x0000000000000010 ('s0'):
    0x0001 000 # Switch portguid 0x0000000000000010: 's0'
    0x0002 002 # Switch portguid 0x0000000000000011: 's1'
    0x0003 002 # Switch portguid 0x0000000000000012: 's2'
    0x0004 003 # Switch portguid 0x0000000000000013: 's3'
    0x0010 001 # Channel Adapter portguid 0x0000000000000200: 'h0'
    0x0011 001 # Channel Adapter portguid 0x0000000000000200: 'h0'
    0x0014 002 # Channel Adapter portguid 0x0000000000000201: 'h1'
    0x0015 002 # Channel Adapter portguid 0x0000000000000201: 'h1'
    0x0018 002 # Channel Adapter portguid 0x0000000000000202: 'h2'
    0x0019 003 # Channel Adapter portguid 0x0000000000000202: 'h2'
    0x001c 003 # Channel Adapter portguid 0x0000000000000203: 'h3'
    0x001d 003 # Channel Adapter portguid 0x0000000000000203: 'h3'
    29 lids dumped
    Unicast lids [0-29] of switch Lid 2 guid 0x0000000000000011 ('s1'):
    ");
    assert_eq!(joined(&fabric, &text), forwarding);
}

fn cases() -> Vec<(Fabric, Algorithm)> {
    let up_down =
        || Algorithm::UpDown(UpDown { root: Root::SmallestTotalDistance, ..UpDown::default() });
    let clos = FoldedClos { leaves: 4, spines: 2, hosts_per_leaf: 3, cables_per_pair: 2, rails: 1 };
    let irregular =
        Irregular { switches: 12, ports: 8, hosts_per_switch: 3, cables_per_pair_max: 2, rails: 1 };
    let tree = KAryNTree { arity: 2, levels: 3, rails: 1 };
    let generated = |generator: Generator| generator.generate(5).expect("lawful parameters");
    vec![
        (generated(Generator::FoldedClos(clos)), up_down()),
        (generated(Generator::KAryNTree(tree)), up_down()),
        (generated(Generator::Irregular(irregular)), up_down()),
        (
            generated(Generator::Torus(Torus {
                dimensions: vec![3, 3],
                hosts_per_switch: 1,
                rails: 1,
            })),
            Algorithm::DimensionOrder(DimensionOrder::default()),
        ),
    ]
}

#[test]
fn written_computed_routes_read_back() {
    for (fabric, algorithm) in cases() {
        let routes = vec![route(&fabric, &algorithm, Form::Table).unwrap()];
        let to_switches = route_to_switches(&fabric, &algorithm).unwrap();
        let lids = Lids::of(&fabric).unwrap();
        assert!(lids.is_made_up(), "a generated fabric has no LIDs");
        let text = write_tables(&fabric, &lids, &routes, &to_switches).unwrap();
        let read = joined(&fabric, &text);
        assert_eq!(read.routes, routes);
        assert_eq!(read.to_switches, to_switches);
        assert_eq!(read.findings, vec![], "every switch reaches every switch");
        assert!(prove(&fabric, &read.routes[0]).is_free());
    }
}

#[test]
fn source_routes_cannot_be_written_as_tables() {
    let (fabric, algorithm) = cases().remove(0);
    let lids = Lids::of(&fabric).unwrap();
    let to_switches = route_to_switches(&fabric, &algorithm).unwrap();
    let source = [route(&fabric, &algorithm, Form::Source).unwrap()];
    let refused = write_tables(&fabric, &lids, &source, &to_switches).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "source routes are not forwarding tables; route in the form \"table\""
    );
}

#[test]
fn line_break_in_a_description_adds_no_line() {
    let mut builder = FabricBuilder::new();
    let switch = builder.add_plain(NodeKind::Switch, "s\n0x0001 003", Guid(1), 4);
    for (name, guid) in [("a\r\nb", 2), ("c\0", 3)] {
        let host = builder.add_plain(NodeKind::Host, name, Guid(guid), 1);
        builder.join(switch, host).unwrap();
    }
    let fabric = builder.build();
    let lids = Lids::of(&fabric).unwrap();
    let algorithm = Algorithm::UpDown(UpDown::default());
    let routes = [route(&fabric, &algorithm, Form::Table).unwrap()];
    let to_switches = route_to_switches(&fabric, &algorithm).unwrap();
    let text = write_tables(&fabric, &lids, &routes, &to_switches).unwrap();
    assert_eq!(text.lines().count(), 5, "{text}");
    assert_eq!(joined(&fabric, &text).routes, routes);
}

#[test]
fn tables_must_match_names_if_the_fabric_has_no_lids() {
    let (fabric, algorithm) = cases().remove(0);
    let lids = Lids::of(&fabric).unwrap();
    let routes = [route(&fabric, &algorithm, Form::Table).unwrap()];
    let to_switches = route_to_switches(&fabric, &algorithm).unwrap();
    let text = write_tables(&fabric, &lids, &routes, &to_switches).unwrap();
    let other = text.replace("'h0-0'", "'somebody'");
    assert_ne!(text, other);
    let refused = gingham_topology::subnet::join(&fabric, &lids, &TableDump::read(&other).unwrap());
    let refused = refused.unwrap_err();
    assert!(refused.message.starts_with("the topology has no LIDs"), "{refused}");
}

fn slurm(fabric: &Fabric) -> String {
    format::write(fabric, Format::Slurm).expect("the case is sound").text
}

#[test]
fn switch_tree_is_written_as_a_slurm_tree() {
    let mut builder = FabricBuilder::new();
    let [top, left, right] = [("spine switch", 1), ("leaf1", 2), ("leaf 2", 3)]
        .map(|(name, guid)| builder.add_plain(NodeKind::Switch, name, Guid(guid), 8));
    for (switch, below) in [(top, left), (top, left), (top, right)] {
        builder.join(switch, below).unwrap();
    }
    let hosts = [
        ("n1 HCA-1", left),
        ("n2 HCA-1", left),
        ("n3 HCA-1", right),
        ("n1 HCA-2", right),
        ("login", top),
    ];
    for (guid, (name, switch)) in (10..).zip(hosts) {
        let host = builder.add_plain(NodeKind::Host, name, Guid(guid), 1);
        builder.join(switch, host).unwrap();
    }
    insta::assert_snapshot!(slurm(&builder.build()), @"
    # Written by gingham; for TopologyPlugin=topology/tree.
    SwitchName=leaf_2 Nodes=n3
    SwitchName=leaf1 Nodes=n1,n2
    SwitchName=spine_switch-nodes Nodes=login
    SwitchName=spine_switch Switches=leaf1,leaf_2,spine_switch-nodes
    ");
}

#[test]
fn fat_tree_becomes_leaves_below_one_top() {
    let clos = FoldedClos { leaves: 3, spines: 2, hosts_per_leaf: 2, cables_per_pair: 1, rails: 1 };
    let fabric = Generator::FoldedClos(clos).generate(1).unwrap();
    insta::assert_snapshot!(slurm(&fabric));
    let refused = format::read(&slurm(&fabric), Format::Slurm).unwrap_err();
    assert_eq!(refused.first().message, "Slurm's topology.conf lists no ports and cables");
}
