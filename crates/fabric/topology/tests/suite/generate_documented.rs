//! Sizes of the examples in `docs/concepts/topologies.md`, as given on the page.

use crate::generate_measure::{counts, fabric, generator};
use std::collections::BTreeSet;

const PAGE: &str = include_str!("../../../../../docs/concepts/topologies.md");

fn rows() -> Vec<(&'static str, Vec<usize>)> {
    let cells = |line: &'static str| -> Vec<&'static str> {
        line.trim_matches('|').split(" | ").map(str::trim).collect()
    };
    let row = |line| {
        let cells = cells(line);
        let numbers = cells[1..].iter().map(|cell| cell.parse().expect("a number"));
        (cells[0].trim_matches('`'), numbers.collect())
    };
    PAGE.lines().filter(|line| line.starts_with('|') && line.contains(" = {")).map(row).collect()
}

#[test]
fn documented_examples_have_the_documented_sizes() {
    for (example, documented) in rows() {
        let measured = counts(&fabric(example));
        let diameter = measured.diameter as usize;
        let sizes = [measured.switches, measured.hosts, measured.switch_cables, diameter];
        assert_eq!(sizes.as_slice(), documented, "{example}");
    }
}

#[test]
fn each_shape_has_a_documented_example_and_section() {
    let shapes: BTreeSet<&str> = rows().iter().map(|(text, _)| generator(text).name()).collect();
    let schema = schemars::schema_for!(gingham_topology::generate::Generator);
    let variants = schema.as_value()["oneOf"].as_array().unwrap();
    assert_eq!(shapes.len(), variants.len());
    for shape in shapes {
        assert!(PAGE.contains(&format!("\n## {shape}\n")), "{shape} has a section");
    }
}
