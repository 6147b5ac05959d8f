//! Up*/down*: hand-drawn detours, and legality as a property.

use crate::support::{
    FORMS, any_plan, assert_leads, fabric, generated, joins_switches, pairs, ring, routed,
    switch_of, up_channels, up_down, way,
};
use gingham_topology::generate::{Generator, Irregular, Torus};
use gingham_topology::routing::{Form, Root, RouteError, Statistics, prove, route};
use gingham_topology::{ChannelId, Fabric, NodeId};
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

#[test]
fn no_path_turns_from_down_to_up() {
    // Ranks on a ring of six from s0: 0 1 2 3 2 1. From s2 to s4 the short path is down to s3 and
    // up again; the legal one goes by s0. Other pairs keep their distance.
    let fabric = ring(6, 1);
    for form in FORMS {
        let routes = routed(&fabric, &up_down(Root::LowestId), form);
        assert_eq!(way(&fabric, &routes, "h2", "h4"), "h2 s2 s1 s0 s5 s4 h4");
        assert_eq!(way(&fabric, &routes, "h4", "h2"), "h4 s4 s5 s0 s1 s2 h2");
        assert_eq!(way(&fabric, &routes, "h1", "h4"), "h1 s1 s0 s5 s4 h4");
        assert_eq!(way(&fabric, &routes, "h3", "h5"), "h3 s3 s4 s5 h5");
        let statistics = Statistics::new(&fabric, &routes);
        assert_eq!(statistics.minimal.total(), 28, "all but two of thirty");
    }
}

#[test]
fn up_direction_of_equal_ranks_is_the_lower_id() {
    // s1, s2 and s3 have rank 1, and s1 is above the others: from s2 by s1 to s3 is up and down.
    let fabric = fabric(4, &[0, 1, 2, 3], &[(0, 1), (0, 2), (0, 3), (1, 2), (1, 3)]);
    for form in FORMS {
        let routes = routed(&fabric, &up_down(Root::LowestId), form);
        assert_eq!(way(&fabric, &routes, "h1", "h2"), "h1 s1 s2 h2");
        assert_eq!(way(&fabric, &routes, "h2", "h1"), "h2 s2 s1 h1");
        let two_hops = way(&fabric, &routes, "h2", "h3");
        assert!(["h2 s2 s0 s3 h3", "h2 s2 s1 s3 h3"].contains(&two_hops.as_str()), "{two_hops}");
    }
    // With the highest number the middle switch is below both, and s0 is the only way.
    let fabric = self::fabric(4, &[0, 1, 2, 3], &[(0, 1), (0, 2), (0, 3), (1, 3), (2, 3)]);
    for form in FORMS {
        let routes = routed(&fabric, &up_down(Root::LowestId), form);
        assert_eq!(way(&fabric, &routes, "h1", "h2"), "h1 s1 s0 s2 h2");
        assert_eq!(way(&fabric, &routes, "h2", "h1"), "h2 s2 s0 s1 h1");
    }
}

/// A ring of six with chords from s3 to s1 and s5. Sums of hops: s0 8, s1 7, s2 8, s3 6.
fn chorded() -> Fabric {
    let cables = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (3, 1), (3, 5)];
    fabric(6, &[0, 1, 2, 3, 4, 5], &cables)
}

#[test]
fn root_is_selectable() {
    let fabric = chorded();
    let by_s0 = "h1 s1 s0 s5 h5";
    let by_s3 = "h1 s1 s3 s5 h5";
    let cases = [
        (Root::LowestId, by_s0),
        (Root::SmallestTotalDistance, by_s3),
        (Root::Named("s3".into()), by_s3),
        (Root::Named("0000000000000001".into()), by_s0),
    ];
    for (root, expected) in cases {
        for form in FORMS {
            let routes = routed(&fabric, &up_down(root.clone()), form);
            assert_eq!(way(&fabric, &routes, "h1", "h5"), expected, "{root:?}");
        }
    }
}

#[test]
fn unknown_root_is_an_error_with_a_suggestion() {
    let fabric = chorded();
    let error = |name: &str| {
        let root = Root::Named(name.into());
        route(&fabric, &up_down(root), Form::Source).unwrap_err()
    };
    let expected = "the root \"ss3\" is not a node of this fabric; did you mean \"s3\"?";
    assert_eq!(error("ss3").to_string(), expected);
    let far = error("backbone");
    assert_eq!(far, RouteError::UnknownRoot { name: "backbone".to_owned(), nearest: None });
    assert_eq!(far.to_string(), "the root \"backbone\" is not a node of this fabric");
    assert_eq!(error("h2").to_string(), "the root \"h2\" is not a switch");
}

#[test]
fn each_island_has_a_root() {
    // Two rings of four; the named root is in the second.
    let cables = [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)];
    let fabric = fabric(8, &[0, 1, 2, 3, 4, 5, 6, 7], &cables);
    for form in FORMS {
        let routes = routed(&fabric, &up_down(Root::Named("s6".into())), form);
        assert_eq!(way(&fabric, &routes, "h1", "h3"), "h1 s1 s0 s3 h3", "not by s2");
        assert_eq!(way(&fabric, &routes, "h5", "h7"), "h5 s5 s6 s7 h7", "not by s4");
        assert_eq!(way(&fabric, &routes, "h1", "h5"), "none");
        assert!(prove(&fabric, &routes).is_free());
    }
}

/// Hops of the shortest legal path to every other switch, searched forwards.
fn legal_hops(fabric: &Fabric, up: &BTreeSet<ChannelId>, from: NodeId) -> Vec<Option<usize>> {
    let mut best = vec![None; fabric.switches().len()];
    let mut seen = BTreeSet::new();
    let mut queue = VecDeque::from([(from, false, 0)]);
    while let Some((switch, has_gone_down, hops)) = queue.pop_front() {
        if !seen.insert((switch, has_gone_down)) {
            continue;
        }
        let best = &mut best[switch.index()];
        *best = (*best).or(Some(hops));
        for channel in fabric.channels_from(switch).filter(|c| joins_switches(fabric, *c)) {
            let goes_up = up.contains(&channel);
            if !(has_gone_down && goes_up) {
                queue.push_back((fabric.target(channel).node, !goes_up, hops + 1));
            }
        }
    }
    best
}

fn assert_legal(fabric: &Fabric) {
    let up = up_channels(fabric);
    let legal: Vec<_> = fabric.switches().map(|from| legal_hops(fabric, &up, from)).collect();
    for form in FORMS {
        let routes = routed(fabric, &up_down(Root::LowestId), form);
        for (from, to) in pairs(fabric) {
            let ends = (switch_of(fabric, from), switch_of(fabric, to));
            let (Some(first), Some(last)) = ends else { continue };
            let path = routes.path(fabric, from, to);
            let Some(fewest) = legal[first.index()][last.index()] else {
                assert_eq!(path, None);
                continue;
            };
            let path = path.expect("up to the root and down again is always legal");
            assert_leads(fabric, path.channels(), from, to);
            let between = &path.channels()[1..path.channels().len() - 1];
            assert!(between.is_sorted_by_key(|channel| !up.contains(channel)), "up, then down");
            assert!(between.len() >= fewest);
            assert!(form == Form::Table || between.len() == fewest, "as short as legal");
        }
        assert!(prove(fabric, &routes).is_free());
        assert_eq!(routes.trace(fabric).faults, vec![]);
    }
}

#[test]
fn path_never_goes_up_after_down_at_equal_distance() {
    // From s1 down to s3, it is two hops to s5 by s4, all down, and two by s2, up and down.
    let cables = [(0, 1), (0, 2), (1, 3), (2, 3), (2, 4), (2, 5), (3, 4), (4, 5)];
    let hosts: Vec<_> = (0..18).map(|host| host % 6).collect();
    assert_legal(&fabric(6, &hosts, &cables));
}

#[test]
fn irregular_fabrics_have_legal_routes() {
    for seed in 0..8 {
        let shape = Irregular {
            switches: 24,
            ports: 6,
            hosts_per_switch: 2,
            cables_per_pair_max: 2,
            rails: 1,
        };
        assert_legal(&generated(&Generator::Irregular(shape), seed));
    }
}

proptest! {
    #[test]
    fn any_fabric_has_legal_routes(plan in any_plan()) {
        assert_legal(&plan.build());
    }
}

#[test]
fn longest_up_down_routes_of_small_tori_match_the_paper() {
    // Kwan et al. 1996, section 3.2: at most 3 switches on the 3x3 torus, equal to its diameter,
    // and 6 or 7 on the 5x5 "due to the up/down routing", with a diameter of 5.
    for (side, longest) in [(3, 3), (5, 7)] {
        let torus = Torus { dimensions: vec![side, side], hosts_per_switch: 4, rails: 1 };
        let fabric = generated(&Generator::Torus(torus), 0);
        for form in FORMS {
            let routes = routed(&fabric, &up_down(Root::LowestId), form);
            let lengths = routes.lengths(&fabric);
            let found = lengths.iter().flatten().flatten().max().copied();
            assert_eq!(found, Some(longest), "{side}x{side}");
        }
    }
}
