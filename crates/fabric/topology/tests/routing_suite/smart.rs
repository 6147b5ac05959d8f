//! Smart routing: proved, never worse than up*/down*, and computed by hand on a ring.

use crate::support::{any_plan, generated, pairs, ring, routed, up_down};
use gingham_topology::Fabric;
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{
    Algorithm, Form, Root, RouteError, Smart, Statistics, prove, route,
};
use proptest::prelude::*;

fn smart() -> Algorithm {
    Algorithm::Smart(Smart {})
}

/// On the busiest channel between switches.
fn busiest(fabric: &Fabric, algorithm: &Algorithm) -> u64 {
    let routes = routed(fabric, algorithm, Form::Source);
    assert!(prove(fabric, &routes).is_free());
    Statistics::new(fabric, &routes).max_channel_paths()
}

#[test]
fn smart_forbids_one_turn_per_direction_on_a_ring() {
    // n switches with a host each, n odd: shortest paths close a cycle each way. At a switch d - 1
    // paths of distance d turn, each way: in a ring of five one path of distance 2. Without its
    // turn it goes round, by three channels: 18 of 20 are minimal, and the distances add up to
    // 10 x 1 + 8 x 2 + 2 x 3.
    let fabric = ring(5, 1);
    let routes = routed(&fabric, &smart(), Form::Source);
    let statistics = Statistics::new(&fabric, &routes);
    assert!(prove(&fabric, &routes).is_free());
    assert_eq!(statistics.minimal.total(), 18);
    assert_eq!(statistics.distance.pairs(), [0, 10, 8, 2]);
    // By up*/down* with root s0 the paths between s2 and s4 go round over s1 and s0: 4 paths over
    // the busiest. Smart routing need not forbid both turns at one switch.
    assert_eq!(busiest(&fabric, &up_down(Root::LowestId)), 4);
    assert_eq!(statistics.max_channel_paths(), 4);
}

#[test]
fn smart_has_a_lower_peak_load_than_up_down() {
    for (switches, seeds) in [(8, 0..10), (16, 0..10), (32, 0..3), (64, 0..1)] {
        for seed in seeds {
            let shape = Irregular {
                switches,
                ports: 8,
                hosts_per_switch: 4,
                cables_per_pair_max: 1,
                rails: 1,
            };
            let fabric = generated(&Generator::Irregular(shape), seed);
            let (ours, theirs) =
                (busiest(&fabric, &smart()), busiest(&fabric, &up_down(Root::LowestId)));
            assert!(ours < theirs, "{switches} switches, seed {seed}: {ours}, up*/down* {theirs}");
        }
    }
}

#[test]
fn fabrics_over_the_size_limit_and_tables_are_refused() {
    let refused = route(&ring(65, 1), &smart(), Form::Source).unwrap_err();
    assert_eq!(refused, RouteError::TooManySwitches { switches: 65, switches_max: 64 });
    assert_eq!(
        refused.to_string(),
        "smart takes at most 64 switches, this fabric has 65; in-transit and simple-routes take more"
    );
    // Each of 64 switches has cables to 30 others: 64 x 30 x 30 turns.
    let dense = Irregular {
        switches: 64,
        ports: 31,
        hosts_per_switch: 1,
        cables_per_pair_max: 1,
        rails: 1,
    };
    let refused = route(&generated(&Generator::Irregular(dense), 1), &smart(), Form::Source);
    assert_eq!(refused.unwrap_err(), RouteError::TooManyTurns { turns: 57_600, turns_max: 50_000 });
    let refused = route(&ring(3, 1), &smart(), Form::Table).unwrap_err();
    assert_eq!(refused, RouteError::SourceFormOnly { algorithm: "smart" });
}

proptest! {
    #[test]
    fn smart_is_deadlock_free_and_as_connected_as_up_down(plan in any_plan()) {
        let fabric = plan.build();
        let (ours, theirs) = (smart(), up_down(Root::LowestId));
        prop_assert!(busiest(&fabric, &ours) <= busiest(&fabric, &theirs));
        let [ours, theirs] = [ours, theirs].map(|rule| routed(&fabric, &rule, Form::Source));
        for (from, to) in pairs(&fabric) {
            let path = ours.path(&fabric, from, to);
            prop_assert_eq!(path.is_some(), theirs.path(&fabric, from, to).is_some());
            if let Some(path) = path {
                prop_assert_eq!(fabric.source(path.channels()[0]), fabric.endpoint(from));
                prop_assert_eq!(fabric.target(path.channels()[path.channels().len() - 1]), fabric.endpoint(to));
                for pair in path.channels().windows(2) {
                    prop_assert_eq!(fabric.target(pair[0]).node, fabric.source(pair[1]).node);
                    prop_assert!(fabric.node(fabric.source(pair[1]).node).is_switch());
                }
            }
        }
    }
}
