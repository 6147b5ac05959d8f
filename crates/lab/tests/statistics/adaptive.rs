//! Adaptive routing at every switch: how evenly the choice by load spreads packets.
//!
//! `ADAPTIVE_SEEDS=3 cargo test -p gingham-lab --test statistics by_load -- --nocapture` runs all
//! cases with this number of seeds each, and prints the saturation loads under both rules. The table
//! of `docs/concepts/adaptive-routing.md` has another measure, the highest accepted load.

use crate::runs::{plan, run};
use gingham_kernel::Time;
use gingham_model::{ClassId, Plan};
use gingham_topology::ChannelId;
use std::sync::Arc;

/// Grids of 8 x 8 with standard patterns. The test suite runs only the first half.
const CASES: [(&str, &str); 14] = [
    ("mesh", "uniform"),
    ("mesh", "transpose"),
    ("mesh", "bit-reversal"),
    ("mesh", "tornado"),
    ("torus", "uniform"),
    ("torus", "bit-complement"),
    ("torus", "tornado"),
    ("mesh", "bit-complement"),
    ("mesh", "shuffle"),
    ("mesh", "neighbour"),
    ("torus", "transpose"),
    ("torus", "bit-reversal"),
    ("torus", "shuffle"),
    ("torus", "neighbour"),
];

/// A pattern at a load, on a grid of one host a switch.
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

/// The highest load that the network carries, to a hundredth.
fn saturation((shape, pattern): (&str, &str), select: &str, seeds: u64) -> f64 {
    let (mut carried, mut too_much) = (0.0, 1.28);
    for _ in 0..7 {
        let load = f64::midpoint(carried, too_much);
        if load <= 1.0 && carries(&scenario(shape, select, pattern, load), seeds) {
            carried = load;
        } else {
            too_much = load;
        }
    }
    carried
}

#[expect(clippy::disallowed_methods, reason = "a test run by hand takes its size from outside")]
#[expect(clippy::print_stdout, reason = "the table of a run by hand")]
#[test]
fn by_load_a_grid_saturates_no_sooner_than_by_random_choice() {
    let asked = std::env::var("ADAPTIVE_SEEDS").ok();
    let seeds: u64 = asked.as_ref().map_or(1, |text| text.parse().unwrap());
    let cases = if asked.is_some() { &CASES[..] } else { &CASES[..7] };
    for case in cases.iter().copied() {
        let drawn = saturation(case, "random", seeds);
        if asked.is_some() {
            println!("{case:?}: {:.2} against {drawn:.2}", saturation(case, "least-loaded", seeds));
        }
        // The load of random choice is known only to a hundredth.
        let load = 0.97 * drawn;
        assert!(
            carries(&scenario(case.0, "least-loaded", case.1, load), seeds),
            "{case:?} {drawn}"
        );
    }
}

/// On an 8 x 8 mesh, dimension order routes 7 of the 56 flows of a transpose through one channel.
/// If packets choose between the outputs with equal probability, the busiest channel carries about
/// 3 flows.
#[test]
fn at_low_load_a_transpose_is_spread_over_both_dimensions() {
    let mut plan = scenario("mesh", "least-loaded", "transpose", 0.1);
    plan.stop.time = Time::from_ps(200_000_000);
    let plan = Arc::new(plan);
    let mut run = gingham_fabric::start(Arc::clone(&plan));
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
