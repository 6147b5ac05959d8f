//! The list of links of OpenSM and ibdiagnet.

use gingham_topology::format::{self, Format, Parsed};
use gingham_topology::{FindingKind, Guid, NodeKind};

const LINKS: &str = include_str!("../fixtures/links.lst");

fn read(text: &str) -> Parsed {
    format::read(text, Format::Lst).expect("the list reads")
}

#[test]
fn lst_link_is_one_cable_if_listed_from_either_end() {
    let Parsed { fabric, findings } = read(LINKS);
    assert_eq!(findings, []);
    let names: Vec<_> = fabric.nodes().iter().map(|node| (node.kind, &*node.name)).collect();
    let expected = [
        (NodeKind::Switch, "leaf {1}"),
        (NodeKind::Host, "node1 HCA-1"),
        (NodeKind::Host, "node2 HCA-1"),
    ];
    assert_eq!(names, expected);
    let cables: Vec<_> = fabric
        .cables()
        .iter()
        .map(|cable| (cable.ends.map(|end| end.port), cable.reported_speed()))
        .collect();
    let expected = [([14, 1], Some("4xQDR".to_owned())), ([15, 1], Some("2x???".to_owned()))];
    assert_eq!(cables, expected, "ports are hexadecimal");
}

#[test]
fn lst_node_attributes_come_from_its_own_lines() {
    let fabric = read(LINKS).fabric;
    let [leaf, node1, node2] = fabric.nodes() else { panic!("three nodes") };
    assert_eq!((leaf.identity.vendor, leaf.identity.device), (Some(0x2c9), Some(0xbd36)));
    assert_eq!(leaf.identity.system_guid, Some(Guid(0x2_c902_0041_767b)));
    assert_eq!((leaf.ports, node1.ports), (36, 2));
    assert_eq!(node1.identity.device, Some(0x1003));
    assert_eq!(node2.identity.device, Some(0x1003_0000), "nothing else tells");
    assert_eq!((leaf.addresses[&0].lid, node1.addresses[&1].lid), (Some(9), Some(0x10)));
    assert_eq!(node1.addresses[&1].guid, Some(Guid(0x2_c903_0016_5e61)));
}

#[test]
fn older_lst_files_have_no_descriptions() {
    let text = LINKS.replace("{leaf {1}} ", "").replace("{node1 HCA-1} ", " ");
    let fabric = read(&text).fabric;
    assert_eq!(fabric.nodes()[0].name, "S-0002c90200417670");
    assert_eq!(fabric.cables().len(), 2);
}

#[test]
fn lst_contradictions_are_findings_and_syntax_errors_refused() {
    let speed = LINKS.replacen("PHY=4x LOG=ACT SPD=10", "PHY=4x LOG=ACT SPD=5", 1);
    let found = read(&speed).findings;
    assert_eq!(
        found.iter().map(|found| (found.line, found.kind)).collect::<Vec<_>>(),
        [(Some(3), FindingKind::Disagreement)]
    );
    let port = LINKS.replacen("PN:0F }", "PN:0E }", 1);
    assert_eq!(read(&port).findings[0].line, Some(2));
    for (from, to) in [("PN:0F", "PN:xy"), ("{ SW-SM", "{ XX"), ("PHY=2x", ""), ("NodeGUID", "")] {
        let faults = format::read(&LINKS.replace(from, to), Format::Lst).expect_err(from);
        assert!(faults.first().expected.contains("NodeGUID:"), "{from}: {faults}");
    }
}
