//! Virtual lanes from a scenario to deliveries: the closed form, every mechanism, and what is refused or noted.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_model::{Delivery, Plan, Status};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// What every scenario here begins with; a class and what differs follow.
const MESH: &str = r#"
topology.generate.mesh.dimensions = [3, 3]
routing.algorithm = "dimension-order"
stop.time = "60 us"
stop.warm_up = "0 ps"
"#;

fn source(text: &str) -> Result<ScenarioSource, LabError> {
    Ok(ScenarioSource::parse("lanes.toml", text, Path::new("."), &Overrides::default())?)
}

fn compiled(text: &str) -> Compiled {
    let compiled = source(text).and_then(|source| compile(&source, false));
    compiled.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The deliveries of a run that keeps all messages, and how it ended.
fn run(plan: &Arc<Plan>) -> (Vec<Delivery>, Status) {
    let mut simulation = gingham_oracle::Simulation::new(Arc::clone(plan));
    while *simulation.advance(10_007) == Status::Running {
        simulation.assert_invariants();
    }
    simulation.assert_invariants();
    (simulation.take_messages(), simulation.status().clone())
}

fn deliveries(text: &str) -> Vec<Delivery> {
    run(&compiled(&format!("measure.messages = \"all\"\n{text}")).plan).0
}

fn preset(lanes: &str) -> String {
    format!("[network]\npreset = \"yum-1600\"\nlanes = {{ {lanes} }}\n")
}

#[test]
fn a_lone_packet_takes_as_long_as_the_formula_says() {
    // 200 MB/s: 80 ns a flit of 16 B, 5 ns a byte; 10 m: 49.2 ns, one cycle.
    for (switches, payload, flit, routing_cycles, metres) in [
        (1_u64, 640_u64, 16_u64, 1_u64, 10_u64),
        (2, 16, 16, 1, 10),
        (3, 17, 16, 0, 0),
        (4, 1_000, 64, 5, 100),
        (5, 9, 1, 1, 20),
    ] {
        let text = format!(
            r#"
            topology.generate.two-hosts.switches = {switches}
            network = {{ preset = "yum-1600", cable_length = "{metres} m", lanes = {{
                flit = "{flit} B", routing_cycles = {routing_cycles}, depth = 1000 }} }}
            stop = {{ time = "2 ms", warm_up = "0 ps" }}
            traffic = [{{
                hosts = ["h0"], arrivals = {{ constant = {{ phase = "0 ps" }} }}, load = 0.001,
                length = {{ fixed = "{payload} B" }},
            }}]
            "#
        );
        let delivery = deliveries(&text)[0];
        // `docs/concepts/timing.md`: a lone packet over virtual lanes.
        let (cycle, delay) = (5_000 * flit, 4_920 * metres);
        let cycles = switches * (4 + routing_cycles + delay.div_ceil(cycle));
        let flits = payload.div_ceil(flit);
        assert_eq!(delivery.entered.as_ps(), 0);
        assert_eq!(delivery.delivered.as_ps(), (cycles + flits) * cycle + delay);
        assert_eq!(delivery.head_arrived.as_ps(), (cycles + 1) * cycle + delay);
        assert_eq!(delivery.wire_bytes, flits * flit);
    }
}

/// Every key that is wrong, alone or with others.
const WRONG: &[&str] = &[
    "lanes.count = 0",
    "lanes.count = 17",
    "lanes.count = 2\nlanes.depth = [4, 4, 4]",
    "lanes.depth = 0",
    "lanes.depth = [10, 10, -3]\nlanes.count = 3",
    "lanes.depth = 70000",
    "lanes.depth = \"deep\"",
    "lanes.depth = 2.5",
    "lanes.flit = \"0 B\"",
    "lanes.flit = \"1 MiB\"",
    "lanes.forwarding = \"cut-through\"",
    "lanes.forwarding = [\"wormhole\"]",
    "lanes.forwarding = \"virtual-cut-through\"",
    "lanes.output_depth = 0",
    "lanes.routing_cycles = -1",
    "lanes.crossbar = \"half\"",
    "lanes.cuont = 3", // typos: on purpose
    "lanes = 4",
    "lanes.link_output = { weighted-round-robin = { weights = [0, 0] } }\nlanes.count = 2",
    "lanes.link_output = { weighted-round-robin = { weights = [1, 2, 3] } }\nlanes.count = 2",
    "lanes.link_output = { weighted-round-robin = { weights = [0, 1] } }\nlanes.count = 2",
    "lanes.link_output = { round-robin = { by = \"packet\" } }",
    "lanes.link_output = { infiniband = { low = [{ lane = 4, weight = 1 }] } }\nlanes.count = 4\nlanes.forwarding = \"virtual-cut-through\"\nlanes.depth = 100",
    "lanes.adapter_port = \"infiniband\"",
    "slack = { capacity = 200, stop = 56, go = 40 }",
    "routing_delay = \"150 ns\"",
    "setup_delay = \"150 ns\"",
    "header = { route_bytes = true }",
    "header = { mark_bytes = \"2 B\" }",
    "header = { type_bytes = \"1 MiB\" }",
    "preset = \"myrinet-1280\"\nlanes.count = 4",
];

/// Keys of a class that are wrong, on four lanes.
const WRONG_CLASSES: &[&str] = &[
    "lanes = []",
    "lanes = [4]",
    "lanes = [0, -1]",
    "lanes = [0, 1, 0]",
    "lanes = 2",
    "service_level = 3",
];

#[test]
fn what_lanes_cannot_be_is_refused_with_key_and_cure() {
    let class = "[[traffic]]\nload = 0.1\nlength = { fixed = \"640 B\" }\n";
    let network = |keys: &str| {
        let preset = if keys.contains("preset") { "" } else { "preset = \"yum-1600\"\n" };
        format!("{MESH}{class}[network]\n{preset}{keys}\n")
    };
    let with_class = |keys: &&str| {
        format!("{MESH}[network]\npreset = \"yum-1600\"\nlanes.count = 4\n{class}{keys}\n")
    };
    let wormhole = format!("{MESH}{class}lanes = [0]\n");
    let few = format!(
        "{}{class}{}lanes.datelines = true\nlanes.count = 1\n",
        MESH.replace("mesh", "torus").replace("[3, 3]", "[4, 4]"),
        "[network]\npreset = \"yum-1600\"\n"
    );
    let no_grid = format!(
        "{}{class}[network]\npreset = \"yum-1600\"\nlanes.datelines = true\n",
        "topology.generate.irregular.switches = 6\nstop.time = \"60 us\"\n"
    );
    let texts = WRONG.iter().map(|keys| (*keys, network(keys)));
    let texts = texts.chain(WRONG_CLASSES.iter().map(|keys| (*keys, with_class(keys))));
    let texts = texts.chain([
        ("lanes in a wormhole network", wormhole),
        ("one lane for two layers", few),
        ("no grid", no_grid),
    ]);
    let mut messages = String::new();
    for (keys, text) in texts {
        let refused = source(&text).and_then(|source| compile(&source, true));
        let message = refused.err().unwrap_or_else(|| panic!("{keys} is taken"));
        writeln!(messages, "{keys}\n  => {message}\n").unwrap();
    }
    insta::assert_snapshot!(messages);
}

#[test]
fn what_surprises_is_noted() {
    let class = "[[traffic]]\nload = 0.1\nlength = { fixed = \"64 B\" }\n";
    let ring = "topology.generate.ring.switches = 4\nrouting.algorithm = \"dimension-order\"\nstop.time = \"60 us\"\n";
    let cases = [
        ("nothing", format!("{MESH}{}{class}", preset("depth = 10"))),
        ("shallow lanes", format!("{MESH}{}{class}", preset("depth = 4"))),
        ("long cables", format!("{MESH}{}cable_length = \"100 m\"\n{class}", preset("count = 2"))),
        ("lanes for nothing", format!("{MESH}{}{class}lanes = [1, 3]\n", preset("count = 5"))),
        ("one lane for nothing", format!("{MESH}{}{class}lanes = [0]\n", preset("count = 2"))),
        ("datelines that nobody asked for", format!("{ring}{}{class}", preset("count = 2"))),
        (
            "datelines of classes",
            format!(
                "{ring}{}{class}lanes = [0, 1]\n{class}name = \"b\"\nlanes = [2, 3]\n",
                preset("count = 4")
            ),
        ),
        ("datelines that nothing crosses", format!("{MESH}{}{class}", preset("datelines = true"))),
    ];
    let mut notes = String::new();
    for (what, text) in cases {
        writeln!(notes, "{what}: {:#?}\n", compiled(&text).notes).unwrap();
    }
    insta::assert_snapshot!(notes);
}
