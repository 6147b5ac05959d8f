//! Whole packets from a scenario to deliveries.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::imported::{RING, result};
use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, Preset, ScenarioSource};
use gingham_lab::{ColumnData, Compiled, DeadlockReport, Engine, LabError, Run, compile};
use gingham_net::{
    Among, Arbitration, Delivery, Granularity, OvertakingPlan, PacketsPlan, Plan, Read, Status,
    Switching,
};
use gingham_topology::EndpointId;
use gingham_topology::routing::LaneSet;
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

const TWO: &str = r#"
topology.generate.star.hosts = 2
network.preset = "santos-4x"
stop = { time = "200 us", warm_up = "0 ps" }
"#;

/// A class whose packets fit into the preset's buffers.
const CLASS: &str = "[[traffic]]\nload = 0.1\nlength = { fixed = \"2048 B\" }\n";

fn source(text: &str) -> Result<ScenarioSource, LabError> {
    Ok(ScenarioSource::parse("packets.toml", text, Path::new("."), &Overrides::default())?)
}

fn compiled(text: &str) -> Compiled {
    let compiled = source(text).and_then(|source| compile(&source, false));
    compiled.unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn packets(plan: &Plan) -> &PacketsPlan {
    let Switching::Packets(packets) = &plan.switching else { panic!("whole packets") };
    packets
}

/// Returns all deliveries, equal in both engines.
fn deliveries(text: &str) -> Vec<Delivery> {
    let plan = compiled(&format!("measure.messages = \"all\"\n{text}")).plan;
    let mut oracle = gingham_oracle::start(Arc::clone(&plan));
    while *oracle.advance(10_007) == Status::Running {
        oracle.assert_invariants();
    }
    let mut engine = gingham_engine::start(plan);
    engine.advance(u64::MAX);
    engine.assert_invariants();
    let found = engine.take_messages();
    assert_eq!(found, oracle.take_messages());
    assert_eq!(engine.channel_counts(), oracle.channel_counts());
    found
}

#[test]
fn preset_matches_table_i_of_santos() {
    let Compiled { plan, parameters, notes, .. } = compiled(&format!("{TWO}{CLASS}"));
    assert_eq!(notes, [] as [&str; 0]);
    assert_eq!(parameters.arbitration, Arbitration::OldestFirst);
    let packets = packets(&plan);
    let first = plan.channels[0];
    assert_eq!((first.bytes.of(2_068).as_ps(), first.delay.as_ps()), (2_068_000, 49_200));
    assert_eq!(packets.wire_bytes(2_048), 2_068);
    assert_eq!(packets.forwarding_delay.as_ps(), 40_000);
    // Four packets of 2,068 B, each in 33 blocks.
    assert_eq!(packets.buffer_blocks[..2], [4 * 33, 0]);
    assert_eq!(plan.lanes.count, 1);
    assert_eq!(packets.read, Read::Any);
    assert_eq!(packets.overtaking, OvertakingPlan { at_most: 4, among: Among::SameOutput });
    assert_eq!([packets.head_interval, packets.credit_delay].map(Span::as_ps), [0, 0]);
    assert_eq!(packets.arbitration, Arbitration::OldestFirst);
}

#[test]
fn lone_packet_time_matches_the_formula() {
    // 1 ns a byte; 20 B beside the payload.
    for (switches, payload, forwarding_ns, metres) in
        [(1_u64, 2_048_u64, 40_u64, 10_u64), (2, 1, 1, 10), (3, 100, 333, 0), (5, 4_000, 40, 100)]
    {
        let text = format!(
            r#"
            topology.generate.two-hosts.switches = {switches}
            network = {{ preset = "santos-4x", cable_length = "{metres} m", packets.forwarding_delay = "{forwarding_ns} ns" }}
            stop = {{ time = "2 ms", warm_up = "0 ps" }}
            traffic = [{{
                hosts = ["h0"], arrivals = {{ constant = {{ phase = "0 ps" }} }}, load = 0.001,
                length = {{ fixed = "{payload} B" }},
            }}]
            "#
        );
        let delivery = deliveries(&text)[0];
        // `docs/concepts/timing-packets.md`: a lone packet.
        let wire = payload + 20;
        let way = (switches + 1) * 4_920 * metres + switches * 1_000 * forwarding_ns;
        assert_eq!(delivery.entered.as_ps(), 0);
        assert_eq!(delivery.delivered.as_ps(), way + 1_000 * wire);
        assert_eq!(delivery.head_arrived.as_ps(), way + 1_000);
        assert_eq!(delivery.wire_bytes, wire);
    }
}

const WRONG: &[&str] = &[
    "packets.forwarding_delay = \"999 ps\"",
    "packets.forwarding_delay = \"2 s\"",
    "packets.head_interval = \"2 s\"",
    "packets.credit_delay = \"2 s\"",
    "packets.buffer = \"63 B\"",
    "packets.buffer = \"1 GiB\"",
    "packets.buffer = \"2111 B\"",
    "packets.buffer = [\"4 KiB\", \"4 KiB\"]",
    "packets.buffer = [\"4 KiB\", \"1 B\"]\nlanes.count = 2",
    "packets.output_buffer = \"63 B\"",
    "packets.output_buffer = \"2111 B\"",
    "packets.output_buffer = [\"4 KiB\", \"4 KiB\"]",
    "packets.output_buffer = \"8 KiB\"\npackets.read = \"one\"",
    "packets.output_buffer = \"8 KiB\"\npackets.overtaking.at_most = 2",
    "packets.read = \"two\"",
    "packets.overtaking.at_most = -1",
    "packets.overtaking.among = \"all\"",
    "packets.overtaking = 4",
    "packets.buffers = \"4 KiB\"",
    "lanes.count = 17",
    "lanes.depth = 10",
    "lanes.flit = \"64 B\"",
    "lanes.crossbar = \"full\"",
    "lanes.crossbar_input = \"round-robin\"",
    "lanes.crossbar_output = \"round-robin\"",
    "lanes.forwarding = \"wormhole\"",
    "lanes.forwarding = [\"virtual-cut-through\", \"wormhole\"]\nlanes.count = 2",
    "lanes.link_output = { round-robin = { by = \"flit\" } }",
    "lanes.adapter_port = { weighted-round-robin = { weights = [1], by = \"flit\" } }",
    "lanes.adapter_port = { weighted-round-robin = { weights = [1, 2] } }",
    "slack = { capacity = 200, stop = 56, go = 40 }",
    "routing_delay = \"150 ns\"",
    "header.route_bytes = true",
    "header.mark_bytes = \"2 B\"",
    "in_transit.when_full = \"stop\"",
    "in_transit.pool = \"1 MiB\"",
];

const FOREIGN: &[&str] = &[
    "preset = \"myrinet-1280\"\npackets.read = \"one\"",
    "preset = \"yum-1600\"\npackets.buffer = \"4 KiB\"",
    "preset = \"myrinet-1280\"\npackets.output_buffer = \"8 KiB\"",
    "preset = \"myrinet-640\"\narbitration = \"oldest-first\"",
    "preset = \"yum-1600\"\narbitration = \"oldest-first\"",
];

#[test]
fn invalid_packet_settings_are_refused() {
    let network = |keys: &str| {
        let preset = if keys.contains("preset") { "" } else { "preset = \"santos-4x\"\n" };
        let top = "topology.generate.star.hosts = 2\nstop.time = \"60 us\"\n";
        format!("{top}{CLASS}[network]\n{preset}{keys}\n")
    };
    let texts = WRONG.iter().chain(FOREIGN).map(|keys| (*keys, network(keys)));
    let with = |keys: &str| format!("{TWO}{keys}\n{CLASS}");
    let class = |keys: &str| format!("{TWO}{CLASS}{keys}\n");
    let texts = texts.chain([
        ("in-transit hosts", with("routing.algorithm = \"in-transit\"")),
        (
            "in-transit hosts on alternative paths",
            with("routing.alternative = { algorithm = \"in-transit\", choose = { at-random.percent = 50 } }"),
        ),
        (
            "a choice by contention",
            with("routing.alternative = { algorithm = \"up-down\", choose = \"by-contention\" }"),
        ),
        ("a packet that is a byte too long", class("").replace("2048 B", "8429 B")),
        ("a long acknowledgement", class("window = { packets = 1, ack.length = \"9 KiB\" }")),
        ("a lane that is not there", class("lanes = [1]")),
        ("levels without tables", class("service_level = 1")),
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
fn surprising_settings_are_noted() {
    let network =
        |keys: &str| format!("{TWO}{CLASS}").replace("stop =", &format!("{keys}\nstop ="));
    let cases = [
        ("nothing", network("")),
        ("a buffer of two packets", network("network.packets.buffer = \"4224 B\"")),
        ("a buffer of one packet", network("network.packets.buffer = \"4223 B\"")),
        ("long cables", network("network.cable_length = \"1000 m\"")),
        (
            "lanes of several sizes",
            network(
                "network.lanes.count = 3\nnetwork.packets.buffer = [\"2112 B\", \"8 KiB\", \"3 KiB\"]",
            ),
        ),
        ("a lane for nothing", format!("{}lanes = [1]\n", network("network.lanes.count = 2"))),
        (
            "a faster cable",
            network("").replace(
                "topology.generate.star.hosts = 2",
                r#"topology.inline = """
switch = [{ name = "s" }]
host = [{ name = "a" }, { name = "b" }]
cable = [{ ends = ["s", "a"] }, { ends = ["s", "b"], speed = "3 GB/s" }]
""""#,
            ),
        ),
        (
            "rates beyond a cable",
            network("network.lanes.link_output = { virtual-clock = { rates = [\"1001 MB/s\"] } }"),
        ),
        (
            "rates of a cable",
            network("network.lanes.link_output = { virtual-clock = { rates = [\"1 GB/s\"] } }"),
        ),
    ];
    let mut notes = String::new();
    for (what, text) in cases {
        writeln!(notes, "{what}: {:#?}\n", compiled(&text).notes).unwrap();
    }
    insta::assert_snapshot!(notes);
}

#[test]
fn explicit_settings_override_the_preset() {
    let text = format!(
        r#"{TWO}{CLASS}[network]
        preset = "santos-4x"
        arbitration = "round-robin"
        lanes = {{ count = 2, forwarding = "virtual-cut-through", adapter_port = "infiniband", link_output.weighted-round-robin.weights = [1, 2] }}
        packets = {{ forwarding_delay = "100 ns", head_interval = "5 ns", credit_delay = "7 ns", buffer = ["2200 B", "1 MiB"],
            read = "one", overtaking = {{ at_most = 0, among = "any-output" }} }}
        "#
    )
    .replace("network.preset = \"santos-4x\"\n", "");
    let plan = compiled(&text).plan;
    let packets = packets(&plan);
    let delays = [packets.forwarding_delay, packets.head_interval, packets.credit_delay];
    assert_eq!(delays.map(Span::as_ps), [100_000, 5_000, 7_000]);
    // 2,200 B are 34 blocks of 64 B and a rest.
    assert_eq!(packets.buffer_blocks[..3], [34, 16_384, 0]);
    assert_eq!(packets.read, Read::One);
    assert_eq!(packets.overtaking, OvertakingPlan { at_most: 0, among: Among::AnyOutput });
    assert_eq!(packets.arbitration, Arbitration::RoundRobin);
    let ports = [&plan.lanes.link_output, &plan.lanes.adapter_port];
    assert_eq!(ports.map(|port| port.facts().name), ["weighted-round-robin", "infiniband"]);
    assert_eq!(ports.map(|port| port.facts().by), [Granularity::Packet; 2]);
    assert!(!deliveries(&text).is_empty());
}

#[test]
fn adaptive_segments_fit_the_smallest_lane_buffer() {
    let text = format!(
        "{TWO}{}segmentation = \"adaptive\"\nlanes = [1, 2]\n[network]\npreset = \"santos-4x\"\nlanes.count = 3\n\
         packets.buffer = [\"64 B\", \"640 B\", \"704 B\"]\n",
        CLASS.replace("2048 B", "5000 B")
    )
    .replace("network.preset = \"santos-4x\"\n", "");
    let compiled = compiled(&text);
    // Ten blocks less 20 B, for each switch: one.
    assert_eq!(compiled.plan.classes[0].longest_packet_bytes(|| 1), 620);
}

#[test]
fn single_lane_rate_matches_the_formula() {
    // Onto a cable of 1 km, 4,920 ns: w packets of 1,000 B in 2 d + F + c + t.
    let (delay, forwarding, credit, time) = (4_920_000_u64, 40_000_u64, 60_000_u64, 1_000_000_u64);
    for packets in [1_u64, 4, 10, 12] {
        let text = format!(
            r#"
            topology.generate.two-hosts.switches = 1
            network = {{ preset = "santos-4x", cable_length = "1000 m", packets = {{
                buffer = "{} B", credit_delay = "60 ns" }} }}
            stop = {{ time = "4 ms", warm_up = "0 ps" }}
            traffic = [{{ hosts = ["h0"], arrivals = "backlogged", length.fixed = "980 B" }}]
            "#,
            packets * 1_024
        );
        let found = deliveries(&text);
        let round = 2 * delay + forwarding + credit + time;
        let apart = |later: usize| {
            let [first, last] = [10, 10 + later].map(|at| found[at].delivered.as_ps());
            last - first
        };
        let expected = if packets * time < round { round } else { packets * time };
        assert_eq!(apart(usize::try_from(packets).unwrap()), expected, "{packets} packets");
    }
}

#[test]
fn ring_uses_lanes_and_arbiters_from_opensm() {
    let settings = [
        ("network.preset", "santos-4x"),
        ("network.lanes.link_output", "infiniband"),
        ("measure.messages", "all"),
    ];
    let plan = result(RING, &settings, false).unwrap().plan;
    // `levels.csv`: from LID 6 to LID 10 on level 5, which is lane 5 here.
    let host = |name: &str| {
        plan.fabric.endpoint_ids().find(|host| plan.fabric.endpoint_name(*host) == name).unwrap()
    };
    let [from, to] = ["h2-0", "h4-0"].map(host);
    let lanes = &plan.lanes.allowed;
    assert_eq!(lanes.first(from, lanes.vc_class_of_pair(from, to)), LaneSet::one(5));
    let mut engine = gingham_engine::start(Arc::clone(&plan));
    engine.advance(u64::MAX);
    let mut oracle = gingham_oracle::start(plan);
    oracle.advance(u64::MAX);
    let found = engine.take_messages();
    assert!(found.len() > 100);
    assert_eq!(found, oracle.take_messages());
}

#[test]
fn ring_of_switches_deadlocks_as_proved() {
    // Every host sends over two cables clockwise: a packet in each buffer waits for the next one.
    let mut ring = r#"
        topology.generate.ring.switches = 5
        routing.algorithm = "shortest-path"
        network = { preset = "santos-4x", packets.buffer = "2112 B" }
        stop.time = "2 ms"
    "#
    .to_owned();
    for from in 0..5 {
        writeln!(
            ring,
            "[[traffic]]\nname = \"{from}\"\nhosts = [\"h{from}-0\"]\ndestinations.host = \"h{}-0\"\narrivals = \
             \"backlogged\"\nlength.fixed = \"2048 B\"",
            (from + 2) % 5
        )
        .unwrap();
    }
    let ring = source(&ring).unwrap();
    assert!(matches!(compile(&ring, false), Err(LabError::Deadlock(_))));
    let plan = compile(&ring, true).unwrap().plan;
    for mut simulation in
        [gingham_engine::start(Arc::clone(&plan)), gingham_oracle::start(Arc::clone(&plan))]
    {
        let Status::Deadlocked(cycle) = simulation.advance(u64::MAX) else { panic!("no deadlock") };
        let described = DeadlockReport::of_run(&plan, cycle).to_string();
        let found = "the run deadlocked: the packets at the ends of these lanes of channels wait for each other, each for the next and \
                     the last for the first";
        assert_eq!(described.lines().next(), Some(found));
        assert_eq!(described.lines().count(), 1 + 5);
    }
}

#[test]
fn recorded_scenario_restores_for_every_preset() {
    for preset in Preset::ALL {
        // No router of the literature holds a whole packet of more than a kibibyte.
        let text =
            format!("{TWO}{CLASS}").replace("santos-4x", preset.name()).replace("2048", "1024");
        let whole = source(&text).unwrap();
        let resolved = serde_json::to_value(&whole.scenario).unwrap();
        let restored = ScenarioSource::restore("record", &resolved, Path::new("."), "").unwrap();
        assert_eq!(restored.scenario, whole.scenario);
        compile(&restored, false).unwrap_or_else(|error| panic!("{}: {error}", preset.name()));
    }
}

/// Figure 1 of Santos et al. 2002: with space for a packet of each of twenty hosts in the output
/// buffer, the cable between the switches carries the victim too.
#[test]
fn output_buffer_for_all_waiting_packets_prevents_blocking() {
    let example = include_str!("../../../../../python/gingham/examples/congestion-spreading.toml");
    let text = |packets: u64| {
        let buffer = format!("packets.output_buffer = \"{} B\"\npreset =", packets * 33 * 64);
        example.replace("preset =", &buffer).replace("time = \"20 ms\"", "time = \"4 ms\"")
    };
    let delivered = |packets: u64| {
        let mut counts = [0_u32; 3];
        for delivery in &deliveries(&text(packets))[200..] {
            counts[delivery.message.class.index()] += 1;
        }
        counts
    };
    let [local, remote, victim] = delivered(20);
    assert!(
        local.abs_diff(remote) <= 20 && remote.abs_diff(victim) <= 20,
        "{local} {remote} {victim}"
    );
    let [local, remote, victim] = delivered(1);
    assert!(local > 2 * remote && remote > 6 * victim, "{local} {remote} {victim}");
}

/// Returns the utilisation of the channel of h0, and its share of time without credits.
fn busy_and_waiting(network: &str) -> [f64; 2] {
    let text = format!(
        "{}[[traffic]]\nhosts = [\"h0\"]\narrivals = \"backlogged\"\nlength.fixed = \"2048 B\"\n[network]\n{network}",
        TWO.replace("network.preset = \"santos-4x\"\n", "")
    );
    let mut run = Run::new(compiled(&text), Engine::Fast);
    run.advance(u64::MAX).expect("time goes on");
    let channel = run.compiled().plan.fabric.endpoint_channel(EndpointId::new(0));
    let record = run.record();
    let links = record.tables.iter().find(|table| table.name == "links").unwrap();
    let first = |name: &str| {
        let column = links.columns.iter().find(|column| column.name == name).unwrap();
        let ColumnData::Reals(values) = &column.data else {
            panic!("{name} holds no real numbers")
        };
        values[channel.index()]
    };
    [first("utilisation"), first("stopped_share")]
}

/// A packet of 2,068 ns occupies the buffer for d + F + t(W), and its credits return d later, with
/// 49.2 ns of cable and 40 ns of switch.
#[test]
fn links_table_reports_packet_credit_waits() {
    let preset = "preset = \"santos-4x\"";
    let period = 2.0 * 49.2 + 40.0 + 2_068.0;
    let [busy, waiting] = busy_and_waiting(&format!("{preset}\npackets.buffer = \"2112 B\""));
    assert!((busy - 2_068.0 / period).abs() < 1e-3, "{busy}");
    assert!((waiting - (1.0 - 2_068.0 / period)).abs() < 1e-3, "{waiting}");
    // Four packets are more than the credit loop needs.
    assert!(busy_and_waiting(preset)[1].abs() < 1e-12);
}
