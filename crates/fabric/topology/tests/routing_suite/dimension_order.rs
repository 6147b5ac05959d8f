//! Dimension order on meshes and tori.

use crate::support::{
    FORMS, assert_leads, dimension_order, endpoint, generated, mesh, pairs, ring, routed,
    switch_of, torus, way,
};
use gingham_topology::generate::{FoldedClos, Generator};
use gingham_topology::routing::{
    Algorithm, DimensionOrder, Form, Proof, RouteError, Statistics, Ties, prove, route,
};
use gingham_topology::{Fabric, Grid, GridError};

#[test]
fn dimensions_are_traversed_in_order() {
    let fabric = mesh(&[3, 3]);
    for form in FORMS {
        let routes = routed(&fabric, &dimension_order(), form);
        let expected = "h0-0-0 s0-0 s1-0 s2-0 s2-1 s2-2 h2-2-0";
        assert_eq!(way(&fabric, &routes, "h0-0-0", "h2-2-0"), expected);
        let back = "h2-2-0 s2-2 s1-2 s0-2 s0-1 s0-0 h0-0-0";
        assert_eq!(way(&fabric, &routes, "h2-2-0", "h0-0-0"), back);
    }
}

#[test]
fn ring_hops_take_the_shorter_direction_and_ties_go_up() {
    let fabric = torus(&[4, 5]);
    for form in FORMS {
        let routes = routed(&fabric, &dimension_order(), form);
        let way = |from: &str, to: &str| way(&fabric, &routes, from, to);
        assert_eq!(way("h0-0-0", "h3-0-0"), "h0-0-0 s0-0 s3-0 h3-0-0", "1 hop across");
        assert_eq!(way("h3-0-0", "h1-0-0"), "h3-0-0 s3-0 s0-0 s1-0 h1-0-0", "2 or 2: up");
        assert_eq!(way("h1-0-0", "h3-0-0"), "h1-0-0 s1-0 s2-0 s3-0 h3-0-0", "2 or 2: up");
        assert_eq!(way("h0-1-0", "h0-4-0"), "h0-1-0 s0-1 s0-0 s0-4 h0-4-0", "2 down, not 3 up");
        assert_eq!(way("h0-4-0", "h0-1-0"), "h0-4-0 s0-4 s0-0 s0-1 h0-1-0", "2 up, not 3 down");
    }
}

fn alternating() -> Algorithm {
    Algorithm::DimensionOrder(DimensionOrder { ties: Ties::Alternate })
}

#[test]
fn alternating_ties_go_up_from_even_and_down_from_odd() {
    let fabric = torus(&[4, 5]);
    for form in FORMS {
        let routes = routed(&fabric, &alternating(), form);
        let way = |from: &str, to: &str| way(&fabric, &routes, from, to);
        assert_eq!(way("h0-0-0", "h2-0-0"), "h0-0-0 s0-0 s1-0 s2-0 h2-0-0");
        assert_eq!(way("h2-0-0", "h0-0-0"), "h2-0-0 s2-0 s3-0 s0-0 h0-0-0");
        assert_eq!(way("h1-0-0", "h3-0-0"), "h1-0-0 s1-0 s0-0 s3-0 h3-0-0");
        assert_eq!(way("h3-0-0", "h1-0-0"), "h3-0-0 s3-0 s2-0 s1-0 h1-0-0");
        assert_eq!(way("h0-1-0", "h0-4-0"), "h0-1-0 s0-1 s0-0 s0-4 h0-4-0", "2 down, not 3 up");
    }
}

/// Distinct numbers of paths on channels between switches.
fn loads(fabric: &Fabric, algorithm: &Algorithm) -> Vec<usize> {
    let routes = routed(fabric, algorithm, Form::Table);
    let mut loads = vec![0; fabric.channel_count()];
    for (from, to) in pairs(fabric) {
        let path = routes.path(fabric, from, to).expect("a path for each pair");
        let channels = path.channels();
        channels[1..channels.len() - 1].iter().for_each(|channel| loads[channel.index()] += 1);
    }
    loads.retain(|load| *load > 0);
    loads.sort_unstable();
    loads.dedup();
    loads
}

#[test]
fn alternating_ties_share_the_load_evenly() {
    for k in [4, 8, 12] {
        // Every line of the ring's switches sends into each of its k channels.
        let fabric = torus(&[k, k]);
        let k = k as usize;
        let expected = [k * k * (k - 2) / 8, k * k * (k + 2) / 8];
        assert_eq!(loads(&fabric, &dimension_order()), expected);
        assert_eq!(loads(&fabric, &alternating()), [k * k * k / 8]);
    }
    // In a ring of 6, paths of 1 and 2 load each channel with 3; of the ties that go up from 0, 2
    // and 4 for three channels each, some channels have 1 and the others 2.
    assert_eq!(loads(&torus(&[6, 6]), &alternating()), [6 * (3 + 1), 6 * (3 + 2)]);
}

#[test]
fn alternating_ties_make_rings_of_four_deadlock_free() {
    let length = |fabric: &Fabric, form| match prove(fabric, &routed(fabric, &alternating(), form))
    {
        Proof::Free { .. } => 0,
        Proof::Cycle { buffers } => buffers.len(),
    };
    for (k, expected) in [(4, 0), (5, 5), (6, 6), (8, 8)] {
        for form in FORMS {
            assert_eq!(length(&torus(&[k, k]), form), expected);
        }
    }
}

fn cycle_length(fabric: &Fabric, form: Form) -> usize {
    match prove(fabric, &routed(fabric, &dimension_order(), form)) {
        Proof::Free { .. } => 0,
        Proof::Cycle { buffers } => buffers.len(),
    }
}

#[test]
fn only_tori_larger_than_three_deadlock_round_a_ring() {
    let cases = [
        (mesh(&[4, 4]), 0),
        (mesh(&[2, 3, 4]), 0),
        (torus(&[3, 3]), 0),
        (torus(&[2, 3]), 0),
        (torus(&[4, 4]), 4),
        (torus(&[5, 5]), 5),
        (torus(&[7, 3]), 7),
        (ring(4, 1), 4),
        (ring(6, 1), 6),
    ];
    for (fabric, expected) in cases {
        for form in FORMS {
            assert_eq!(cycle_length(&fabric, form), expected, "{}", fabric.switches().len());
        }
    }
}

#[test]
fn paths_are_shortest_and_in_dimension_order() {
    let fabric = torus(&[4, 3, 5]);
    let grid = Grid::recognise(&fabric).unwrap();
    for form in FORMS {
        let routes = routed(&fabric, &dimension_order(), form);
        for (from, to) in pairs(&fabric) {
            let path = routes.path(&fabric, from, to).unwrap();
            assert_leads(&fabric, path.channels(), from, to);
            let ends = [from, to].map(|end| switch_of(&fabric, end).unwrap());
            let far = |(dimension, size): (usize, &u32)| {
                let [at, goal] = ends.map(|switch| grid.coordinate(switch, dimension));
                at.abs_diff(goal).min(size - at.abs_diff(goal)) as usize
            };
            let hops: usize = grid.dimensions().iter().enumerate().map(far).sum();
            assert_eq!(path.switches(&fabric), hops + 1);
            let dimension_of = |channel| {
                let ends = [fabric.source(channel).node, fabric.target(channel).node];
                let differs = |dimension: &usize| {
                    grid.coordinate(ends[0], *dimension) != grid.coordinate(ends[1], *dimension)
                };
                (0..3).find(differs).unwrap()
            };
            let between = &path.channels()[1..path.channels().len() - 1];
            assert!(between.iter().map(|channel| dimension_of(*channel)).is_sorted());
        }
        assert_eq!(Statistics::new(&fabric, &routes).minimal_share(), Some(1.0));
    }
}

#[test]
fn source_and_table_forms_agree() {
    let fabric = torus(&[4, 4]);
    let [source, table] = FORMS.map(|form| routed(&fabric, &dimension_order(), form));
    for (from, to) in pairs(&fabric) {
        assert_eq!(source.path(&fabric, from, to), table.path(&fabric, from, to));
    }
    assert!(
        source.path(&fabric, endpoint(&fabric, "h0-0-0"), endpoint(&fabric, "h3-3-0")).is_some()
    );
}

#[test]
fn non_grid_fabrics_are_refused_with_the_reason() {
    let clos = FoldedClos { leaves: 2, spines: 2, hosts_per_leaf: 1, cables_per_pair: 1, rails: 1 };
    let fabric = generated(&Generator::FoldedClos(clos), 0);
    let error = route(&fabric, &dimension_order(), Form::Table).unwrap_err();
    assert_eq!(error, RouteError::NotAGrid(Grid::recognise(&fabric).unwrap_err()));
    assert!(error.to_string().starts_with("dimension order needs a mesh or torus: "), "{error}");
    let none = crate::support::fabric(0, &[], &[]);
    let error = route(&none, &dimension_order(), Form::Source).unwrap_err();
    assert_eq!(error, RouteError::NotAGrid(GridError::NoSwitches));
}
