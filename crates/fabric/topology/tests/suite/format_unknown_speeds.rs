//! Half-known speeds are kept, counted and written.

use gingham_topology::check::{check, summary};
use gingham_topology::format::{self, Format, Parsed};
use gingham_topology::{Fabric, FindingKind, PartialSpeed, Severity};

const DUMP: &str = include_str!("../fixtures/unknown-speeds.ibnetdiscover");

fn read(text: &str) -> Parsed {
    format::read(text, Format::Ibnetdiscover).expect("the dump reads")
}

fn speeds(fabric: &Fabric) -> Vec<Option<String>> {
    fabric.cables().iter().map(gingham_topology::Cable::reported_speed).collect()
}

fn owned(words: [&str; 2]) -> Vec<Option<String>> {
    words.map(|word| Some(word.to_owned())).into()
}

#[test]
fn partially_unknown_speed_keeps_its_width() {
    let Parsed { fabric, findings } = read(DUMP);
    assert_eq!(findings, []);
    assert_eq!(speeds(&fabric), owned(["4xHDR", "2x???"]));
    assert_eq!(
        (fabric.cables()[1].speed, fabric.cables()[1].partial_speed),
        (None, Some(PartialSpeed::Width(2)))
    );
    let summary = summary(&fabric);
    assert_eq!(summary.cables_by_speed[&None], 1);
    assert_eq!(summary.cables_by_partial_speed, [(PartialSpeed::Width(2), 1)].into());
    let found = check(&fabric);
    let [finding] = &*found else { panic!("one finding: {found:?}") };
    assert_eq!((finding.kind, finding.kind.name()), (FindingKind::UnknownSpeed, "unknown-speed"));
    assert_eq!(finding.kind.severity(), Severity::Note);
    assert!(finding.text.contains("1 of 2 cables") && finding.text.contains("2x???"));
}

#[test]
fn fabric_without_any_speed_is_no_finding() {
    let text = DUMP.replace("4xHDR", "?????").replace("2x???", "?????");
    let fabric = read(&text).fabric;
    assert!(check(&fabric).iter().all(|found| found.kind != FindingKind::UnknownSpeed));
}

#[test]
fn other_cable_end_completes_or_contradicts_a_speed() {
    let ends = |first: &str, second: &str| {
        let (before, after) = DUMP.rsplit_once("2x???").unwrap();
        read(&format!("{}{second}{after}", before.replace("2x???", first)))
    };
    for [first, second] in [["2x???", "2xNDR"], ["2xNDR", "??NDR"], ["??NDR", "2x???"]] {
        let Parsed { fabric, findings } = ends(first, second);
        assert_eq!((speeds(&fabric), findings), (owned(["4xHDR", "2xNDR"]), vec![]), "{first}");
    }
    for ([first, second], kept) in [
        (["2x???", "4xNDR"], "4xNDR"),
        (["4xNDR", "2x???"], "4xNDR"),
        (["2x???", "4x???"], "2x???"),
    ] {
        let Parsed { fabric, findings } = ends(first, second);
        assert_eq!(speeds(&fabric), owned(["4xHDR", kept]), "{first} {second}");
        assert_eq!(
            findings.iter().map(|found| found.kind).collect::<Vec<_>>(),
            [FindingKind::Disagreement]
        );
    }
}

#[test]
fn partial_speed_is_written_if_the_format_supports_it() {
    for half in ["2x???", "??NDR"] {
        let fabric = read(&DUMP.replace("2x???", half)).fabric;
        for format in [Format::Toml, Format::Ibnetdiscover] {
            let written = format::write(&fabric, format).unwrap();
            assert_eq!(written.notes, Vec::<String>::new(), "{format}");
            let back = format::read(&written.text, format).unwrap().fabric;
            assert_eq!(back, fabric, "{format}");
        }
        let written = format::write(&fabric, Format::IbnetdiscoverForIbsim).unwrap();
        assert!(written.notes.iter().any(|note| note.contains("known in half")), "{written:?}");
    }
}
