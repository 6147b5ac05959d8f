//! Cycles of virtual lanes: the proof and the run agree.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use gingham_lab::scenario::{Overrides, ScenarioSource};
use gingham_lab::{Compiled, compile};
use gingham_net::{Status, WaitCycle};
use gingham_topology::Proof;
use gingham_topology::routing::Buffer;
use std::path::Path;

/// Five switches in a ring; packets to the second next host are longer than the lanes on the path.
const RING: &str = r#"
[topology.generate.ring]
switches = 5
hosts_per_switch = 1

[routing]
algorithm = "dimension-order"

[network]
preset = "yum-1600"
lanes = { count = 1 }

[[traffic]]
arrivals = "backlogged"
destinations = "tornado"
length = { fixed = "1 KiB" }

[stop]
time = "300 us"
"#;

fn compiled(settings: &[(&str, &str)]) -> Compiled {
    let own = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let overrides = Overrides::texts(settings.iter().map(own).collect());
    let source = ScenarioSource::parse("ring.toml", RING, Path::new("."), &overrides).unwrap();
    compile(&source, true).unwrap()
}

/// Returns the end, equal in engine and oracle.
fn ends_as(compiled: &Compiled) -> Status {
    let mut engine = gingham_engine::start(compiled.plan.clone());
    let mut oracle = gingham_oracle::start(compiled.plan.clone());
    let status = engine.advance(u64::MAX).clone();
    assert_eq!(*oracle.advance(u64::MAX), status);
    status
}

fn deadlocked(settings: &[(&str, &str)]) -> WaitCycle {
    let compiled = compiled(settings);
    assert!(matches!(compiled.proof, Proof::Cycle { .. }), "{settings:?}");
    match ends_as(&compiled) {
        Status::Deadlocked(cycle) => cycle,
        other => panic!("{settings:?} ended as {other:?}"),
    }
}

#[test]
fn ring_without_datelines_deadlocks_on_one_or_two_lanes() {
    let fabric = &compiled(&[]).plan.fabric;
    let one = deadlocked(&[]).buffers;
    // A packet on the ring waits for that of a host that took its output, which waits for the
    // previous packet on the ring.
    let is_round = |input: &&Buffer| {
        let ends = [fabric.source(input.channel), fabric.target(input.channel)];
        ends.iter().all(|end| fabric.node(end.node).is_switch())
    };
    assert_eq!((one.len(), one.iter().filter(is_round).count()), (10, 5), "{one:?}");
    assert!(one.iter().all(|input| input.lane == 0));
    let free = [("network.lanes.count", "2"), ("network.lanes.datelines", "false")];
    assert!(deadlocked(&free).buffers.len() >= 5);
}

#[test]
fn datelines_on_two_or_more_lanes_prevent_deadlock() {
    for count in ["2", "3", "4"] {
        for datelines in [&[][..], &[("network.lanes.datelines", "true")]] {
            let settings = [&[("network.lanes.count", count)], datelines].concat();
            let compiled = compiled(&settings);
            assert!(matches!(compiled.proof, Proof::Free { .. }), "{settings:?}");
            assert_eq!(ends_as(&compiled), Status::Ended, "{settings:?}");
        }
    }
}

#[test]
fn classes_on_separate_lanes_deadlock_separately() {
    // The second class cannot be divided into dateline classes: it deadlocks on lane 2, and the
    // first continues.
    let settings = [
        ("network.lanes.count", "3"),
        ("network.lanes.datelines", "false"),
        ("traffic.0.lanes", "[2]"),
    ];
    let cycle = deadlocked(&settings);
    assert!(cycle.buffers.iter().all(|input| input.lane == 2), "{cycle:?}");
}

/// Returns the flits that an 8x8 torus delivers after 50 us, in packets of 20.
fn carried(rule: &str, seed: &str) -> u64 {
    let torus = ("topology.generate", "{ torus = { dimensions = [8, 8], hosts_per_switch = 1 } }");
    let alternate = ("routing.algorithm", "{ dimension-order = { ties = \"alternate\" } }");
    let settings = [
        torus,
        alternate,
        ("network.lanes", "{ count = 2, depth = 8 }"),
        ("network.lanes.datelines", rule),
        ("traffic.0.destinations", "\"uniform\""),
        ("traffic.0.length", "{ fixed = \"320 B\" }"),
        ("seed", seed),
        ("stop.time", "300 us"),
    ];
    let plan = compiled(&settings).plan;
    let mut engine = gingham_engine::start(plan.clone());
    let delivered = |engine: &dyn gingham_net::Simulation| {
        let counts = engine.channel_counts();
        let into = |of| gingham_topology::Fabric::reverse(plan.fabric.endpoint_channel(of));
        let flits = |of| counts[into(of).index()].data_flits;
        plan.fabric.endpoint_ids().map(flits).sum::<u64>()
    };
    let mut before = 0;
    while *engine.advance(5_000) == Status::Running {
        if engine.now() < gingham_kernel::Time::from_ps(50_000_000) {
            before = delivered(&*engine);
        }
    }
    delivered(&*engine) - before
}

/// 66,864 and 78,019 flits with the first seed; by wrap is 16.6 % higher in the mean of three.
#[test]
fn by_wrap_carries_more_than_by_hop_on_a_torus() {
    for seed in ["1", "2", "3"] {
        let [by_hop, by_wrap] = ["\"by-hop\"", "\"by-wrap\""].map(|rule| carried(rule, seed));
        assert!(by_wrap * 100 > by_hop * 108, "seed {seed}: {by_hop} and {by_wrap} flits");
    }
}
