//! Saturation loads of adaptive routing by load, at least those of random choice.
//!
//! `ADAPTIVE_SEEDS=3 cargo test --workspace --test statistics by_load -- --nocapture` searches all
//! cases, with that number of seeds each, and prints the table of
//! `docs/concepts/adaptive-routing.md`.

use crate::runs::{plan, run};
use gingham_kernel::Time;
use gingham_net::{ClassId, Plan};
use gingham_topology::ChannelId;
use std::sync::Arc;

/// Grids of 8 x 8, and the saturation load of random choice (seed 0).
const CASES: [(&str, &str, f64); 7] = [
    ("mesh", "uniform", 0.38),
    ("mesh", "transpose", 0.34),
    ("mesh", "bit-reversal", 0.31),
    ("mesh", "tornado", 0.21),
    ("torus", "uniform", 0.66),
    ("torus", "bit-complement", 0.35),
    ("torus", "tornado", 0.24),
];

const MORE: [(&str, &str); 7] = [
    ("mesh", "bit-complement"),
    ("mesh", "shuffle"),
    ("mesh", "neighbour"),
    ("torus", "transpose"),
    ("torus", "bit-reversal"),
    ("torus", "shuffle"),
    ("torus", "neighbour"),
];

/// Resolution of saturation loads.
const STEP: f64 = 0.01;

fn scenario(shape: &str, select: &str, pattern: &str, load: f64) -> Plan {
    plan(&format!(
        r#"
        topology.generate.{shape}.dimensions = [8, 8]
        routing = {{ algorithm = "dimension-order", adaptive = {{ select = "{select}" }} }}
        [network]
        preset = "yum-1600"
        lanes = {{ count = 4, forwarding = "virtual-cut-through", depth = 10 }}
        [[traffic]]
        load = {load}
        length = {{ fixed = "96 B" }}
        destinations = "{pattern}"
        [stop]
        time = "100 us"
        warm_up = "30 us"
    "#
    ))
}

/// Whether at least 95 % of the payload created in the window is delivered in it.
fn carries(plan: &Plan, seeds: u64) -> bool {
    let sum = |seed| {
        let collector = run(plan, seed);
        let report = collector.report();
        let class = report.class(ClassId::new(0));
        (class.created.bytes, class.delivered.bytes)
    };
    let (created, delivered) = (0..seeds).map(sum).fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1));
    delivered * 100 >= created * 95
}

fn saturation(carries: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 128.0 * STEP);
    for _ in 0..7 {
        let load = f64::midpoint(low, high);
        if carries(load) {
            low = load;
        } else {
            high = load;
        }
    }
    low
}

fn case_carries((shape, pattern): (&str, &str), select: &str, load: f64, seeds: u64) -> bool {
    load <= 1.0 && carries(&scenario(shape, select, pattern, load), seeds)
}

#[test]
fn least_loaded_choice_saturates_no_sooner_than_random() {
    for (shape, pattern, known) in CASES {
        let carries = |select, load| case_carries((shape, pattern), select, load, 1);
        // Above the known saturation load, by a hundredth.
        assert!(!carries("random", known + STEP), "{shape}, {pattern}: more than {known}");
        assert!(carries("least-loaded", 0.97 * known), "{shape}, {pattern}: {known}");
    }
}

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
#[expect(clippy::print_stdout, reason = "the table of a run by hand")]
#[test]
fn least_loaded_choice_saturates_no_sooner_on_all_grids() {
    let Ok(seeds) = std::env::var("ADAPTIVE_SEEDS") else { return };
    let seeds = seeds.parse().unwrap();
    let cases = CASES.iter().map(|(shape, pattern, _)| (*shape, *pattern)).chain(MORE);
    for case in cases {
        let of = |select| saturation(|load| case_carries(case, select, load, seeds));
        let [drawn, by_load] = ["random", "least-loaded"].map(of);
        println!("{case:?}: {by_load:.2} against {drawn:.2}");
        assert!(case_carries(case, "least-loaded", 0.97 * drawn, seeds), "{case:?} {drawn}");
    }
}

/// Dimension order routes 7 of the 56 flows of a transpose through one channel; a choice between
/// outputs with equal probability about 3.
#[test]
fn low_load_transpose_spreads_over_both_dimensions() {
    let mut plan = scenario("mesh", "least-loaded", "transpose", 0.1);
    plan.stop.time = Time::from_ps(200_000_000);
    let plan = Arc::new(plan);
    let mut run = gingham_engine::start(Arc::clone(&plan));
    run.advance(u64::MAX);
    let counts = run.channel_counts();
    let is_switch = |node| plan.fabric.node(node).is_switch();
    let (mut busiest, mut all) = (0, 0);
    for channel in ChannelId::first(counts.len()) {
        let flits = counts[channel.index()].data_flits;
        let [from, to] = [plan.fabric.source(channel).node, plan.fabric.target(channel).node];
        match (is_switch(from), is_switch(to)) {
            (true, true) => busiest = busiest.max(flits),
            (true, false) => all += flits,
            _ => {}
        }
    }
    assert!(busiest * 56 < 4 * all, "{busiest} of {all}");
}
