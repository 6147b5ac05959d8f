//! Hand-written network files of `ibsim`, and dumps kept within its limits.

use gingham_topology::format::{self, Format, Parsed};
use gingham_topology::{
    Address, FabricBuilder, FindingKind, Generation, Guid, Identity, LinkSpeed, Node, NodeKind,
};

const BY_HAND: &str = include_str!("../fixtures/by_hand.net");

#[test]
fn handwritten_ibsim_file_keeps_names_and_notes_omissions() {
    let Parsed { fabric, findings } = format::read(BY_HAND, Format::IbnetdiscoverForIbsim).unwrap();
    let nodes: Vec<_> =
        fabric.nodes().iter().map(|n| (n.kind, n.name.as_str(), n.guid, n.ports)).collect();
    assert_eq!(
        nodes,
        [
            (NodeKind::Switch, "Sw2", Some(Guid(0x77)), 8),
            (NodeKind::Switch, "Sw1", None, 8),
            (NodeKind::Host, "Hca1", None, 2),
            (NodeKind::Host, "Hca2", None, 2),
        ]
    );
    assert_eq!(fabric.nodes()[0].description, "a spine by hand");
    let cables: Vec<_> = fabric
        .cables()
        .iter()
        .map(|cable| {
            let ends = cable.ends.map(|end| fabric.port_name(end)).join(" ");
            (ends, cable.speed.map(|speed| speed.to_string()))
        })
        .collect();
    assert_eq!(
        cables,
        [
            ("Sw2[1] Sw1[3]".to_owned(), Some("4xSDR".to_owned())),
            ("Sw1[1] Hca1[1]".to_owned(), None),
            ("Sw1[2] Hca2[2]".to_owned(), Some("12xDDR".to_owned())),
        ]
    );
    assert!(findings.iter().all(|finding| finding.kind == FindingKind::Ignored));
    let lines: Vec<_> = findings.iter().map(|finding| finding.line.unwrap()).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6, 7, 17, 18], "lines 7 and 8 are of one kind");
}

#[test]
fn undefined_node_with_several_ports_is_a_switch() {
    let text = "Switch 4 \"Sw1\"\n[1] \"a\"[1]\n[2] \"a\"[2]\n[3] \"b\"\n";
    let Parsed { fabric, findings } = format::read(text, Format::Ibnetdiscover).unwrap();
    let kinds: Vec<_> = fabric.nodes().iter().map(|n| (n.name.as_str(), n.kind)).collect();
    let expected = [("Sw1", NodeKind::Switch), ("a", NodeKind::Switch), ("b", NodeKind::Host)];
    assert_eq!(kinds, expected);
    let found: Vec<_> = findings.iter().map(|f| (f.line.unwrap(), f.kind)).collect();
    assert_eq!(found, [(2, FindingKind::UndefinedNode), (4, FindingKind::UndefinedNode)]);
}

fn speed(generation: Generation) -> LinkSpeed {
    LinkSpeed::InfiniBand { width: 4, generation }
}

/// A switch and a host with everything that the simulator cannot read.
fn unruly() -> gingham_topology::Fabric {
    let mut builder = FabricBuilder::new();
    let switch = builder.add_node(Node {
        kind: NodeKind::Switch,
        name: "s".to_owned(),
        guid: Some(Guid(0x10)),
        description: format!("say \"a=b\"\n{}", "é".repeat(40)),
        ports: 2,
        identity: Identity { enhanced_port0: Some(true), ..Identity::default() },
        addresses: [(0, Address { guid: None, lid: Some(4), lmc: Some(0) })].into(),
    });
    let host = builder.add_plain(NodeKind::Host, "h", Guid(0x10), 2);
    builder.add_plain(NodeKind::Host, "idle", Guid(0x30), 0);
    for (port, generation) in [(1, Generation::Ddr), (2, Generation::Ndr)] {
        let ends = [(switch, port), (host, port)];
        builder.add_cable(ends, Some(speed(generation)), None).expect("the ports are free");
    }
    builder.build()
}

/// OpenSM fails if two ports have one GUID.
#[test]
fn host_ports_have_distinct_guids() {
    let mut builder = FabricBuilder::new();
    let switch = builder.add_plain(NodeKind::Switch, "s", Guid(0x10), 8);
    let guids = [Some(Guid(0x20)), Some(Guid(0x21)), None, None];
    for (name, guid) in ["a", "b", "c", "d"].into_iter().zip(guids) {
        let host = builder.add_node(Node {
            kind: NodeKind::Host,
            name: name.to_owned(),
            guid,
            description: name.to_owned(),
            ports: 2,
            identity: Identity::default(),
            addresses: [].into(),
        });
        builder.join(switch, host).expect("there are free ports");
        builder.join(switch, host).expect("there are free ports");
    }
    let written = format::write(&builder.build(), Format::IbnetdiscoverForIbsim).unwrap();
    let back = format::read(&written.text, Format::IbnetdiscoverForIbsim).unwrap().fabric;
    let hosts = back.nodes().iter().filter(|node| node.kind == NodeKind::Host);
    let mut ports: Vec<u64> = hosts
        .flat_map(|node| (1..=2).map(|port| node.guid.expect("every node has a GUID").0 + port))
        .collect();
    ports.sort_unstable();
    let new = 0x0200_0000_0000_0000;
    assert_eq!(ports, [0x21, 0x22].into_iter().chain(new + 1..new + 7).collect::<Vec<_>>());
    assert_eq!(written.notes.iter().filter(|note| note.ends_with(": 1")).count(), 1);
}

#[test]
fn text_unsupported_by_ibsim_is_replaced_and_noted() {
    let written = format::write(&unruly(), Format::IbnetdiscoverForIbsim).unwrap();
    insta::assert_snapshot!(written.text, @r#"
    #
    # Topology file: generated by gingham
    #

    switchguid=0x10
    Switch	2 "S-0000000000000010"		# "say 'a=b' éééééééééééééééééééééééééé" enhanced port 0 lid 4 lmc 0
    [1]	"H-0200000000000000"[1] s=2 w=2		# "" lid 0 4xDDR
    [2]	"H-0200000000000000"[2] w=2		# "" lid 0 4xNDR

    caguid=0x30
    Ca	1 "H-0000000000000030"		# "idle"

    caguid=0x200000000000000
    Ca	2 "H-0200000000000000"		# "h"
    [1]	"S-0000000000000010"[1] s=2 w=2		# lid 0 "" lid 4 4xDDR
    [2]	"S-0000000000000010"[2] w=2		# lid 0 "" lid 4 4xNDR
    "#);
    insta::assert_snapshot!(written.notes.join("\n"), @r"
    GUIDs that another node has replaced, from 0200000000000000 upwards: 1
    descriptions cut to 63 bytes: 1
    line breaks and NULs in descriptions became blanks: 1
    names that are not descriptions left out: 1
    nodes without ports given one: 1
    quotation marks in descriptions became apostrophes: 1
    speeds beyond HDR, which ibsim 0.10 takes for SDR: 1
    unknown LIDs written as 0, which means none: 2
    ");
    let back = format::read(&written.text, Format::IbnetdiscoverForIbsim).unwrap();
    assert_eq!(back.findings, []);
    assert_eq!(back.fabric.cables()[0].speed, Some(speed(Generation::Ddr)));
    assert_eq!(back.fabric.cables()[1].speed, Some(speed(Generation::Ndr)));
}
