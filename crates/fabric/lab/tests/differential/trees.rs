//! Coverage of congestion trees on every switching kind.

use crate::agreement::tree_step;
use crate::case::Case;
use crate::packets;
use gingham_lab::compile;
use gingham_net::measure::TreeStep;
use gingham_net::{MeasurePlan, Plan};
use std::collections::BTreeMap;
use std::sync::Arc;

fn reached(plan: impl Fn(u64) -> Plan) -> BTreeMap<&'static str, u32> {
    let mut reached = BTreeMap::new();
    for seed in 0..100 {
        let plan = plan(seed);
        let measure = MeasurePlan { tree_step: tree_step(&plan), ..plan.measure };
        let mut simulation = gingham_engine::start(Arc::new(Plan { measure, ..plan }));
        simulation.advance(u64::MAX);
        let trees = simulation.collector().trees();
        let any = |is: fn(&TreeStep) -> bool| trees.steps().iter().any(is);
        for (what, holds) in [
            ("a tree", any(|_| true)),
            ("several branches deep", any(|tree| tree.depth > 1)),
            ("hosts held", any(|tree| tree.hosts > 0)),
            ("victims", any(|tree| tree.victims > 0)),
            ("a knot", any(|tree| tree.root.is_none())),
            ("one that dies", trees.lives().iter().any(|life| life.died.is_some())),
        ] {
            *reached.entry(what).or_insert(0) += u32::from(holds);
        }
    }
    reached
}

/// Asserts at least ten cases of each, but `knots` of a knot.
fn assert_reached(of: &BTreeMap<&'static str, u32>, knots: u32) {
    for (what, cases) in of {
        let least = if *what == "a knot" { knots } else { 10 };
        assert!(*cases >= least, "{what}: {of:?}");
    }
}

#[test]
fn congestion_trees_occur_in_every_kind_of_network() {
    let of = |case: Case| (*compile(&case.source(), true).unwrap().plan).clone();
    assert_reached(&reached(|seed| of(Case::random(seed))), 1);
    // Random lanes and whole packets hardly ever deadlock.
    assert_reached(&reached(|seed| of(Case::lanes(seed))), 0);
    assert_reached(&reached(|seed| packets::with_whole_packets(&of(Case::lanes(seed)), seed)), 0);
}
