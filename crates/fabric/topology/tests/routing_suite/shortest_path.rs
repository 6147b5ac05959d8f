//! Shortest path, and properties of the routes of every algorithm.

use crate::support::{
    FORMS, Plan, any_plan, assert_leads, endpoint, fabric, generated, hops, pairs, ring, routed,
    shortest_path, switch_of, way,
};
use gingham_kernel::Length;
use gingham_topology::format::{self, Format};
use gingham_topology::generate::{FoldedClos, Generator};
use gingham_topology::routing::{
    Algorithm, Form, PathWeight, RouteError, Routes, ShortestPath, Statistics, prove, route,
    route_within,
};
use gingham_topology::{Fabric, NodeKind};
use proptest::prelude::*;

#[test]
fn paths_along_a_line_of_switches_are_shortest() {
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

fn by_latency(hop_mm: Option<u64>) -> Algorithm {
    let hop_length = hop_mm.map(Length::from_mm);
    Algorithm::ShortestPath(ShortestPath { weight: PathWeight::Latency, hop_length })
}

fn anynet(text: &str) -> Fabric {
    format::read(text, Format::Anynet).expect("an anynet file").fabric
}

#[test]
fn least_latency_path_avoids_a_long_cable() {
    // BookSim's `min` of this file goes from router 0 to router 1 over router 2: 1 + 1 cycles, not
    // 9.
    let fabric = anynet(include_str!("../fixtures/weighted.anynet"));
    for form in FORMS {
        let by_hops = routed(&fabric, &shortest_path(), form);
        assert_eq!(way(&fabric, &by_hops, "h0", "h1"), "h0 s0 s1 h1");
        let by_latency = routed(&fabric, &by_latency(None), form);
        assert_eq!(way(&fabric, &by_latency, "h0", "h1"), "h0 s0 s2 s1 h1");
        assert_eq!(way(&fabric, &by_latency, "h1", "h0"), "h1 s1 s2 s0 h0");
        assert!(prove(&fabric, &by_latency).is_free());
    }
    // A channel of 8 m against two of 0 m: equal costs at 8 m per hop, and fewer channels win.
    for (hop_mm, expected) in
        [(7_999, "h0 s0 s2 s1 h1"), (8_000, "h0 s0 s1 h1"), (9_000, "h0 s0 s1 h1")]
    {
        let routes = routed(&fabric, &by_latency(Some(hop_mm)), Form::Source);
        assert_eq!(way(&fabric, &routes, "h0", "h1"), expected, "{hop_mm} mm a hop");
    }
}

#[test]
fn paths_of_equal_latency_are_balanced() {
    // Over s2 or s3 2 + 2 cycles, over s4 more.
    let text = "router 0 node 0 node 1 node 2 node 3 router 2 2 router 3 3 router 4 5\n\
                router 1 node 4 node 5 node 6 node 7 router 2 2 router 3 1 router 4 5\n";
    let fabric = anynet(text);
    for form in FORMS {
        let routes = routed(&fabric, &by_latency(None), form);
        let over = |switch: &str| {
            let hosts = || (0..4).flat_map(|from| (4..8).map(move |to| (from, to)));
            let ways = hosts()
                .map(|(from, to)| way(&fabric, &routes, &format!("h{from}"), &format!("h{to}")));
            ways.filter(|way| way.contains(switch)).count()
        };
        assert_eq!((over("s2"), over("s3"), over("s4")), (8, 8, 0));
    }
}

#[test]
fn cycle_of_latency_routes_is_found() {
    // A ring of five, whose shortest paths wait for each other.
    let line =
        |switch: usize| format!("router {switch} node {switch} router {} 3", (switch + 1) % 5);
    let text = (0..5).map(line).collect::<Vec<_>>().join("\n");
    let fabric = anynet(&text);
    for form in FORMS {
        assert!(!prove(&fabric, &routed(&fabric, &by_latency(None), form)).is_free());
    }
}

#[test]
fn unknown_latencies_are_refused_with_the_parameter() {
    // One of two cables between switches has a length.
    let text = "[[switch]]\nname = \"a\"\nports = 4\n[[switch]]\nname = \"b\"\nports = 4\n\
                [[host]]\nname = \"h\"\n\
                [[cable]]\nends = [\"a[1]\", \"b[1]\"]\nlength = \"5 m\"\n\
                [[cable]]\nends = [\"a[2]\", \"b[2]\"]\n[[cable]]\nends = [\"a[3]\", \"h[1]\"]\n";
    let fabric = format::read(text, Format::Toml).expect("a fabric").fabric;
    let error = route(&fabric, &by_latency(None), Form::Source).unwrap_err();
    let first = ["a[2]", "b[2]"].map(str::to_owned);
    assert_eq!(error, RouteError::UnknownLengths { unknown: 1, cables: 2, first });
    assert_eq!(error.parameter(), Some("shortest-path.weight"));
    let of_hops = ShortestPath { hop_length: Some(Length::from_mm(1)), ..ShortestPath::default() };
    let error = route(&fabric, &Algorithm::ShortestPath(of_hops), Form::Source).unwrap_err();
    assert_eq!(error.parameter(), Some("shortest-path.hop_length"));
}

#[test]
fn differing_lengths_are_noted_for_hop_weights() {
    let fabric = anynet(include_str!("../fixtures/weighted.anynet"));
    let note = shortest_path().note_of_lengths(&fabric).expect("lengths differ");
    assert!(note.starts_with("lengths-differ: "), "{note}");
    assert!(note.contains("from 0 mm to 8 m"), "{note}");
    assert_eq!(by_latency(None).note_of_lengths(&fabric), None);
    assert_eq!(shortest_path().note_of_lengths(&ring(5, 1)), None, "all are 1 m");
}

#[test]
fn direct_pairs_have_paths_and_islands_none() {
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
fn routes_beyond_the_memory_limit_are_refused() {
    let hosts: Vec<_> = (0..14_200).collect();
    let fabric = fabric(14_200, &hosts, &[]);
    // Without cables between switches: in source form a port and a length for each switch and
    // destination switch, in table form a port.
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
    // Each of the three hosts of s1 is reached by one cable.
    let fabric = fabric(2, &[0, 0, 1, 1, 1], &[(0, 1), (0, 1), (0, 1)]);
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        let mut loads: Vec<_> =
            statistics.busiest.iter().map(|c| statistics.channel_paths[c.index()]).collect();
        loads.sort_unstable();
        // Towards s1 two hosts send on each; back, h0 and h1 take one cable for each of the three.
        assert_eq!(loads, [2, 2, 2, 3, 3]);
    }
}

#[test]
fn through_paths_count_equally_in_load_balancing() {
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
fn folded_clos_is_loaded_evenly() {
    let clos = FoldedClos { leaves: 4, spines: 4, hosts_per_leaf: 4, cables_per_pair: 1, rails: 1 };
    let fabric = generated(&Generator::FoldedClos(clos), 0);
    for form in FORMS {
        let statistics = Statistics::new(&fabric, &routed(&fabric, &shortest_path(), form));
        // 4 hosts send to 12 others over 4 cables.
        assert_eq!(statistics.max_channel_paths(), 12, "{form:?}");
        assert_eq!(statistics.mean_channel_paths(), Some(12.0));
        assert_eq!(statistics.all_to_all.map(|bound| bound.fraction), Some(1.0), "full bisection");
    }
}

#[test]
fn next_hops_follow_the_path() {
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
    fn every_connected_pair_has_a_shortest_path(plan in any_plan()) {
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
                    let peer_end = fabric.target(fabric.endpoint_channel(from));
                    (peer_end == fabric.endpoint(to)).then_some(0)
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
