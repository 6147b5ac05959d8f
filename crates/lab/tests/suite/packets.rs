//! Whole packets from a scenario to deliveries: the preset, the closed forms, what is refused and
//! what is noted.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_model::{
    Among, Arbitration, Delivery, OvertakingPlan, PacketsPlan, Plan, Read, Status, Switching,
};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Two hosts on a switch, one of which sends.
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

/// The deliveries of a run that keeps all messages, on which both engines agree.
fn deliveries(text: &str) -> Vec<Delivery> {
    let plan = compiled(&format!("measure.messages = \"all\"\n{text}")).plan;
    let mut oracle = gingham_oracle::start(Arc::clone(&plan));
    while *oracle.advance(10_007) == Status::Running {
        oracle.assert_invariants();
    }
    let mut engine = gingham_fabric::start(plan);
    engine.advance(u64::MAX);
    engine.assert_invariants();
    let found = engine.take_messages();
    assert_eq!(found, oracle.take_messages());
    assert_eq!(engine.channel_counts(), oracle.channel_counts());
    found
}

#[test]
fn the_preset_is_table_i_of_santos() {
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
    assert_eq!([packets.head_interval, packets.credit_delay].map(|it| it.as_ps()), [0, 0]);
    assert_eq!(packets.arbitration, Arbitration::OldestFirst);
}

#[test]
fn a_lone_packet_takes_as_long_as_the_formula_says() {
    // 1 GB/s: 1 ns a byte; 20 B beside the payload.
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
