//! Hand-written files: anynet and our own format.

use gingham_kernel::{Length, Rate};
use gingham_topology::format::{self, Format};
use gingham_topology::{
    Address, Fabric, FabricBuilder, FindingKind, Generation, Guid, Identity, LinkSpeed, NodeKind,
    numbering,
};

fn ends(fabric: &Fabric) -> Vec<String> {
    let cables = fabric.cables().iter();
    cables.map(|cable| cable.ends.map(|end| fabric.port_name(end)).join(" ")).collect()
}

#[test]
fn anynet_links_may_be_listed_from_either_side() {
    let reading = format::read(include_str!("../fixtures/mesh.anynet"), Format::Anynet).unwrap();
    assert_eq!(
        ends(&reading.fabric),
        [
            "s0[1] h0[1]",
            "s0[2] h1[1]",
            "s0[3] s1[1]",
            "s0[4] s2[1]",
            "s1[2] h2[1]",
            "s1[3] s3[1]",
            "s2[2] h3[1]",
            "s2[3] s3[2]",
            "s3[3] h4[1]",
        ]
    );
    let found: Vec<_> = reading.findings.iter().map(|f| (f.line, f.kind)).collect();
    assert_eq!(
        found,
        [(Some(1), FindingKind::Assumption); 2],
        "the latency, and that it is one of two"
    );
    let written = format::write(&reading.fabric, Format::Anynet).unwrap();
    assert_eq!(written.notes, Vec::<String>::new());
    insta::assert_snapshot!(written.text, @r"
    router 0 node 0 1 node 1 1 router 1 15 router 2 1
    router 1 node 2 1 router 3 1
    router 2 node 3 1 router 3 1
    router 3 node 4 1
    ");
}

/// Two switches with GUIDs of a maker, two cables between them, a host, and properties that anynet
/// cannot express.
fn made() -> Fabric {
    let mut builder = FabricBuilder::new();
    let a = builder.add_plain(NodeKind::Switch, "a", Guid(0x2c9_0020_0417_6700), 4);
    let b = builder.add_plain(NodeKind::Switch, "b", Guid(0x2c9_0020_0417_6701), 4);
    let host = builder.add_plain(NodeKind::Host, "host", Guid(0x2c9_0020_0417_6702), 1);
    let sharp = builder.add_plain(NodeKind::Aggregation, "sharp", Guid(7), 1);
    builder.add_plain(NodeKind::Host, "idle", Guid(8), 1);
    let speed = Some(LinkSpeed::InfiniBand { width: 4, generation: Generation::Hdr });
    for (ends, length) in [
        ([(a, 1), (b, 1)], None),
        ([(a, 2), (b, 2)], Some(Length::from_mm(2_000))),
        ([(a, 4), (host, 1)], None),
        ([(b, 3), (sharp, 1)], None),
    ] {
        builder.add_cable(ends, speed, length).expect("the ports are free");
    }
    builder.build()
}

#[test]
fn anynet_notes_list_omitted_data() {
    let written = format::write(&made(), Format::Anynet).unwrap();
    assert_eq!(written.text, "router 0 router 1 node 0\nrouter 1\n");
    insta::assert_snapshot!(written.notes.join("\n"), @r"
    GUIDs left out: routers and nodes are numbered from 0 in canonical order
    aggregation nodes and routers left out: 1
    hosts without a cable left out: 1
    cables beside another of the same two switches, or of a switch to itself, left out: 1
    speeds of cables left out: 4
    lengths of cables left out: 1
    ");
}

#[test]
fn anynet_notes_omitted_port_numbers() {
    let mut builder = FabricBuilder::new();
    let s0 = builder.add_plain(NodeKind::Switch, "s0", numbering::switch_guid(0), 8);
    let h0 = builder.add_plain(NodeKind::Host, "h0", numbering::host_guid(0), 1);
    builder.add_cable([(s0, 8), (h0, 1)], None, None).unwrap();
    let written = format::write(&builder.build(), Format::Anynet).unwrap();
    assert_eq!(written.notes, ["numbers of ports left out"]);
}

/// BookSim reads numbers as indices, and ignores a router without neighbours.
#[test]
fn anynet_numbers_cabled_nodes_contiguously() {
    let mut builder = FabricBuilder::new();
    let [_, s1, s2, s3, s4] = [0, 1, 2, 3, 4].map(|n| {
        let name = numbering::switch_name(n);
        builder.add_plain(NodeKind::Switch, &name, numbering::switch_guid(n), 8)
    });
    let host = builder.add_plain(NodeKind::Host, "h7", numbering::host_guid(7), 1);
    for (one, other) in [(s1, s2), (s3, s4), (s4, host)] {
        builder.join(one, other).expect("there are free ports");
    }
    let written = format::write(&builder.build(), Format::Anynet).unwrap();
    assert_eq!(written.text, "router 0 router 1\nrouter 1\nrouter 2 router 3\nrouter 3 node 0\n");
    insta::assert_snapshot!(written.notes.join("\n"), @r"
    GUIDs left out: routers and nodes are numbered from 0 in canonical order
    switches without a cable left out: 1
    parts that no cable joins, which BookSim refuses: 2
    ");
    let mut builder = FabricBuilder::new();
    builder.add_plain(NodeKind::Switch, "alone", Guid(1), 4);
    assert!(format::write(&builder.build(), Format::Anynet).is_err());
}

#[test]
fn anynet_refuses_hosts_not_at_exactly_one_switch() {
    let mut builder = FabricBuilder::new();
    let switch = builder.add_plain(NodeKind::Switch, "s", Guid(1), 4);
    let host = builder.add_plain(NodeKind::Host, "twice", Guid(2), 2);
    builder.join(switch, host).unwrap();
    builder.join(switch, host).unwrap();
    let error = format::write(&builder.build(), Format::Anynet).unwrap_err();
    assert_eq!(error.message, "twice has several cables");

    let mut builder = FabricBuilder::new();
    builder.add_plain(NodeKind::Switch, "s", Guid(1), 4);
    let a = builder.add_plain(NodeKind::Host, "a", Guid(2), 1);
    let b = builder.add_plain(NodeKind::Host, "b", Guid(3), 1);
    builder.join(a, b).unwrap();
    let error = format::write(&builder.build(), Format::Anynet).unwrap_err();
    assert_eq!(error.message, "a is cabled to a node that is not a switch");
}

#[test]
fn handwritten_toml_may_be_abbreviated() {
    let reading = format::read(include_str!("../fixtures/small.toml"), Format::Toml).unwrap();
    assert_eq!(reading.findings, []);
    let fabric = reading.fabric;
    assert_eq!(
        ends(&fabric),
        ["s0[1] sharp[1]", "s0[2] north[1]", "s0[36] s1[2]", "s1[1] h0[1]", "s1[3] h1[2]"]
    );
    let s0 = &fabric.nodes()[0];
    let guid = Guid(0x0002_c902_0041_7670);
    assert_eq!((s0.guid, s0.ports, s0.description.as_str()), (Some(guid), 36, "spine \"zero\""));
    let identity = Identity {
        vendor: Some(0x2c9),
        device: Some(0xbd36),
        system_guid: Some(Guid(0x0002_c902_0041_7673)),
        enhanced_port0: Some(true),
    };
    assert_eq!(s0.identity, identity);
    let address = Address { guid: Some(guid), lid: Some(18), lmc: Some(0) };
    assert_eq!(s0.addresses, [(0, address)].into());
    let kinds: Vec<_> = fabric.nodes().iter().map(|n| (n.name.as_str(), n.kind, n.ports)).collect();
    assert_eq!(
        kinds[1..],
        [
            ("s1", NodeKind::Switch, 3),
            ("h0", NodeKind::Host, 1),
            ("h1", NodeKind::Host, 2),
            ("sharp", NodeKind::Aggregation, 1),
            ("north", NodeKind::Router, 1),
        ]
    );
    let trunk = &fabric.cables()[2];
    let speed = LinkSpeed::InfiniBand { width: 4, generation: Generation::Ndr };
    assert_eq!((trunk.speed, trunk.length), (Some(speed), Some(Length::from_mm(25_000))));
    let rate = LinkSpeed::Rate(Rate::from_bytes_per_second(80_000_000));
    assert_eq!(fabric.cables()[3].speed, Some(rate));
}

#[test]
fn written_toml_matches_the_snapshot() {
    insta::assert_snapshot!(format::write(&made(), Format::Toml).unwrap().text, @r#"
    # A fabric of gingham.

    [[switch]]
    name = "a"
    guid = "02c9002004176700"
    ports = 4

    [[switch]]
    name = "b"
    guid = "02c9002004176701"
    ports = 4

    [[host]]
    name = "idle"
    guid = "0000000000000008"
    ports = 1

    [[host]]
    name = "host"
    guid = "02c9002004176702"
    ports = 1

    [[aggregation]]
    name = "sharp"
    guid = "0000000000000007"
    ports = 1

    [[cable]]
    ends = ["a[1]", "b[1]"]
    speed = "4xHDR"

    [[cable]]
    ends = ["a[2]", "b[2]"]
    speed = "4xHDR"
    length = "2 m"

    [[cable]]
    ends = ["a[4]", "host[1]"]
    speed = "4xHDR"

    [[cable]]
    ends = ["b[3]", "sharp[1]"]
    speed = "4xHDR"
    "#);
}
