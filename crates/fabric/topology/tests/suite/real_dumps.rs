//! Dumps of real clusters, if available.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use gingham_topology::check::{check, summary};
use gingham_topology::format::{self, Format, Parsed};
use gingham_topology::{Fabric, FindingKind, NodeKind, Severity};
use std::path::Path;

/// `None` if real inputs are missing.
fn dump(name: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let path = root.join("../shared/data/fabrics").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: {} is not at hand", path.display());
        return None;
    };
    Some(format::decode(&bytes).expect("a dump is text").text.into_owned())
}

fn count(fabric: &Fabric, kind: NodeKind) -> usize {
    fabric.nodes().iter().filter(|node| node.kind == kind).count()
}

/// By an independent program: diameter of the switches, then switches passed and pairs of host
/// ports, summed; and hosts per leaf.
fn assert_distances(fabric: &Fabric, diameter: u32, sums: (u32, u32), leaf: (usize, usize)) {
    let summary = summary(fabric);
    assert_eq!((summary.switch_diameter, summary.parts), (Some(diameter), 1));
    let mean = f64::from(sums.0) / f64::from(sums.1);
    assert!((summary.mean_switches_passed.expect("there are hosts") - mean).abs() < 1e-9);
    assert_eq!(summary.hosts_per_leaf, Some(leaf));
}

fn warnings(fabric: &Fabric) -> Vec<FindingKind> {
    let kinds = check(fabric).into_iter().map(|finding| finding.kind);
    kinds.filter(|kind| kind.severity() == Severity::Warning).collect()
}

fn assert_reads_back(reading: &Parsed, format: Format) {
    let written = format::write(&reading.fabric, format).expect("a dump can be written");
    assert_eq!(written.notes, Vec::<String>::new(), "{format}");
    let back = format::read(&written.text, format).expect("what was written reads");
    assert_eq!(back.fabric, reading.fabric, "{format}");
    assert_eq!(back.findings, [], "{format}");
}

#[test]
fn dgx_with_542_hosts() {
    let Some(text) = dump("dgx-ndr-542.ibnetdiscover") else { return };
    assert_eq!(Format::detect(&text), Some(Format::Ibnetdiscover));
    let reading = format::read(&text, Format::Ibnetdiscover).unwrap();
    let fabric = &reading.fabric;
    assert_eq!(count(fabric, NodeKind::Switch), 40);
    assert_eq!(count(fabric, NodeKind::Host), 542);
    assert_eq!(count(fabric, NodeKind::Aggregation), 40);
    assert_eq!(fabric.cables().len(), 1_114);
    assert_distances(fabric, 3, (861_758, 293_222), (16, 19));
    let mut expected = vec![FindingKind::SwappedRails];
    expected.extend([FindingKind::MissingUplink; 12]);
    assert_eq!(warnings(fabric), expected);
    assert_eq!(reading.findings, []);
    assert_reads_back(&reading, Format::Ibnetdiscover);
}

#[test]
fn psmn_with_89_hosts() {
    let Some(text) = dump("psmn-x5-89.ibnetdiscover") else { return };
    let reading = format::read(&text, Format::Ibnetdiscover).unwrap();
    let fabric = &reading.fabric;
    assert_eq!(count(fabric, NodeKind::Switch), 11);
    assert_eq!(count(fabric, NodeKind::Host), 89);
    assert_eq!(fabric.cables().len(), 159);
    assert_distances(fabric, 4, (20_204, 7_832), (5, 24));
    assert_eq!(warnings(fabric), [], "DDR beside QDR is a mixed fabric");
    assert_eq!(reading.findings, []);
    assert_reads_back(&reading, Format::Ibnetdiscover);
}
