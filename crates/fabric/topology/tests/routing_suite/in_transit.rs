//! In-transit hosts: hand-drawn paths, and properties of any fabric.

use crate::support::{
    any_plan, endpoint, fabric, generated, hops, pairs, ring, routed, switch_of, way,
};
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{
    Algorithm, Form, InTransit, Path, PathSpread, Root, RouteError, Routes, SpanningTree,
    Statistics, TransitHosts, prove, route,
};
use gingham_topology::{EndpointId, Fabric, FabricBuilder, Guid, NodeKind};
use proptest::prelude::*;

fn in_transit(hosts: TransitHosts) -> Algorithm {
    Algorithm::InTransit(InTransit { hosts, ..InTransit::default() })
}

fn in_transit_hosts(fabric: &Fabric, path: &Path) -> Vec<EndpointId> {
    let ends = path.channels().iter().map(|channel| fabric.target(*channel));
    let mut hosts: Vec<_> = ends.filter_map(|end| fabric.endpoint_at(end)).collect();
    hosts.pop();
    hosts
}

#[test]
fn in_transit_host_is_at_the_down_to_up_turn() {
    // Ranks on a ring of six from s0: 0 1 2 3 2 1. From s2 to s4 the short path is down to s3 and
    // up: a host of s3 takes the packet in. The other 28 pairs have legal shortest paths; of the
    // three hops from s0 to s3 and from s1 to s4 there are two of each.
    let fabric = ring(6, 1);
    for hosts in [TransitHosts::Any, TransitHosts::Fewest] {
        let routes = routed(&fabric, &in_transit(hosts), Form::Source);
        assert_eq!(way(&fabric, &routes, "h2", "h4"), "h2 s2 s3 h3 s3 s4 h4");
        assert_eq!(way(&fabric, &routes, "h4", "h2"), "h4 s4 s3 h3 s3 s2 h2");
        assert_eq!(way(&fabric, &routes, "h1", "h5"), "h1 s1 s0 s5 h5");
        assert!(prove(&fabric, &routes).is_free());
    }
    // From s1 to s4 by s0 and s5 is up and down; by s2 and s3 it turns at s3.
    let routes = routed(&fabric, &in_transit(TransitHosts::Fewest), Form::Source);
    assert_eq!(way(&fabric, &routes, "h1", "h4"), "h1 s1 s0 s5 s4 h4");
}

#[test]
fn hosts_of_a_switch_alternate_as_in_transit_hosts() {
    // With two hosts a switch, paths turn at s3 alone: h2 and h8 to h4 and to h10, and back.
    // Destinations come as h2, h8, h4, h10, each with two sources: h3, h9, h3, h9.
    let fabric = ring(6, 2);
    let routes = routed(&fabric, &in_transit(TransitHosts::Fewest), Form::Source);
    for (to, from, host) in
        [("h2", "h4", "h3"), ("h8", "h10", "h9"), ("h4", "h8", "h3"), ("h10", "h2", "h9")]
    {
        let (from, to) = (endpoint(&fabric, from), endpoint(&fabric, to));
        let path = routes.path(&fabric, from, to).unwrap();
        assert_eq!(in_transit_hosts(&fabric, &path), [endpoint(&fabric, host)]);
        assert_eq!(path.switches(&fabric), 4, "s2, s3 twice, s4");
        assert_eq!(path.legs(&fabric).map(<[_]>::len).collect::<Vec<_>>(), [3, 3]);
    }
}

#[test]
fn loaded_channel_diverts_a_path_through_a_host() {
    // Ring of four, ranks 0 1 2 1 from s0. Loads of channels as paths are laid, by destination:
    //
    //   h0: h1 by s1s0. h2: by s1 the busiest has 1, by s3 0, so s2s3 s3s0. h3 by s3s0, now 2.
    //   h1: h0 by s0s1, h2 by s2s1. h3: by s0 the busiest has 2 (s3s0), by s2 1 (s2s1), so
    //       s3s2 s2s1, which turns from down to up at s2.
    //   h2: h0: by s1 0 + 1, by s3 0 + 1, no turns: the lower channel, s0s1 s1s2. h1 and h3
    //   straight. h3: h0 straight. h1: by s0 1 and 1, by s2 2 (s1s2 of h0 and h1), so s1s0 s0s3. h2
    //   straight.
    let fabric = ring(4, 1);
    let with = |hosts| Algorithm::InTransit(InTransit { hosts, passes: 0, ..InTransit::default() });
    let routes = routed(&fabric, &with(TransitHosts::Any), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h0"), "h2 s2 s3 s0 h0");
    assert_eq!(way(&fabric, &routes, "h3", "h1"), "h3 s3 s2 h2 s2 s1 h1");
    assert_eq!(way(&fabric, &routes, "h0", "h2"), "h0 s0 s1 s2 h2");
    assert_eq!(way(&fabric, &routes, "h1", "h3"), "h1 s1 s0 s3 h3");
    // With the fewest in-transit hosts h3 goes by the root.
    let routes = routed(&fabric, &with(TransitHosts::Fewest), Form::Source);
    assert_eq!(way(&fabric, &routes, "h3", "h1"), "h3 s3 s0 s1 h1");
    assert_eq!(way(&fabric, &routes, "h1", "h3"), "h1 s1 s0 s3 h3");
}

#[test]
fn two_port_host_reinjects_on_the_arrival_port() {
    // The only host near s3 is on s3 by its second port and on s0 by its first.
    let mut builder = FabricBuilder::new();
    let switches: Vec<_> = (0..6_u64)
        .map(|n| builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(n + 1), 8))
        .collect();
    let twin = builder.add_plain(NodeKind::Host, "twin", Guid(100), 2);
    let mut ends = vec![(twin, switches[0]), (twin, switches[3])];
    for n in [1, 2, 4, 5] {
        let host = builder.add_plain(NodeKind::Host, &format!("h{n}"), Guid(100 + n), 1);
        ends.push((host, switches[usize::try_from(n).unwrap()]));
    }
    ends.extend((0..6).map(|n| (switches[n], switches[(n + 1) % 6])));
    for (a, b) in ends {
        let ports = [a, b].map(|node| builder.free_port(node).expect("a free port"));
        builder.add_cable([(a, ports[0]), (b, ports[1])], None, None).expect("free ports");
    }
    let fabric = builder.build();
    let routes = routed(&fabric, &in_transit(TransitHosts::Any), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h4"), "h2 s2 s3 twin s3 s4 h4");
    let path = routes.path(&fabric, endpoint(&fabric, "h2"), endpoint(&fabric, "h4")).unwrap();
    assert_eq!(in_transit_hosts(&fabric, &path), [endpoint(&fabric, "twin[2]")]);
    assert_sound(&fabric, &routes);
}

#[test]
fn switch_without_hosts_is_bypassed() {
    // No host at s3: the path from s2 to s4 is that of up*/down*.
    let fabric = fabric(6, &[0, 1, 2, 4, 5], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
    let routes = routed(&fabric, &in_transit(TransitHosts::Any), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h3"), "h2 s2 s1 s0 s5 s4 h3");
    let Routes::Source(routes) = routes else { panic!("asked for source routes") };
    assert_eq!(routes.fall_backs().pairs, 2, "h2 and h3 to each other");
    let names = routes.fall_backs().switches.iter().map(|s| fabric.node(*s).name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["s3"]);
}

#[test]
fn fall_backs_name_only_switches_lacking_a_host() {
    // A ring of eight falls from s0 both ways to s4. From s2 to s5 it is down over s3 and s4, and
    // up: neither has a host, but only at s4 would one help. Two hosts of s2 and one of s5 go by
    // s0.
    let cables = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7), (7, 0)];
    let fabric = fabric(8, &[0, 1, 2, 2, 5, 6, 7], &cables);
    let routes = routed(&fabric, &in_transit(TransitHosts::Any), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h4"), "h2 s2 s1 s0 s7 s6 s5 h4");
    let Routes::Source(routes) = routes else { panic!("asked for source routes") };
    assert_eq!(routes.fall_backs().pairs, 4, "h2 and h3 to h4, and back");
    let names = routes.fall_backs().switches.iter().map(|s| fabric.node(*s).name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["s4"]);
}

#[test]
fn shared_path_loads_its_host_once_per_source() {
    // Paths turn at s3 between s2, with one host, and s4, with three. That to h2 is taken by three
    // hosts and goes by h3; then h4 takes those to h5, h6 and h7, one each.
    let cables = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)];
    let fabric = fabric(6, &[0, 1, 2, 3, 3, 4, 4, 4, 5], &cables);
    let routes = routed(&fabric, &in_transit(TransitHosts::Fewest), Form::Source);
    let ends = [("h5", "h2", "h3"), ("h2", "h5", "h4"), ("h2", "h6", "h4"), ("h2", "h7", "h4")];
    for (from, to, host) in ends {
        let [from, to, host] = [from, to, host].map(|name| endpoint(&fabric, name));
        let path = routes.path(&fabric, from, to).unwrap();
        assert_eq!(in_transit_hosts(&fabric, &path), [host]);
    }
}

#[test]
fn path_may_revisit_a_switch_to_reach_a_host() {
    // The path from s1 to s0 would turn at s2, which has no host; the packet continues down to s3,
    // into its host, and back up through s2.
    //
    //   s4 root ─ s5 ─ s6 ─ s7 ─ s8 ─ s0     s0 is far from the root by itself, and above s2
    //      └──── s9 ─ s10 ─ s11 ─ s12 ─ s1   as s1 is; s2 hangs under both, s3 under s2
    let cables = [
        (4, 5),
        (5, 6),
        (6, 7),
        (7, 8),
        (8, 0),
        (4, 9),
        (9, 10),
        (10, 11),
        (11, 12),
        (12, 1),
        (0, 2),
        (1, 2),
        (2, 3),
    ];
    let fabric = fabric(13, &[0, 1, 3], &cables);
    let root = Root::Named("s4".into());
    let algorithm = Algorithm::InTransit(InTransit { root, ..InTransit::default() });
    let routes = routed(&fabric, &algorithm, Form::Source);
    assert_eq!(way(&fabric, &routes, "h1", "h0"), "h1 s1 s2 s3 h2 s3 s2 s0 h0");
    assert_eq!(way(&fabric, &routes, "h0", "h1"), "h0 s0 s2 s3 h2 s3 s2 s1 h1");
    assert!(prove(&fabric, &routes).is_free());
    let Routes::Source(routes) = routes else { panic!("asked for source routes") };
    assert_eq!(routes.fall_backs().pairs, 2);
}

#[test]
fn irregular_fabrics_have_sound_routes_with_either_tree() {
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
            let parameters =
                InTransit { tree, root: Root::LargestTotalDistance, ..InTransit::default() };
            let algorithm = Algorithm::InTransit(parameters);
            let routes = routed(&fabric, &algorithm, Form::Source);
            assert_sound(&fabric, &routes);
            assert_eq!(routes, routed(&fabric, &algorithm, Form::Source));
        }
    }
}

#[test]
fn table_form_is_refused() {
    let error = route(&ring(3, 1), &in_transit(TransitHosts::Any), Form::Table).unwrap_err();
    assert_eq!(error, RouteError::SourceFormOnly { algorithm: "in-transit" });
}

#[test]
fn passes_never_increase_the_busiest_channel_load() {
    for seed in 0..4 {
        let shape = Irregular {
            switches: 24,
            ports: 6,
            hosts_per_switch: 2,
            cables_per_pair_max: 2,
            rails: 1,
        };
        let fabric = generated(&Generator::Irregular(shape), seed);
        let busiest = |passes| {
            let parameters = InTransit { passes, ..InTransit::default() };
            let routes = routed(&fabric, &Algorithm::InTransit(parameters), Form::Source);
            Statistics::new(&fabric, &routes).max_channel_paths()
        };
        let by_passes: Vec<_> = (0..6).map(busiest).collect();
        assert!(by_passes.is_sorted_by(|before, after| before >= after), "{by_passes:?}");
        assert!(by_passes[5] < by_passes[0], "{by_passes:?}");
    }
}

fn assert_sound(fabric: &Fabric, routes: &Routes) {
    let hops = hops(fabric);
    let has_host = |switch: usize| {
        let hosts = fabric.endpoint_ids().filter(|host| fabric.is_host_endpoint(*host));
        hosts.filter_map(|host| switch_of(fabric, host)).any(|own| own.index() == switch)
    };
    let every_switch_has_hosts = (0..fabric.switches().len()).all(has_host);
    for (from, to) in pairs(fabric) {
        let (Some(first), Some(last)) = (switch_of(fabric, from), switch_of(fabric, to)) else {
            continue;
        };
        let path = routes.path(fabric, from, to);
        let Some(distance) = hops[first.index()][last.index()] else {
            assert_eq!(path, None);
            continue;
        };
        let path = path.expect("cables join them");
        let hosts = in_transit_hosts(fabric, &path);
        assert!(hosts.iter().all(|host| fabric.is_host_endpoint(*host)));
        assert!(!hosts.contains(&from) && !hosts.contains(&to));
        for pair in path.channels().windows(2) {
            let (arrives, leaves) = (fabric.target(pair[0]), fabric.source(pair[1]));
            assert_eq!(arrives.node, leaves.node, "a channel begins where the one before ends");
            assert!(fabric.node(arrives.node).is_switch() || arrives == leaves, "the same port");
        }
        let between = path.switches(fabric) - 1 - hosts.len();
        assert!(between >= distance);
        assert!(between == distance || !every_switch_has_hosts, "as short as the cables allow");
    }
    assert!(prove(fabric, routes).is_free());
}

proptest! {
    #[test]
    fn any_fabric_has_sound_in_transit_routes(plan in any_plan()) {
        let fabric = plan.build();
        for hosts in [TransitHosts::Any, TransitHosts::Fewest] {
            for spread in [PathSpread::Hosts, PathSpread::Switches] {
                let parameters = InTransit { hosts, spread, ..InTransit::default() };
                let routes = routed(&fabric, &Algorithm::InTransit(parameters), Form::Source);
                assert_sound(&fabric, &routes);
            }
        }
    }
}
