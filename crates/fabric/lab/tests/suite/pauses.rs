//! Pauses of lanes: derived marks, refusals, agreement.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_kernel::Span;
use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, LabError, compile};
use gingham_net::{PacketsPlan, PausesPlan, Status, Switching};
use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

/// Two hosts on a switch at 1 GB/s, cables of 49.2 ns, and packets of 2,068 B on the wire.
fn text(keys: &str) -> String {
    format!(
        r#"
        topology.generate.star.hosts = 2
        stop = {{ time = "200 us", warm_up = "0 ps" }}
        traffic = [{{ load = 0.1, length.fixed = "2048 B" }}]
        [network]
        preset = "santos-4x"
        {keys}
        "#
    )
}

fn compiled(text: &str) -> Result<Compiled, LabError> {
    let source = ScenarioSource::parse("pauses.toml", text, Path::new("."), &Overrides::default());
    compile(&source?, false)
}

fn packets(keys: &str) -> PacketsPlan {
    let compiled = compiled(&text(keys)).unwrap_or_else(|error| panic!("{keys}: {error}"));
    let Switching::Packets(packets) = &compiled.plan.switching else { panic!("whole packets") };
    (**packets).clone()
}

fn pauses(keys: &str) -> PausesPlan {
    packets(keys).pauses.unwrap()
}

#[test]
fn pause_marks_follow_from_the_headroom() {
    // A decision after 1 ns and 49.2, received 49.2 and 84 ns later: byte 183 starts within 183.4
    // ns. With a packet of 2,068 B that is 2,251 B, of 132 blocks of 64 B.
    let plan = pauses("packets.flow_control = \"pfc\"");
    assert_eq!(plan.pause_bytes[..2], [8_448 - 2_251, 0]);
    assert_eq!(plan.resume_bytes[0], 8_448 - 2_251 - 2_068);
    assert_eq!((plan.frame_bytes, plan.response_time), (84, Span::ZERO));
    // 100 ns more until the pause takes effect; a frame of 20 B less.
    let keys = "packets.flow_control.pfc = { response_time = \"100 ns\", frame = \"64 B\" }";
    let plan = pauses(keys);
    assert_eq!(plan.pause_bytes[0], 8_448 - 2_331);
    assert_eq!((plan.frame_bytes, plan.response_time), (64, Span::from_ns(100)));
    let keys = "lanes.count = 2\npackets.flow_control.pfc = { pause = [\"6197 B\", \"500 B\"], resume = [\"0 B\", \"500 B\"] }";
    let plan = pauses(keys);
    assert_eq!(
        (plan.pause_bytes[..2].to_vec(), plan.resume_bytes[..2].to_vec()),
        (vec![6_197, 500], vec![0, 500])
    );
    // The smallest buffer holds exactly the headroom: 36 blocks are 2,304 B.
    let plan = pauses("packets = { flow_control = \"pfc\", buffer = \"2304 B\" }");
    assert_eq!((plan.pause_bytes[0], plan.resume_bytes[0]), (53, 0));
    // An unused lane needs none.
    let keys =
        "lanes.count = 2\npackets = { flow_control = \"pfc\", buffer = [\"8448 B\", \"64 B\"] }";
    let on_the_first = text(keys).replace("load = 0.1", "lanes = [0], load = 0.1");
    let plan = compiled(&on_the_first).unwrap().plan;
    let Switching::Packets(of) = &plan.switching else { panic!("whole packets") };
    assert_eq!(of.pauses.as_ref().unwrap().pause_bytes[..2], [6_197, 64]);
    assert!(compiled(&text(keys)).is_err());
    assert_eq!(packets("packets.flow_control = \"credits\"").pauses, None);
    assert_eq!(packets("").pauses, None);
}

#[test]
fn longest_cable_and_packet_set_the_pause_marks() {
    let keys = "packets.flow_control = \"pfc\"";
    let longer = text(keys).replace(
        "topology.generate.star.hosts = 2",
        r#"topology.inline = """
switch = [{ name = "s" }]
host = [{ name = "a" }, { name = "b" }]
cable = [{ ends = ["s", "a"] }, { ends = ["s", "b"], length = "20 m" }]
""""#,
    );
    let plan = compiled(&longer).unwrap().plan;
    let Switching::Packets(of) = &plan.switching else { panic!("whole packets") };
    // Twice 49.2 ns more: byte 281 starts within 281.8 ns.
    assert_eq!(of.pauses.as_ref().unwrap().pause_bytes[0], 8_448 - 2_349);
    // Acknowledgements are short; a packet of 100 B of payload has 120.
    let short = text(keys).replace("2048 B", "100 B");
    let plan = compiled(&short).unwrap().plan;
    let Switching::Packets(of) = &plan.switching else { panic!("whole packets") };
    assert_eq!(of.pauses.as_ref().unwrap().pause_bytes[0], 8_448 - 183 - 120);
}

#[test]
fn invalid_pause_settings_are_refused() {
    let mut messages = String::new();
    for keys in [
        // A byte more than `pause_marks_follow_from_the_headroom` allows, and a block less.
        "packets.flow_control.pfc.pause = \"6198 B\"",
        "packets = { flow_control = \"pfc\", buffer = \"2240 B\" }",
        "packets = { flow_control.pfc.pause = \"1 KiB\", buffer = \"2240 B\" }",
        "packets.flow_control.pfc = { pause = \"6 KiB\", response_time = \"67 us\" }",
        "packets.flow_control.pfc = { pause = \"1000 B\", resume = \"1001 B\" }",
        "packets.flow_control.pfc.resume = \"8 KiB\"",
        "packets.flow_control.pfc.frame = \"63 B\"",
        "packets.flow_control.pfc.response_time = \"2 s\"",
        "packets.flow_control.pfc.pause = [\"1 KiB\", \"1 KiB\"]",
        "packets.flow_control.pfc.headroom = \"1 KiB\"",
        "lanes.count = 2\npackets.flow_control.pfc.pause = [\"1 KiB\", \"9 KiB\"]",
        "packets.flow_control = \"stop-and-go\"",
        "packets = { flow_control = \"pfc\", credit_delay = \"1 ns\" }",
    ] {
        let message = compiled(&text(keys)).err().unwrap_or_else(|| panic!("{keys} is taken"));
        writeln!(messages, "{keys}\n  => {message}\n").unwrap();
    }
    let foreign = text("packets.flow_control = \"pfc\"").replace("santos-4x", "yum-1600");
    writeln!(messages, "yum-1600\n  => {}", compiled(&foreign).unwrap_err()).unwrap();
    insta::assert_snapshot!(messages);
}

#[test]
fn hosts_sharing_a_receiver_are_paused_without_loss() {
    let crowd = r#"
        topology.generate.star.hosts = 4
        stop = { time = "300 us", warm_up = "0 ps" }
        network = { preset = "santos-4x", packets.flow_control.pfc.response_time = "50 ns" }
        measure.messages = "all"
        [[traffic]]
        hosts = ["h0", "h1", "h2"]
        destinations.host = "h3"
        arrivals = "backlogged"
        length = { fixed = "20000 B" }
        segmentation = { fixed = "2048 B" }
    "#;
    let plan = compiled(crowd).unwrap().plan;
    let mut engine = gingham_engine::start(Arc::clone(&plan));
    engine.advance(u64::MAX);
    let mut oracle = gingham_oracle::start(plan);
    oracle.advance(u64::MAX);
    let counts = engine.channel_counts();
    assert_eq!(counts, oracle.channel_counts());
    let found = engine.take_messages();
    assert_eq!(found, oracle.take_messages());
    assert!(found.len() > 10);
    let paused: Vec<_> = counts.iter().filter(|count| count.stops > 0).collect();
    assert_eq!(paused.len(), 3);
    assert!(paused.iter().all(|count| count.stopped_ps > 100_000_000), "{paused:?}");
}

#[test]
fn ring_of_paused_lanes_deadlocks_as_proved() {
    // Every buffer with a packet pauses its sender.
    let mut ring = r#"
        topology.generate.ring.switches = 5
        routing.algorithm = "shortest-path"
        network = { preset = "santos-4x", packets.flow_control.pfc.pause = "0 B" }
        stop.time = "2 ms"
    "#
    .to_owned();
    for from in 0..5 {
        let to = (from + 2) % 5;
        writeln!(
            ring,
            "[[traffic]]\nname = \"{from}\"\nhosts = [\"h{from}-0\"]\ndestinations.host = \"h{to}-0\"\narrivals = \
             \"backlogged\"\nlength.fixed = \"2048 B\""
        )
        .unwrap();
    }
    let source = ScenarioSource::parse("ring.toml", &ring, Path::new("."), &Overrides::default());
    let source = source.unwrap();
    assert!(matches!(compile(&source, false), Err(LabError::Deadlock(_))));
    let plan = compile(&source, true).unwrap().plan;
    let [engine, oracle] = [gingham_engine::start(Arc::clone(&plan)), gingham_oracle::start(plan)]
        .map(|mut of| {
            let Status::Deadlocked(cycle) = of.advance(u64::MAX) else { panic!("no deadlock") };
            assert_eq!(cycle.buffers.len(), 5);
            cycle.clone()
        });
    assert_eq!(engine, oracle);
}
