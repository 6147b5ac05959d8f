//! Routers of the literature, equal in both engines.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, compile};
use gingham_net::{Delivery, SteppedBy};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// A backlogged host, with cables of one cycle and packets of `flits` flits.
fn two_hosts(switches: u64, flits: u64, lanes: &str) -> String {
    format!(
        r#"
        topology.generate.two-hosts.switches = {switches}
        network = {{ preset = "yum-1600", lanes = {{ {lanes} }} }}
        measure.messages = "all"
        stop = {{ time = "400 us", warm_up = "0 ps" }}
        [[traffic]]
        hosts = ["h0"]
        arrivals = "backlogged"
        length = {{ fixed = "{} B" }}
        "#,
        16 * flits
    )
}

fn compiled(text: &str) -> Compiled {
    let source = ScenarioSource::parse("r.toml", text, Path::new("."), &Overrides::default());
    compile(&source.unwrap(), false).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the deliveries, equal under every stepper.
fn deliveries(text: &str) -> Vec<Delivery> {
    let plan = compiled(text).plan;
    let mut oracle = gingham_oracle::start(Arc::clone(&plan));
    oracle.advance(u64::MAX);
    let found = oracle.take_messages();
    for by in [SteppedBy::Ports, SteppedBy::Columns] {
        let mut engine = gingham_engine::start_by(Arc::clone(&plan), by).unwrap();
        engine.advance(u64::MAX);
        engine.assert_invariants();
        assert_eq!(engine.take_messages(), found, "{by:?}");
    }
    found
}

/// Returns the distance of packets in cycles.
fn period(text: &str) -> u64 {
    let found = deliveries(text);
    let at = |index: usize| found[index].delivered.as_ps();
    let last = found.len() - 1;
    assert!(last > 20, "{last} packets");
    assert_eq!((at(last) - at(10)) % (last as u64 - 10), 0, "packets follow each other evenly");
    (at(last) - at(10)) / (last as u64 - 10) / 80_000
}

/// `docs/concepts/routers.md`: one lane, packets of 6 flits, D = 1, R = 1, P = 2.
#[test]
fn single_lane_packet_period_matches_the_documentation() {
    let of = |switches, keys: &str| {
        period(&two_hosts(switches, 6, &format!("count = 1, pipeline_cycles = 2{keys}")))
    };
    assert_eq!(of(2, ", depth = 15"), 6 + 1 + 1);
    assert_eq!(of(2, ", depth = 15, reallocation = \"after-tail\""), 6 + 1 + 1);
    // R + P + D + C = 1 + 2 + 1 + 1.
    let tail_credit = ", depth = 15, reallocation = \"tail-credit\"";
    assert_eq!(of(2, tail_credit), 6 + 5 + 5);
    assert_eq!(of(1, tail_credit), 6 + 3 + 5);
    assert_eq!(of(2, &format!("{tail_credit}, credit_delay = 9")), 6 + 5 + 13);
    // A packet that fills its lane waits for all credits of the previous one.
    assert_eq!(of(2, ", depth = 6, forwarding = \"virtual-cut-through\""), 6 + 5 + 5);
}

/// A lane of four flits carries four in `D + P + C + 3` cycles, and in one more if flits take their
/// credits as they cross.
#[test]
fn lane_carries_its_depth_per_turnaround() {
    for (keys, turnaround, share) in [
        ("", 5, "(at most 80 %)"),
        (", credit_delay = 0", 4, ""),
        (", credit_delay = 12", 1 + 12 + 3, "(at most 25 %)"),
        // 4 / 21 = .1905.
        (", credit_delay = 12, pipeline_cycles = 5", 1 + 5 + 12 + 3, "(at most 19.1 %)"),
        // 4 / 17 = .2353 between switches, 4 / 16 from hosts.
        (
            ", credit_delay = 12, output_depth = 0",
            1 + 12 + 4,
            "(at most 25 %, on 2 of these channels at most 23.6 %, such as s0",
        ),
    ] {
        // Packets longer than the run would not be delivered: 800 flits are 200 turnarounds.
        let text = two_hosts(2, 800, &format!("count = 1, depth = 4{keys}"));
        let text = text.replace("400 us", "2 ms");
        let enough = format!("network.lanes.depth = {turnaround}");
        let notes = compiled(&text).notes;
        let is_noted = |note: &String| note.contains(share) && note.contains(&enough);
        assert_eq!(notes.iter().any(is_noted), turnaround > 4, "{keys}: {notes:?}");
        assert_eq!(notes.is_empty(), turnaround == 4, "{keys}: {notes:?}");
        let found = deliveries(&text);
        let first = found[0].delivered.as_ps() - found[0].head_arrived.as_ps();
        assert_eq!(first, (turnaround * 199 + 3) * 80_000, "{keys}");
    }
}

/// Cables of 1 km and 10 m, 62 cycles and one: round trips of 127 and 5 flits.
#[test]
fn lane_rate_notes_cover_short_and_long_cables() {
    let notes_of = |lanes: &str| {
        let text = format!(
            r#"
            topology.inline = """
            switch = [{{ name = "s0" }}, {{ name = "s1" }}]
            host = [{{ name = "h0" }}, {{ name = "h1" }}, {{ name = "h2" }}]
            cable = [
                {{ ends = ["s0", "h0"], length = "10 m" }},
                {{ ends = ["s0", "h1"], length = "10 m" }},
                {{ ends = ["s0", "s1"], length = "1000 m" }},
                {{ ends = ["s1", "h2"], length = "10 m" }},
            ]
            """
            network = {{ preset = "yum-1600", lanes = {{ {lanes} }} }}
            stop = {{ time = "400 us", warm_up = "0 ps" }}
            traffic = [{{ load = 0.1, length.fixed = "64 B" }}]
            "#
        );
        compiled(&text).notes.join("\n")
    };
    let assert_noted = |lanes: &str, of: &str| {
        let found = notes_of(lanes);
        assert!(found.contains(of), "{lanes}: {found}");
    };
    // 4 / 127 = .0315; 5 / 127 = .0394.
    assert_noted("count = 1, depth = 4", "on 5 of 5 channels a lane of 4 flits is shallower");
    assert_noted(
        "count = 1, depth = 4",
        "(at most 80 %, on 2 of these channels at most 3.2 %, such as s0",
    );
    assert_noted("count = 1, depth = 5", "on 2 of 5 channels a lane of 5 flits is shallower");
    assert_noted("count = 1, depth = 5", "less than the full rate (at most 4 %): ");
    // 8 / 127 = .0630.
    let two = "2 lanes together may carry all of it, on 2 of these channels at most 6.3 %";
    assert_noted("count = 2, depth = 4", two);
    // 126 / 127 = .9921.
    assert_noted("count = 1, depth = 126", "less than the full rate (at most 99.3 %): ");
    assert_noted(
        "count = 2, depth = 63",
        "(at most 49.7 %; 2 lanes together may carry at most 99.3 %)",
    );
    assert_noted("count = 2, depth = 64", "(at most 50.4 %; 2 lanes together may carry all of it)");
    assert_eq!(notes_of("count = 1, depth = 127"), "");
    // A packet needs space in addition to the round trip.
    let cut = "forwarding = \"virtual-cut-through\"";
    assert_noted(
        &format!("count = 1, depth = 127, {cut}"),
        "on 2 of 5 channels a lane of 127 flits with virtual cut-through has no room for a packet of 4 beside its round \
         trip, and by itself carries less than the full rate: a lane carries it within a packet with network.lanes.depth = 132",
    );
}

/// A tail crosses in a tick without any transmission, and no credit arrives in the next: the lane
/// is granted in that next tick, although the engine has no event then.
#[test]
fn lane_is_granted_after_the_tail_in_an_idle_tick() {
    let text = r#"
        topology.inline = """
        switch = [{ name = "s0" }, { name = "s1" }]
        host = [{ name = "h0" }, { name = "h1" }, { name = "h2" }]
        cable = [
            { ends = ["s0", "h0"], length = "1 m" },
            { ends = ["s0", "h1"], length = "1 m" },
            { ends = ["s0", "s1"], length = "200 m" },
            { ends = ["s1", "h2"], length = "1 m" },
        ]
        """
        network.preset = "yum-1600"
        network.lanes = { count = 1, depth = 2, output_depth = 4, reallocation = "after-tail" }
        measure.messages = "all"
        stop = { time = "100 us", warm_up = "0 ps" }
        [[traffic]]
        hosts = ["h0", "h1"]
        destinations = { host = "h2" }
        arrivals = "backlogged"
        length = { fixed = "48 B" }
        "#;
    assert!(deliveries(text).len() > 20);
}

/// Returns the flits on the channels, equal under each stepper.
fn carried(lanes: &str) -> Vec<u64> {
    let text = format!(
        r#"
        topology.generate.mesh = {{ dimensions = [4, 4], hosts_per_switch = 1 }}
        routing.algorithm = "dimension-order"
        network = {{ preset = "yum-1600", cable_length = "0 m", lanes = {{ depth = 8, {lanes} }} }}
        traffic = [{{ load = 1.0, length.fixed = "320 B" }}]
        stop = {{ time = "80 us", warm_up = "0 ps" }}
        "#
    );
    let source = ScenarioSource::parse("r.toml", &text, Path::new("."), &Overrides::default());
    let plan = compile(&source.unwrap(), false).unwrap_or_else(|error| panic!("{error}")).plan;
    let by = |by| {
        let mut engine = gingham_engine::start_by(Arc::clone(&plan), by).ok()?;
        engine.advance(u64::MAX);
        Some(engine.channel_counts().iter().map(|count| count.data_flits).collect())
    };
    let found = by(SteppedBy::Ports).unwrap();
    assert_eq!(by(SteppedBy::Columns).as_ref().unwrap_or(&found), &found, "{lanes}");
    found
}

/// `docs/concepts/routers.md`: with one lane no input requests two outputs, and no two inputs hold
/// lanes of one output.
#[test]
fn single_lane_results_ignore_allocator_and_crossbar() {
    let default = carried("count = 1");
    assert!(default.iter().sum::<u64>() > 5_000);
    for keys in [
        "allocator = \"islip\"",
        "vc_allocator = \"islip\"",
        "allocator = { islip = { iterations = 2 } }",
        "allocator = \"separable-input-first\"",
        "allocator = \"separable-output-first\"",
        "crossbar = \"full\"",
        "injection = \"one-at-a-time\"",
    ] {
        assert_eq!(carried(&format!("count = 1, {keys}")), default, "{keys}");
        assert_ne!(carried(&format!("count = 4, {keys}")), carried("count = 4"), "{keys}");
    }
}

#[test]
fn speedups_equal_to_lane_count_form_a_full_crossbar() {
    let full = carried("count = 4, crossbar = \"full\"");
    assert_eq!(carried("count = 4, input_speedup = 4, output_speedup = 4"), full);
    for one_side in ["input_speedup", "output_speedup"] {
        assert_ne!(carried(&format!("count = 4, {one_side} = 4")), full, "{one_side}");
    }
}

const WRONG: &[&str] = &[
    "credit_delay = -1",
    "credit_delay = 65536",
    "credit_delay = \"2 ns\"",
    "reallocation = \"credit\"",
    "reallocation = \"tail-credit\", forwarding = \"virtual-cut-through\"",
    "allocator = \"wavefront\"",
    "allocator = { islip = { iterations = 0 } }",
    "allocator = { islip = { iterations = -1 } }",
    "allocator = { islip = { iterations = 1001 } }",
    "allocator = { islip = { rounds = 2 } }",
    "allocator = { separable-input-first = { iterations = 2 } }",
    "allocator = \"islip\", crossbar = \"full\"",
    "allocator = \"islip\", crossbar_input = \"first-come-first-served\"",
    "vc_allocator = \"separable-input-first\"",
    "vc_allocator = { islip = { iterations = 0 } }",
    "vc_allocator = { islip = { iterations = 1001 } }",
    "vc_allocator = { islip = { rounds = 2 } }",
    "input_speedup = 0",
    "input_speedup = 3, count = 2",
    "output_speedup = 2, crossbar_output = \"round-robin\"",
    "output_depth = -1",
    "output_depth = [0, 4], count = 2",
    "output_depth = 0, crossbar = \"full\"",
    "output_depth = 0, output_speedup = 2",
];

#[test]
fn invalid_router_settings_are_refused() {
    let slow = r#"
topology.inline = """
switch = [{ name = "s" }]
host = [{ name = "a" }, { name = "b" }]
cable = [{ ends = ["s", "a"], speed = "200 MB/s" }, { ends = ["s", "b"], speed = "100 MB/s" }]
"""
network = { preset = "yum-1600", lanes = { output_depth = 0 } }
traffic = [{ load = 0.1, length = { fixed = "640 B" } }]
stop.time = "60 us"
"#;
    let texts = WRONG.iter().map(|keys| (*keys, two_hosts(1, 40, keys)));
    let mut messages = String::new();
    for (keys, text) in texts.chain([("flits that wait for a slow cable", slow.to_owned())]) {
        let source = ScenarioSource::parse("r.toml", &text, Path::new("."), &Overrides::default());
        let refused = source.map_err(Into::into).and_then(|source| compile(&source, true));
        let message = refused.err().unwrap_or_else(|| panic!("{keys} is taken"));
        writeln!(messages, "{keys}\n  => {message}\n").unwrap();
    }
    insta::assert_snapshot!(messages);
}
