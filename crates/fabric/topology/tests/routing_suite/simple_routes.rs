//! Simple routes: hand-traced detours, and invalid requests.

use crate::support::{fabric, generated, pairs, ring, routed, way};
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{
    Algorithm, Form, PathSpread, RouteError, SimpleRoutes, SpanningTree, Statistics, UpDown, prove,
    route,
};

fn simple(weight: f64, passes: u32) -> Algorithm {
    Algorithm::SimpleRoutes(SimpleRoutes { weight, passes, ..SimpleRoutes::default() })
}

#[test]
fn loaded_channel_diverts_the_next_path() {
    // A triangle, so six channels; h0 and h1 on s1, h2 and h3 on s2, none on the root s0.
    //
    //   h2, h3 to h0   nothing is loaded: straight, load 2
    //   h2, h3 to h1   straight costs 1 + 10 x 2 / (2 / 6) = 61, by s0 (up, down) 2
    //   h0, h1 to h2   the other direction is free: straight
    //   h0, h1 to h3   total 2 + 4 + 2 = 8, straight costs 1 + 10 x 2 / (8 / 6) = 16, by s0 2
    let fabric = fabric(3, &[1, 1, 2, 2], &[(0, 1), (0, 2), (1, 2)]);
    let routes = routed(&fabric, &simple(10.0, 0), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h0"), "h2 s2 s1 h0");
    assert_eq!(way(&fabric, &routes, "h3", "h1"), "h3 s2 s0 s1 h1");
    assert_eq!(way(&fabric, &routes, "h1", "h2"), "h1 s1 s2 h2");
    assert_eq!(way(&fabric, &routes, "h0", "h3"), "h0 s1 s0 s2 h3");
    assert_eq!(Statistics::new(&fabric, &routes).minimal.total(), 4 + 4, "and those of one switch");
    // With 0.3: 1 + 0.3 x 6 = 2.8 for the second, still more than 2, and 1 + 0.3 x 2 / (8 / 6) =
    // 1.45 for the fourth.
    let routes = routed(&fabric, &simple(0.3, 0), Form::Source);
    assert_eq!(way(&fabric, &routes, "h3", "h1"), "h3 s2 s0 s1 h1");
    assert_eq!(way(&fabric, &routes, "h0", "h3"), "h0 s1 s2 h3");
    let routes = routed(&fabric, &simple(0.0, 0), Form::Source);
    assert_eq!(way(&fabric, &routes, "h3", "h1"), "h3 s2 s1 h1");
}

#[test]
fn pass_lays_paths_again_under_the_current_load() {
    // As above with weight 0.3. After laying: s2 -> s1 2, s2 -> s0 -> s1 2 each, s1 -> s2 4.
    //
    //   to h0   taken up, total 8: straight costs 1, and stays
    //   to h1   taken up, total 6: straight 1 + 0.3 x 2 / (6 / 6) = 1.6, less than 2: it is laid so
    let fabric = fabric(3, &[1, 1, 2, 2], &[(0, 1), (0, 2), (1, 2)]);
    let routes = routed(&fabric, &simple(0.3, 1), Form::Source);
    assert_eq!(way(&fabric, &routes, "h3", "h0"), "h3 s2 s1 h0");
    assert_eq!(way(&fabric, &routes, "h3", "h1"), "h3 s2 s1 h1");
}

#[test]
fn hosts_of_a_switch_can_share_simple_routes() {
    let fabric = fabric(3, &[1, 1, 2, 2], &[(0, 1), (0, 2), (1, 2)]);
    let parameters = SimpleRoutes { spread: PathSpread::Switches, ..SimpleRoutes::default() };
    let routes = routed(&fabric, &Algorithm::SimpleRoutes(parameters), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h0"), "h2 s2 s1 h0");
    assert_eq!(way(&fabric, &routes, "h2", "h1"), "h2 s2 s1 h1");
}

#[test]
fn irregular_fabrics_are_deadlock_free_with_either_tree() {
    for seed in 0..4 {
        let shape = Irregular {
            switches: 24,
            ports: 6,
            hosts_per_switch: 2,
            cables_per_pair_max: 2,
            rails: 1,
        };
        let fabric = generated(&Generator::Irregular(shape), seed);
        for tree in [SpanningTree::BreadthFirst, SpanningTree::DepthFirst] {
            let parameters = SimpleRoutes { tree, weight: 2.0, ..SimpleRoutes::default() };
            let algorithm = Algorithm::SimpleRoutes(parameters);
            let routes = routed(&fabric, &algorithm, Form::Source);
            assert_eq!(routes, routed(&fabric, &algorithm, Form::Source));
            assert!(pairs(&fabric).all(|(from, to)| routes.path(&fabric, from, to).is_some()));
            assert!(prove(&fabric, &routes).is_free());
            for form in crate::support::FORMS {
                let up_down = Algorithm::UpDown(UpDown { tree, ..UpDown::default() });
                let routes = routed(&fabric, &up_down, form);
                assert!(pairs(&fabric).all(|(from, to)| routes.path(&fabric, from, to).is_some()));
                assert!(prove(&fabric, &routes).is_free());
            }
        }
    }
}

#[test]
fn table_form_and_invalid_weights_are_refused() {
    let fabric = ring(3, 1);
    let error = route(&fabric, &simple(0.5, 0), Form::Table).unwrap_err();
    assert_eq!(error, RouteError::SourceFormOnly { algorithm: "simple-routes" });
    let expected = "simple-routes gives source routes only, no tables, because its paths depend on where they begin: take the form \"source\"";
    assert_eq!(error.to_string(), expected);
    for (weight, given) in [(-0.1, "-0.1"), (100.5, "100.5"), (f64::NAN, "NaN")] {
        let error = route(&fabric, &simple(weight, 0), Form::Source).unwrap_err();
        assert_eq!(error, RouteError::Weight { given: given.to_owned() });
    }
}
