//! Shortest path, and what holds for the routes of every algorithm.

use crate::support::{
    FORMS, Plan, any_plan, assert_leads, endpoint, fabric, generated, hops, pairs, ring, routed,
    shortest_path, switch_of, way,
};
use gingham_topology::NodeKind;
use gingham_topology::generate::{FoldedClos, Generator};
use gingham_topology::routing::{Form, Routes, Statistics, route_within};
use proptest::prelude::*;

#[test]
fn a_line_of_switches() {
    let fabric = fabric(3, &[0, 0, 2], &[(0, 1), (1, 2)]);
    for form in FORMS {
        let routes = routed(&fabric, &shortest_path(), form);
        assert_eq!(way(&fabric, &routes, "h0", "h2"), "h0 s0 s1 s2 h2");
        assert_eq!(way(&fabric, &routes, "h2", "h1"), "h2 s2 s1 s0 h1");
        assert_eq!(way(&fabric, &routes, "h0", "h1"), "h0 s0 h1", "both hang on s0");
        assert_eq!(way(&fabric, &routes, "h0", "h0"), "none", "a packet to oneself needs no route");
        let path = routes.path(&fabric, endpoint(&fabric, "h0"), endpoint(&fabric, "h2")).unwrap();
        assert_eq!(path.switches(&fabric), 3);
        assert_eq!(path.legs(&fabric).collect::<Vec<_>>(), [path.channels()]);
    }
}

#[test]
fn pairs_without_switches_and_islands() {
    let residents = [(NodeKind::Host, 0), (NodeKind::Router, 1), (NodeKind::Aggregation, 1)];
    let plan = Plan { switches: 2, residents: residents.to_vec(), cables: vec![], peers: 1 };
    let fabric = plan.build();
    for form in FORMS {
        let routes = routed(&fabric, &shortest_path(), form);
        assert_eq!(way(&fabric, &routes, "p0", "p1"), "p0 p1");
        assert_eq!(way(&fabric, &routes, "p0", "h0"), "none");
        assert_eq!(way(&fabric, &routes, "h0", "p0"), "none");
        assert_eq!(way(&fabric, &routes, "h0", "h1"), "none", "two islands");
        assert_eq!(way(&fabric, &routes, "h1", "h2"), "h1 s1 h2", "a router sends, too");
    }
}

#[test]
fn more_routes_than_memory_would_hold_are_refused() {
    let hosts: Vec<_> = (0..14_200).collect();
    let fabric = fabric(14_200, &hosts, &[]);
    // Nothing joins the switches, so that there is nothing to choose: in source form a port and a
    // length for each switch and destination switch, in table form a port.
    let cases = [
        (
            Form::Source,
            "403 MB (403 MB for the ports of 14200 switches toward 14200 switches)",
            ", or take the form \"table\"",
        ),
        (Form::Table, "201 MB (201 MB for the ports of 14200 switches toward 14200 hosts)", ""),
    ];
    for (form, needed, cure) in cases {
        let error = route_within(&fabric, &shortest_path(), form, 150_000_000).unwrap_err();
        let expected = format!(
            "these routes would take about {needed}, and may take 150 MB: allow more (memory_max){cure}"
        );
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn parallel_cables_share_the_load() {
    // Three cables; each of the three hosts of s1 is reached by one of its own.
    let fabric = fabric(2, &[0, 0, 1, 1, 1], &[(0, 1), (0, 1), (0, 1)]);
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        let mut loads: Vec<_> =
            statistics.busiest.iter().map(|c| statistics.channel_paths[c.index()]).collect();
        loads.sort_unstable();
        // Towards s1 two hosts send on each; back, h0 and h1 take one cable each of the three.
        assert_eq!(loads, [2, 2, 2, 3, 3]);
    }
}

#[test]
fn paths_that_only_come_through_weigh_as_much_as_others() {
    // A ring of five with two cables from s1 to s2, which carry 3 paths (of h0, h1, h2) to h3 and
    // one (of h2) to each of h4, h5 and h6 on s3.
    let cables = [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (4, 0)];
    let fabric = fabric(5, &[0, 0, 1, 2, 3, 3, 3], &cables);
    let [s1, s2] = ["s1", "s2"].map(|name| fabric.find_node(name).unwrap());
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        let to_s2 = fabric.channels_from(s1).filter(|c| fabric.target(*c).node == s2);
        let loads: Vec<_> = to_s2.map(|c| statistics.channel_paths[c.index()]).collect();
        assert_eq!(loads, [3, 3], "{form:?}");
    }
}

#[test]
fn a_folded_clos_is_loaded_evenly() {
    let clos = FoldedClos { leaves: 4, spines: 4, hosts_per_leaf: 4, cables_per_pair: 1 };
    let fabric = generated(&Generator::FoldedClos(clos), 0);
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        // 4 hosts send to 12 others over 4 cables; the same number comes back.
        assert_eq!(statistics.max_channel_paths(), 12, "{form:?}");
        assert_eq!(statistics.mean_channel_paths(), Some(12.0));
        assert_eq!(statistics.all_to_all.map(|bound| bound.fraction), Some(1.0), "full bisection");
    }
}

#[test]
fn a_path_can_be_followed_hop_by_hop() {
    let fabric = ring(5, 2);
    for form in FORMS {
        let routes = routed(&fabric, &shortest_path(), form);
        for (from, to) in pairs(&fabric) {
            let path = routes.path(&fabric, from, to).unwrap();
            for pair in path.channels().windows(2) {
                assert_eq!(routes.next(&fabric, from, to, pair[0]), Some(pair[1]));
            }
            assert_eq!(routes.next(&fabric, from, to, *path.channels().last().unwrap()), None);
        }
    }
}

proptest! {
    #[test]
    fn every_pair_that_cables_join_has_a_path_and_it_is_shortest(plan in any_plan()) {
        let fabric = plan.build();
        let hops = hops(&fabric);
        for form in FORMS {
            let routes = routed(&fabric, &shortest_path(), form);
            for (from, to) in pairs(&fabric) {
                let path = routes.path(&fabric, from, to);
                let ends = (switch_of(&fabric, from), switch_of(&fabric, to));
                let switches = if let (Some(first), Some(last)) = ends {
                    hops[first.index()][last.index()].map(|hops| hops + 1)
                } else {
                    let far_end = fabric.target(fabric.endpoint_channel(from));
                    (far_end == fabric.endpoint(to)).then_some(0)
                };
                prop_assert_eq!(path.as_ref().map(|path| path.switches(&fabric)), switches);
                if let Some(path) = path {
                    assert_leads(&fabric, path.channels(), from, to);
                }
            }
        }
    }

    #[test]
    fn hosts_of_a_switch_share_their_paths(plan in any_plan()) {
        let fabric = plan.build();
        let Routes::Source(routes) = routed(&fabric, &shortest_path(), FORMS[0]) else {
            panic!("asked for source routes");
        };
        let all = Routes::Source(routes.clone());
        for (from, to) in pairs(&fabric) {
            if let Some(switch) = switch_of(&fabric, from) {
                let path = all.path(&fabric, from, to);
                let onward = path.as_ref().map(|path| path.channels()[1..].to_vec());
                let kept = routes.path(&fabric, switch, to).map(|kept| kept.iter().collect::<Vec<_>>());
                prop_assert_eq!(onward, kept);
            }
        }
    }
}
