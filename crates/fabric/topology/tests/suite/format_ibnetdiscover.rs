//! Dumps as printed by `ibnetdiscover`, in every form, and invalid ones.

use gingham_topology::format::{self, Format, FormatError, Parsed};
use gingham_topology::{Address, Fabric, FindingKind, Guid, Identity, Node, NodeKind};

const PLAIN: &str = include_str!("../fixtures/plain.ibnetdiscover");
const CHASSIS: &str = include_str!("../fixtures/chassis.ibnetdiscover");
const BROKEN: &str = include_str!("../fixtures/broken.ibnetdiscover");

fn read(text: &str) -> Parsed {
    format::read(text, Format::Ibnetdiscover).expect("the dump reads")
}

fn error(text: &str) -> FormatError {
    format::read(text, Format::Ibnetdiscover).expect_err(text).first().clone()
}

fn node<'a>(fabric: &'a Fabric, name: &str) -> &'a Node {
    fabric.node(fabric.find_node(name).unwrap_or_else(|| panic!("no node {name}")))
}

/// Form `a[1] b[2] speed`.
fn cables(fabric: &Fabric) -> Vec<String> {
    let show = |cable: &gingham_topology::Cable| {
        let [a, b] = cable.ends.map(|end| fabric.port_name(end));
        let speed = cable.speed.map_or("?".to_owned(), |speed| speed.to_string());
        format!("{a} {b} {speed}")
    };
    fabric.cables().iter().map(show).collect()
}

fn address(guid: Option<u64>, lid: u16, lmc: u8) -> Address {
    Address { guid: guid.map(Guid), lid: Some(lid), lmc: Some(lmc) }
}

#[test]
fn plain_dump_gives_nodes_cables_and_addresses() {
    let Parsed { fabric, findings } = read(PLAIN);
    assert_eq!(findings, []);
    let leaf = "leaf \"one\" # [3] = lid 7 4xSDR";
    let names: Vec<_> = fabric.nodes().iter().map(|n| (n.kind, n.name.as_str())).collect();
    assert_eq!(
        names,
        [
            (NodeKind::Switch, leaf),
            (NodeKind::Switch, "spine"),
            (NodeKind::Host, "node \"a\" lid 9"),
            (NodeKind::Host, "nöde b"),
            (NodeKind::Aggregation, "Mellanox Technologies Aggregation Node"),
            (NodeKind::Router, "to the north"),
        ]
    );
    assert_eq!(
        cables(&fabric),
        [
            &format!("{leaf}[1] node \"a\" lid 9[1] 4xNDR"),
            &format!("{leaf}[2] nöde b[1] 12xFDR10"),
            &format!("{leaf}[3] spine[1] ?"),
            &format!("{leaf}[4] Mellanox Technologies Aggregation Node[1] ?"),
            "spine[2] to the north[1] 2xHDR",
            "spine[5] spine[6] 8xEDR",
            "node \"a\" lid 9[2] nöde b[2] 4xSDR",
        ]
    );
    let leaf = node(&fabric, leaf);
    let identity = Identity {
        vendor: Some(0x2c9),
        device: Some(0xbd36),
        system_guid: Some(Guid(0x13)),
        enhanced_port0: Some(true),
    };
    assert_eq!((leaf.guid, leaf.ports, &leaf.identity), (Some(Guid(0x10)), 4, &identity));
    assert_eq!(leaf.addresses, [(0, address(Some(0x1010), 3, 0))].into());
    let spine = node(&fabric, "spine");
    assert_eq!((spine.identity.system_guid, spine.identity.enhanced_port0), (None, Some(false)));
    assert_eq!(spine.addresses, [(0, address(None, 4, 1))].into());
    let host = node(&fabric, "nöde b");
    assert_eq!(host.identity, Identity::default());
    let ports = [(1, address(Some(0xb2), 32, 3)), (2, address(Some(0xb5), 40, 0))];
    assert_eq!(host.addresses, ports.into());
}

#[test]
fn chassis_grouping_repeats_switches_without_findings() {
    let Parsed { fabric, findings } = read(CHASSIS);
    assert_eq!(findings, []);
    assert_eq!(
        cables(&fabric),
        [
            "ISR9024 spine[1] ISR9024 line[13] 4xDDR",
            "ISR9024 line[1] host one[1] 4xDDR",
            "ISR9024 line[2] host two[1] 4xDDR",
        ]
    );
    let line = node(&fabric, "ISR9024 line");
    assert_eq!((line.ports, line.identity.system_guid), (24, Some(Guid(0x30))));
}

#[test]
fn contradictions_are_findings_and_the_first_mention_wins() {
    let Parsed { fabric, findings } = read(BROKEN);
    let found: Vec<_> = findings.iter().map(|f| (f.line.unwrap(), f.kind)).collect();
    assert_eq!(
        found,
        [
            (4, FindingKind::Disagreement),   // port GUID a1 here, a9 at home
            (5, FindingKind::OneSidedCable),  // h2 lists no port
            (7, FindingKind::Disagreement),   // port 6 of a switch with 4 ports
            (8, FindingKind::Disagreement),   // a port cabled to itself
            (9, FindingKind::Disagreement),   // port 0
            (13, FindingKind::Disagreement),  // GUID 21 above id 20
            (14, FindingKind::Disagreement),  // LID 99 here, 1 at home
            (14, FindingKind::Disagreement),  // HDR here, NDR at the other end
            (15, FindingKind::Disagreement),  // port 5 here, 6 at the other end
            (17, FindingKind::UndefinedNode), // "never defined"
            (17, FindingKind::Ignored),       // "planarized", twice
            (31, FindingKind::DuplicateGuid), // another record of h1
            (35, FindingKind::Ignored),       // the same record of h2
            (37, FindingKind::UndefinedNode), // an identity without its node
            (39, FindingKind::UndefinedNode), // and another at the end of the file
        ]
    );
    assert_eq!(
        cables(&fabric),
        [
            "s0[1] h1[1] 4xNDR",
            "s0[2] h2[1] 4xNDR",
            "s0[3] s1[1] 4xNDR",
            "s0[6] s1[2] 4xNDR",
            "s1[3] never defined[1] 4xNDR",
            "s1[4] never defined[2] 4xNDR",
        ]
    );
    let undefined = node(&fabric, "never defined");
    assert_eq!((undefined.kind, undefined.ports), (NodeKind::Switch, 2));
    assert_eq!(undefined.guid, Some(Guid(0x30)));
    assert_eq!(undefined.addresses[&0].lid, Some(3));
    assert_eq!(node(&fabric, "s0").ports, 6, "as many as cables use");
    let far = node(&fabric, "h2").addresses[&1];
    assert_eq!((far.guid, far.lid), (Some(Guid(0xa2)), Some(12)), "told by the other end");
}

#[test]
fn finding_texts_match_the_snapshot() {
    let text = |line: u32| {
        let findings = read(BROKEN).findings;
        findings.iter().find(|f| f.line == Some(line)).unwrap().to_string()
    };
    insta::assert_snapshot!([5, 15, 17].map(text).join("\n"), @r#"
    line 5: one-sided-cable: S-0000000000000010[2] ("s0") goes to H-00000000000000a2[1] ("h2"), which does not list the cable
    line 15: disagreement: S-0000000000000020[2] ("s1") is listed as joined to S-0000000000000010[5] ("s0"), but line 7 joins S-0000000000000010[6] ("s0") and S-0000000000000020[2] ("s1"); that line is kept
    line 17: undefined-node: S-0000000000000030 ("never defined") has no record; it is known from links only
    "#);
}

#[test]
fn truncation_inside_a_line_is_an_error_or_a_finding() {
    let lines = PLAIN.lines().count();
    for end in (1..PLAIN.len()).filter(|end| PLAIN.is_char_boundary(*end)) {
        let cut = &PLAIN[..end];
        let is_whole = end + 1 == PLAIN.len();
        match format::read(cut, Format::Ibnetdiscover).map_err(|faults| faults.first().clone()) {
            Ok(_) if !cut.contains("\n[") => {} // one switch without cables is a fabric
            Ok(reading) => {
                assert_eq!(reading.findings.is_empty(), is_whole, "nothing is said of {cut:?}");
            }
            Err(error) if error.line == 0 => {
                assert!(!cut.contains("\nSwitch"), "only a text without a node lacks a line");
            }
            Err(error) => {
                let line = usize::try_from(error.line).unwrap();
                assert_eq!(line, cut.split('\n').count(), "the last line is to blame");
                assert!(line <= lines && error.message.contains("looks truncated"), "{error}");
            }
        }
    }
}

#[test]
fn truncation_between_records_leaves_undefined_nodes() {
    let end = PLAIN.find("\ncaguid=0xa2").unwrap();
    let findings = read(&PLAIN[..end]).findings;
    let kinds: Vec<_> = findings.iter().map(|f| (f.line, f.kind)).collect();
    let undefined = |line| (Some(line), FindingKind::UndefinedNode);
    assert_eq!(kinds, [undefined(14), undefined(16), undefined(23)]);
}

#[test]
fn crlf_and_byte_order_mark_are_accepted_with_a_note() {
    for (text, note) in [
        (PLAIN.replace('\n', "\r\n"), "the end of a line as Windows has it, 46 times"),
        (format!("\u{feff}{PLAIN}"), "a byte order mark"),
    ] {
        let Parsed { fabric, findings } = read(&text);
        assert_eq!(fabric, read(PLAIN).fabric);
        let [finding] = &*findings else { panic!("one note: {findings:?}") };
        assert_eq!((finding.line, finding.text.as_str()), (Some(1), note));
        assert_eq!(finding.kind, FindingKind::Ignored);
    }
}

#[test]
fn unreadable_line_error_has_its_line() {
    let text = PLAIN.replace("4xSDR\n", "4xWARP\n");
    let error = error(&text);
    assert_eq!(error.line, 33, "the second port of the first host");
    assert_eq!(error.message, "cannot read \"4xWARP\"");
    assert!(error.expected.contains("SDR, DDR, QDR"), "{error}");
}

#[test]
fn node_list_is_not_mistaken_for_a_dump() {
    let error = error("Switch\t : 0x0008f10400411a08 ports 24 devid 0x5a30 vendid 0x8f1 \"x\"\n");
    assert_eq!(error.line, 1);
    assert!(error.expected.contains("without -l"), "{error}");
}

/// A switch of eight ports with a host on each of the first `hosts`; only `listed` hosts have
/// records.
fn star(hosts: usize, listed: usize) -> String {
    let port = |n: usize| format!("[{n}]\t\"H-{n:016x}\"[1]\t\t# \"h{n}\" lid {n} 4xQDR\n");
    let host = |n: usize| {
        format!(
            "\ncaguid=0x{n:x}\nCa\t1 \"H-{n:016x}\"\t\t# \"h{n}\"\n[1](0)\t\"S-00000000000000ff\"[{n}]\t\t# lid {n} lmc 0 \"s\" lid 9 4xQDR\n"
        )
    };
    let switch =
        "switchguid=0xff\nSwitch\t8 \"S-00000000000000ff\"\t\t# \"s\" base port 0 lid 9 lmc 0\n";
    let ports: String = (1..=hosts).map(port).collect();
    let records: String = (1..=listed).map(host).collect();
    format!("{switch}{ports}{records}")
}

#[test]
fn many_missing_cable_ends_are_one_finding() {
    assert_eq!(read(&star(8, 8)).findings, []);
    assert_eq!(read(&star(8, 5)).findings.len(), 3);
    let Parsed { fabric, findings } = read(&star(8, 2));
    assert_eq!((fabric.cables().len(), fabric.nodes().len()), (8, 9));
    let [finding] = &*findings else { panic!("one message: {findings:?}") };
    // Two lines of the switch, eight ports, and two records of four lines after an empty one.
    assert_eq!((finding.line, finding.kind), (Some(10 + 2 * 4), FindingKind::UndefinedNode));
    for part in [
        "6 ends of cables are missing: 6 nodes have no record",
        "H-0000000000000003 (\"h3\"), H-0000000000000004 (\"h4\"), H-0000000000000005 (\"h5\") and 3 more",
        "take it again with `ibnetdiscover`",
    ] {
        assert!(finding.text.contains(part), "{}", finding.text);
    }
}
