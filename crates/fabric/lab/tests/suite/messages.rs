//! Error messages about presets and long cycles.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{LabError, compile};
use std::path::Path;

/// Returns the error of a preset on line 2 and a key on line 3.
fn refused(preset: &str, key: &str, length: &str) -> LabError {
    let text = format!(
        r#"topology.generate.torus = {{ dimensions = [4, 4], hosts_per_switch = 1 }}
network.preset = "{preset}"
{key}
routing.algorithm = "up-down"
stop.time = "60 us"
traffic = [{{ load = 0.1, length = {{ fixed = "{length}" }} }}]
"#
    );
    let source = ScenarioSource::parse("net.toml", &text, Path::new("."), &Overrides::default());
    let refused = source.map_err(Into::into).and_then(|source| compile(&source, true));
    refused.err().unwrap_or_else(|| panic!("{preset} takes {key}"))
}

/// Preset, contradicting key, message.
const CONTRADICTIONS: [(&str, &str, &str); 12] = [
    (
        "booksim-iq",
        "network.lanes.crossbar = \"full\"",
        "network.lanes.output_depth is 0 (of the preset booksim-iq), and network.lanes.crossbar is \"full\". Say \
         network.lanes.output_depth = 1 or more, or network.lanes.crossbar = \"multiplexed\"",
    ),
    (
        "booksim-iq",
        "network.lanes.output_speedup = 2",
        "and network.lanes.output_speedup is more than 1. Say network.lanes.output_depth = 1 or more, or \
         network.lanes.output_speedup = 1",
    ),
    (
        "peh-dally-2001",
        "network.lanes.link_output = \"first-come-first-served\"",
        "is 0 (of the preset peh-dally-2001), and network.lanes.link_output chooses",
    ),
    (
        "booksim-iq",
        "network.lanes.crossbar_input = \"first-come-first-served\"",
        "network.lanes.allocator (of the preset booksim-iq) takes inputs, outputs and lanes in turn, flit by flit, and \
         network.lanes.crossbar_input chooses otherwise: say network.lanes.allocator = \"maximal\", or leave \
         network.lanes.crossbar_input out",
    ),
    (
        "caminos-basic",
        "network.lanes.output_depth = 0",
        "network.lanes.output_depth is 0, and network.lanes.crossbar is \"full\" (of the preset caminos-basic). Say",
    ),
    (
        "caminos-basic",
        "network.lanes.input_speedup = 2",
        "a full crossbar (of the preset caminos-basic), so that network.lanes.input_speedup has nothing to match: say \
         network.lanes.input_speedup = 1, or network.lanes.crossbar = \"multiplexed\"",
    ),
    (
        "caminos-basic",
        "network.lanes.crossbar_output = \"round-robin\"",
        "a full crossbar (of the preset caminos-basic), so that nothing chooses there",
    ),
    (
        "peh-dally-2001",
        "network.lanes.depth = [1, 2, 3]",
        "this one has 3, while network.lanes.count is 2 (of the preset peh-dally-2001): make",
    ),
    (
        "santos-4x",
        "network.lanes.datelines = true",
        "dateline classes, and class `all` has but one: give it another, or say network.lanes.datelines = false",
    ),
    (
        "santos-4x",
        "network.link_rate = \"1 MB/s\"",
        "network.packets.forwarding_delay is 40 ns (of the preset santos-4x): raise it",
    ),
    (
        "roce-100",
        "network.packets.credit_delay = \"1 ns\"",
        "flow_control = \"pfc\" (of the preset roce-100) there are none: leave it out, or say \
         network.packets.flow_control = \"credits\"",
    ),
    (
        "roce-100",
        "network.packets.credit_loss = { percent = 1 }",
        "flow_control = \"pfc\" (of the preset roce-100): leave it out, or say",
    ),
];

/// The error gives the origin of the other value and the remedy.
#[test]
fn preset_contradiction_is_reported_at_the_written_key() {
    for (preset, key, excerpt) in CONTRADICTIONS {
        let name = key.split(" = ").next().unwrap();
        let message = refused(preset, key, "64 B").to_string();
        assert!(message.starts_with("net.toml:3:"), "{key}: {message}");
        assert!(message.contains(&format!(" in `{name}`: ")), "{key}: {message}");
        assert!(message.contains(excerpt), "{key}: {message}");
    }
}

#[test]
fn self_contradiction_error_names_no_preset() {
    let keys = "network.lanes = { output_depth = 0, crossbar = \"full\" }";
    let message = refused("yum-1600", keys, "64 B").to_string();
    assert!(message.contains("in `network.lanes.output_depth`"), "{message}");
    assert!(!message.contains("of the preset"), "{message}");
}

#[test]
fn overlong_packet_is_reported_at_its_length_key() {
    let message = refused("caminos-basic", "seed = 2", "4 KiB").to_string();
    assert!(message.starts_with("net.toml:6:"), "{message}");
    assert!(message.contains("in `traffic[0].length`"), "{message}");
    assert!(message.contains("holds 64 flits (of the preset caminos-basic)"), "{message}");
}

#[test]
fn input_speedup_above_the_lane_count_is_refused() {
    let keys = "network.lanes = { count = 1, input_speedup = 2 }";
    let message = refused("yum-1600", keys, "64 B").to_string();
    let excerpt = "in `network.lanes.input_speedup`: channels have one lane, so that a port has one way into the crossbar, not 2: \
                leave the key out, or give channels more lanes (network.lanes.count)";
    assert!(message.ends_with(excerpt), "{message}");
}

#[test]
fn long_cycle_is_reported_in_full() {
    let text = r#"
        topology.generate.ring = { switches = 40, hosts_per_switch = 1 }
        routing.algorithm = "shortest-path"
        network.preset = "yum-1600"
        stop.time = "60 us"
        traffic = [{ load = 0.1, length = { fixed = "64 B" } }]
        "#;
    let source = ScenarioSource::parse("net.toml", text, Path::new("."), &Overrides::default());
    let Err(LabError::Deadlock(report)) = compile(&source.unwrap(), false) else {
        panic!("a ring can deadlock");
    };
    assert_eq!(report.channels.len(), 40);
    let excerpt = report.to_string();
    let lines: Vec<&str> = excerpt.lines().collect();
    assert_eq!(lines.len(), 1 + 40 + 1 + 1, "{excerpt}");
    assert!(lines[41].ends_with("closes the cycle"), "{excerpt}");
}
