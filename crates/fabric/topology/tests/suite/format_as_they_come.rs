//! Dumps as they occur in practice, with terminal output, invalid LIDs, and several faults.

use gingham_topology::check::check;
use gingham_topology::format::{self, Faults, Format, Parsed};
use gingham_topology::{Finding, FindingKind, Severity};

const PLAIN: &str = include_str!("../fixtures/plain.ibnetdiscover");

fn read(text: &str) -> Parsed {
    format::read(text, Format::Ibnetdiscover).expect("the dump reads")
}

fn faults(text: &str) -> Faults {
    format::read(text, Format::Ibnetdiscover).expect_err("the dump has faults")
}

fn said(findings: &[Finding]) -> Vec<(Option<u32>, FindingKind, &str)> {
    findings.iter().map(|found| (found.line, found.kind, found.text.as_str())).collect()
}

const NOISE: [&str; 7] = [
    "Script started on 2026-03-01 10:00:00+01:00 [TERM=\"xterm\" COLUMNS=\"80\"]",
    "\u{1b}]0;root@node1\u{7}[root@node1 ~]# ibnetdiscover",
    "Warning: Permanently added 'node1' (ED25519) to the list of known hosts.",
    "-E- Topology file is not specified.",
    "-W- 2 ports are DOWN",
    "-I- ---------------------------------------------------",
    "Script done on 2026-03-01 10:00:09+01:00 [COMMAND_EXIT_CODE=\"0\"]",
];

#[test]
fn noise_anywhere_in_a_dump_is_skipped_with_one_note() {
    let whole = read(PLAIN).fabric;
    let lines: Vec<&str> = PLAIN.lines().collect();
    for at in 0..=lines.len() {
        let text = [&lines[..at], &NOISE, &lines[at..]].concat().join("\n") + "\n";
        let Parsed { fabric, findings } = read(&text);
        assert_eq!(fabric, whole, "noise at line {}", at + 1);
        let [note] = &*findings else { panic!("one note: {findings:?}") };
        assert_eq!((note.kind, note.line), (FindingKind::Noise, u32::try_from(at + 1).ok()));
        assert_eq!(note.kind.severity(), Severity::Note);
    }
    let text = format!("{}\n{PLAIN}{}\n", NOISE[1], NOISE[0]);
    assert_eq!(
        said(&read(&text).findings),
        [(
            Some(1),
            FindingKind::Noise,
            "2 lines are no part of a dump, the first \
             \"\\u{1b}]0;root@node1\\u{7}[root@node1 ~]# ibnetdisc...\""
        )]
    );
}

#[test]
fn unterminated_prompt_is_noise_but_half_a_record_is_a_fault() {
    assert_eq!(read(&format!("{PLAIN}[root@node1 ~]# ")).findings[0].kind, FindingKind::Noise);
    for half in ["Swi", "switchgu", "v", "["] {
        let faults = faults(&format!("{PLAIN}{half}"));
        assert!(faults.first().message.contains("looks truncated"), "{faults}");
    }
}

#[test]
fn noise_only_text_is_one_error() {
    let faults = faults(&format!("\n{}\n", NOISE.join("\n")));
    assert_eq!(faults.total(), 1);
    insta::assert_snapshot!(faults, @r#"line 2: the file names no node; 7 lines are no part of a dump, the first "Script started on 2026-03-01 10:00:00+01..."; expected the output of `ibnetdiscover`, with records such as `Switch	36 "S-0002c90200417670"`"#);
}

#[test]
fn first_20_dump_faults_are_listed_and_the_rest_counted() {
    let damaged = PLAIN.replace("4xNDR", "4xWARP").replace("Switch\t4", "Switch\tfour");
    let faults = faults(&damaged);
    let lines: Vec<u32> = faults.named().iter().map(|fault| fault.line).collect();
    let expected: Vec<u32> = damaged
        .lines()
        .zip(1..)
        .filter_map(|(line, at)| (line.contains("WARP") || line.contains("four")).then_some(at))
        .collect();
    assert_eq!(lines, expected, "ports behind an unreadable node are no faults of their own");
    assert!(lines.len() > 2);
    let many = damaged.repeat(21);
    let counted = format::read(&many, Format::Ibnetdiscover).unwrap_err();
    assert_eq!((counted.named().len(), counted.total()), (20, 21 * lines.len()));
}

#[test]
fn ports_without_a_node_are_a_single_fault() {
    let faults = faults("[1]\t\"S-0000000000000010\"[1]\n[2]\t\"S-0000000000000010\"[2]\n");
    assert_eq!((faults.total(), faults.first().line), (1, 1));
}

#[test]
fn invalid_lids_are_findings_and_cables_are_kept() {
    let text = PLAIN
        .replace("lid 3 lmc 0", "lid 0 lmc 0")
        .replace("\" lid 3 ", "\" lid 0 ")
        .replace("lid 32 lmc 3", "lid -1 lmc 3")
        .replace("lid 40 lmc 0", "lid  lmc 0")
        .replace("lid 32 ", "lid 65535 ");
    let whole = read(PLAIN).fabric;
    let Parsed { fabric, findings } = read(&text);
    let cables = |fabric: &gingham_topology::Fabric| {
        fabric.cables().iter().map(|cable| (cable.ends, cable.speed)).collect::<Vec<_>>()
    };
    assert_eq!(cables(&fabric), cables(&whole));
    let wrong: Vec<_> = findings.iter().filter(|found| found.kind == FindingKind::NoLid).collect();
    let texts: Vec<&str> = wrong.iter().map(|found| found.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "the LID of H-00000000000000a2[1] (\"nöde b\") is below zero",
            "the LID of H-00000000000000a2[2] (\"nöde b\") is empty",
        ]
    );
    assert!(wrong.iter().all(|found| found.kind.severity() == Severity::Warning));
    let found = check(&fabric);
    let of_fabric: Vec<&str> = found
        .iter()
        .filter(|found| found.kind == FindingKind::NoLid)
        .map(|found| found.text.as_str())
        .collect();
    assert_eq!(
        of_fabric,
        [
            "LID 0 of leaf \"one\" # [3] = lid 7 4xSDR[0] is none of a port; these are 1 to 49151",
            "LID 65535 of nöde b[1] is none of a port; these are 1 to 49151",
        ]
    );
}

#[test]
fn subnet_without_lids_is_one_finding() {
    let text = "Switch 4 \"S-01\" # \"s\" base port 0 lid 0 lmc 0\n\
                [1] \"H-02\"[1] # \"h\" lid 0 4xNDR\n\
                Ca 1 \"H-02\" # \"h\"\n\
                [1](3) \"S-01\"[1] # lid 0 lmc 0 \"s\" lid 0 4xNDR\n";
    let found = check(&read(text).fabric);
    let [finding] = &*found else { panic!("one finding: {found:?}") };
    assert_eq!(finding.text, "all 2 LIDs are 0: no subnet manager has given any");
}

#[test]
fn loop_cable_is_a_warning() {
    let found = check(&read(PLAIN).fabric);
    let loops: Vec<_> = found.iter().filter(|found| found.kind == FindingKind::LoopCable).collect();
    let [only] = &*loops else { panic!("one cable: {loops:?}") };
    assert_eq!(only.text, "the cable of spine[5] comes back to its own node, at spine[6]");
    assert_eq!(only.kind.severity(), Severity::Warning);
}

#[test]
fn system_guid_of_ibdiagnet_dumps_is_accepted() {
    let record = |system: &str| {
        format!(
            "vendid=0x2c9\ndevid=0xd2f2\nsysimgguid=0x77\nswitchguid={system}\n\
             Switch\t2 \"S-0000000000000010\"\t\t# \"leaf\" enhanced port 0 lid 3 lmc 0\n"
        )
    };
    let Parsed { fabric, findings } = read(&record("0x77(10)"));
    assert_eq!(findings, []);
    let leaf = &fabric.nodes()[0];
    assert_eq!(leaf.guid.map(|guid| guid.0), Some(0x10));
    assert_eq!(leaf.identity.system_guid.map(|guid| guid.0), Some(0x77));
    for wrong in ["0x78(10)", "0x77(11)", "0x77"] {
        assert_eq!(read(&record(wrong)).findings[0].kind, FindingKind::Disagreement, "{wrong}");
    }
}

#[test]
fn latin_1_names_are_read_with_a_note() {
    let mut bytes = PLAIN.replace('ö', "o").replace("spine", "sp?ne").into_bytes();
    let marks: Vec<usize> = (1..bytes.len()).filter(|at| &bytes[at - 1..=*at] == b"p?").collect();
    for at in marks {
        bytes[at] = 0xef;
    }
    bytes.extend("# UTF-8 stays: é\n".as_bytes());
    let decoded = format::decode(&bytes).unwrap();
    let fabric = read(&decoded.text).fabric;
    assert!(fabric.find_node("spïne").is_some());
    assert!(decoded.text.ends_with("é\n"));
    let finding = decoded.finding.unwrap();
    assert_eq!((finding.kind, finding.line), (FindingKind::Encoding, Some(15)));
    assert_eq!(finding.text, "not in UTF-8, and read as Latin-1: 5 lines");
}

#[test]
fn other_cluster_files_are_identified() {
    let what = |text: &str| {
        let faults = faults(text);
        assert_eq!(faults.total(), 1, "{faults}");
        (faults.first().line, faults.first().message.clone())
    };
    let ibdm = "this is a topology file of IBDM, which names systems by their type and not their \
                switches";
    let topo = "# a cluster\nMTS2400 S-1\n   P1 -> MT23108 H-1 P1\n   P2 -4x-10G-> H-1/P2\n";
    assert_eq!(what(topo), (3, ibdm.to_owned()));
    assert_eq!(what("MTS2400 S-1\n  P2 -4x-10G-> HCA_2 H-1 P2\n"), (2, ibdm.to_owned()));
    for (text, word) in [
        ("{ SW Ports:24 SystemGUID:0002c90200417670 }\n", ".lst"),
        ("START_NODES\nNodeDesc,NumPorts\n", ".db_csv"),
        ("CA: node1 HCA-1:\n 0x1 2 1[  ] ==( 4X 10.0 Gbps Active/  LinkUp)==> 3\n", "iblinkinfo"),
        ("Unicast lids [0x0-0x1b] of switch Lid 9 guid 0x0000500000000004 (s):\n", "tables"),
        ("CA    52  1 0x3048c749cd0001 4x DDR - SW     9  4 0x8f1\n", "report of ports"),
    ] {
        assert!(what(text).1.contains(word), "{text}");
    }
}
