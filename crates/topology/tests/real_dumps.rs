//! Dumps of real clusters, where they are at hand. Nothing is covered by these alone.

#![expect(clippy::print_stderr, reason = "a skipped test says so")]

use gingham_topology::format::{self, Format, Reading};
use gingham_topology::{Fabric, NodeKind};
use std::path::Path;

/// The dump `name`, or `None` with a message where the folder of real inputs is missing.
fn dump(name: &str) -> Option<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let path = root.join("../shared/data/fabrics").join(name);
    let Ok(bytes) = std::fs::read(&path) else {
        eprintln!("skipped: {} is not at hand", path.display());
        return None;
    };
    Some(format::decode(&bytes).unwrap().to_owned())
}

fn count(fabric: &Fabric, kind: NodeKind) -> usize {
    fabric.nodes().iter().filter(|node| node.kind == kind).count()
}

/// Reading what was written of `reading` gives the same fabric.
fn assert_reads_back(reading: &Reading, format: Format) {
    let written = format::write(&reading.fabric, format).unwrap();
    assert_eq!(written.notes, Vec::<String>::new(), "{format}");
    let back = format::read(&written.text, format).unwrap();
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
    assert_eq!(reading.findings, []);
    assert_reads_back(&reading, Format::Ibnetdiscover);
}
