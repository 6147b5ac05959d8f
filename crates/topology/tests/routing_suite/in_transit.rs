//! In-transit hosts: hand-drawn paths, and what holds on any fabric.

use crate::support::{any_plan, endpoint, fabric, hops, pairs, ring, routed, switch_of, way};
use gingham_topology::routing::{
    Algorithm, Form, InTransit, Path, RouteError, Routes, Spread, TransitHosts, prove, route,
};
use gingham_topology::{EndpointId, Fabric};
use proptest::prelude::*;

fn in_transit(hosts: TransitHosts) -> Algorithm {
    Algorithm::InTransit(InTransit { hosts, ..InTransit::default() })
}

/// The endpoints that take packets in and send them on.
fn hosts_on_the_way(fabric: &Fabric, path: &Path) -> Vec<EndpointId> {
    let ends = path.channels().iter().map(|channel| fabric.target(*channel));
    let mut hosts: Vec<_> = ends.filter_map(|end| fabric.endpoint_at(end)).collect();
    hosts.pop();
    hosts
}

#[test]
fn a_host_stands_where_a_ring_turns_up_again() {
    // Ranks on a ring of six from s0: 0 1 2 3 2 1. From s2 to s4 the short way is down to s3 and
    // up again, so a host of s3 takes the packet in. The other twenty-eight pairs have legal
    // shortest paths; of the three hops from s0 to s3 and from s1 to s4 there are two of each.
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
fn the_hosts_of_a_switch_take_turns() {
    // On the ring of six with two hosts a switch, paths turn at s3 alone (and only there with the
    // fewest turns): h2 and h8 to h4 and to h10, h4 and h10 to h2 and to h8. Destinations are
    // taken as h2, h8, h4, h10, each with two sources: h3, h9, h3, h9.
    let fabric = ring(6, 2);
    let routes = routed(&fabric, &in_transit(TransitHosts::Fewest), Form::Source);
    for (to, from, host) in
        [("h2", "h4", "h3"), ("h8", "h10", "h9"), ("h4", "h8", "h3"), ("h10", "h2", "h9")]
    {
        let (from, to) = (endpoint(&fabric, from), endpoint(&fabric, to));
        let path = routes.path(&fabric, from, to).unwrap();
        assert_eq!(hosts_on_the_way(&fabric, &path), [endpoint(&fabric, host)]);
        assert_eq!(path.switches(&fabric), 4, "s2, s3 twice, s4");
        assert_eq!(path.legs(&fabric).map(<[_]>::len).collect::<Vec<_>>(), [3, 3]);
    }
}

#[test]
fn a_switch_without_hosts_is_gone_round() {
    // Nothing at s3 could take the packet in, so the way from s2 to s4 is that of up*/down*.
    let fabric = fabric(6, &[0, 1, 2, 4, 5], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0)]);
    let routes = routed(&fabric, &in_transit(TransitHosts::Any), Form::Source);
    assert_eq!(way(&fabric, &routes, "h2", "h3"), "h2 s2 s1 s0 s5 s4 h3");
}

#[test]
fn tables_are_refused() {
    let error = route(&ring(3, 1), &in_transit(TransitHosts::Any), Form::Table).unwrap_err();
    assert_eq!(error, RouteError::SourceFormOnly { algorithm: "in-transit" });
}

/// Checks what must hold of any routes with in-transit hosts.
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
        let hosts = hosts_on_the_way(fabric, &path);
        assert!(hosts.iter().all(|host| fabric.is_host_endpoint(*host)));
        assert!(!hosts.contains(&from) && !hosts.contains(&to));
        for pair in path.channels().windows(2) {
            assert_eq!(fabric.target(pair[0]).node, fabric.source(pair[1]).node);
        }
        let between = path.switches(fabric) - 1 - hosts.len();
        assert!(between >= distance);
        assert!(between == distance || !every_switch_has_hosts, "as short as the cables allow");
    }
    assert!(prove(fabric, routes).is_free());
}

proptest! {
    #[test]
    fn any_fabric_gets_sound_routes(plan in any_plan()) {
        let fabric = plan.build();
        for hosts in [TransitHosts::Any, TransitHosts::Fewest] {
            for spread in [Spread::Hosts, Spread::Switches] {
                let parameters = InTransit { hosts, spread, ..InTransit::default() };
                let routes = routed(&fabric, &Algorithm::InTransit(parameters), Form::Source);
                assert_sound(&fabric, &routes);
            }
        }
    }
}
