//! Wrong tables, and their traces.

use crate::support::{
    FORMS, Plan, any_plan, cycle_of, endpoint, fabric, pairs, routed, shortest_path,
};
use gingham_topology::routing::{Routes, Stray, TableRoutes, Trace, prove};
use gingham_topology::{ChannelId, Fabric, NodeId, NodeKind};
use proptest::prelude::*;

/// A line s0 - s1 - s2 with hosts; two hosts on s2, two cables between s0 and s1. Ports of s0: 1
/// h0, 2 and 3 s1. Of s1: 1 h1, 2 and 3 s0, 4 s2. Of s2: 1 h2, 2 h3, 3 s1.
fn line() -> (Fabric, TableRoutes) {
    let fabric = fabric(3, &[0, 1, 2, 2], &[(0, 1), (0, 1), (1, 2)]);
    match routed(&fabric, &shortest_path(), FORMS[1]) {
        Routes::Table(tables) => (fabric, tables),
        Routes::Source(_) => panic!("asked for tables"),
    }
}

fn trace_with(switch: &str, to: &str, port: Option<u16>) -> (Fabric, Routes, Trace) {
    let (fabric, mut tables) = line();
    let switch = fabric.find_node(switch).expect("a switch of the line");
    tables.set_port(switch, endpoint(&fabric, to), port);
    let routes = Routes::Table(tables);
    let trace = routes.trace(&fabric);
    (fabric, routes, trace)
}

fn switches_to(fabric: &Fabric, routes: &Routes, to: &str) -> [Option<usize>; 3] {
    let Routes::Table(tables) = routes else { panic!("these are tables") };
    let to = endpoint(fabric, to);
    [0, 1, 2].map(|switch| tables.switches_to(fabric, NodeId::new(switch), to))
}

#[test]
fn computed_tables_have_no_faults() {
    let (fabric, tables) = line();
    assert_eq!(tables.port(NodeId::new(2), endpoint(&fabric, "h0")), Some(3));
    let routes = Routes::Table(tables);
    assert_eq!(switches_to(&fabric, &routes, "h0"), [1, 2, 3].map(Some));
    assert_eq!(switches_to(&fabric, &routes, "h3"), [3, 2, 1].map(Some));
    let trace = routes.trace(&fabric);
    assert_eq!(trace, Trace { arrived_pairs: 12, unreachable_pairs: 0, faults: vec![] });
}

#[test]
fn mutually_pointing_entries_are_a_loop() {
    // Of the two cables from s0 paths to h1 take the first, those to h2 the second.
    let (fabric, routes, trace) = trace_with("s1", "h2", Some(3));
    assert_eq!(trace.arrived_pairs, 10, "only h3 still reaches h2");
    let [fault] = &trace.faults[..] else { panic!("one fault: {trace:?}") };
    assert_eq!((fault.to, fault.sources), (endpoint(&fabric, "h2"), 2));
    let Stray::Loop(channels) = &fault.stray else { panic!("a loop: {fault:?}") };
    let away = fabric.outgoing(NodeId::new(0), 3).unwrap();
    let back = fabric.outgoing(NodeId::new(1), 3).unwrap();
    assert_eq!(channels, &[away, back]);
    assert_eq!(
        fault.describe(&fabric),
        "packets for h2 go round for ever: s0[3] -> s1[3], s1[3] -> s0[3] \
         (2 sources, one of them h0)"
    );
    // Circulating packets hold channels while they wait for each other.
    let expected = cycle_of(&[away, back]);
    assert_eq!(prove(&fabric, &routes), expected);
    let [from, to] = ["h0", "h2"].map(|name| endpoint(&fabric, name));
    assert_eq!(routes.path(&fabric, from, to), None);
    assert_eq!(switches_to(&fabric, &routes, "h2"), [None, None, Some(1)]);
}

#[test]
fn each_kind_of_black_hole_is_described() {
    let cases = [
        (None, "are lost at s1, which has no entry for it"),
        (Some(9), "are lost at s1, whose entry names port 9, which has no cable"),
        (Some(1), "end at h1 instead"),
    ];
    for (port, expected) in cases {
        let (fabric, routes, trace) = trace_with("s1", "h3", port);
        assert_eq!((trace.arrived_pairs, trace.unreachable_pairs), (10, 0));
        let [fault] = &trace.faults[..] else { panic!("one fault: {trace:?}") };
        let text = format!("packets for h3 {expected} (2 sources, one of them h0)");
        assert_eq!(fault.describe(&fabric), text);
        let [from, to] = ["h0", "h3"].map(|name| endpoint(&fabric, name));
        assert_eq!(routes.path(&fabric, from, to), None);
        assert_eq!(switches_to(&fabric, &routes, "h3"), [None, None, Some(1)]);
        assert!(prove(&fabric, &routes).is_free());
    }
}

#[test]
fn unused_looping_entries_are_no_fault() {
    // No endpoint is on s2 and s3; their entries for h0 point at each other.
    let fabric = fabric(4, &[0, 1], &[(0, 1), (1, 2), (2, 3)]);
    let Routes::Table(mut tables) = routed(&fabric, &shortest_path(), FORMS[1]) else {
        panic!("asked for tables");
    };
    // Ports of s1: 1 h1, 2 s0, 3 s2. Of s2: 1 s1, 2 s3. Of s3: 1 s2.
    let h0 = endpoint(&fabric, "h0");
    tables.set_port(NodeId::new(2), h0, Some(2));
    tables.set_port(NodeId::new(3), h0, Some(1));
    let routes = Routes::Table(tables.clone());
    assert_eq!(routes.trace(&fabric).faults, vec![]);
    assert!(prove(&fabric, &routes).is_free());
    // Once s1 sends to s2 they are met.
    tables.set_port(NodeId::new(1), h0, Some(3));
    let routes = Routes::Table(tables);
    assert_eq!(routes.trace(&fabric).faults.len(), 1);
    assert!(!prove(&fabric, &routes).is_free());
}

#[test]
fn loop_cable_of_a_switch_is_a_loop_and_a_cycle() {
    let fabric = fabric(1, &[0, 0], &[(0, 0)]);
    let Routes::Table(mut tables) = routed(&fabric, &shortest_path(), FORMS[1]) else {
        panic!("asked for tables");
    };
    tables.set_port(NodeId::new(0), endpoint(&fabric, "h1"), Some(3));
    let routes = Routes::Table(tables);
    let own = fabric.outgoing(NodeId::new(0), 3).unwrap();
    assert_eq!(routes.trace(&fabric).faults[0].stray, Stray::Loop(vec![own]));
    assert_eq!(prove(&fabric, &routes), cycle_of(&[own]));
}

#[test]
fn islands_are_counted_but_are_no_fault() {
    let residents = [0, 0, 1].map(|switch| (NodeKind::Host, switch)).to_vec();
    let fabric = Plan { switches: 2, residents, cables: vec![], peers: 1 }.build();
    for form in FORMS {
        let trace = routed(&fabric, &shortest_path(), form).trace(&fabric);
        // Of 20 ordered pairs, h0 - h1 and p0 - p1 are joined, each both ways.
        assert_eq!(trace, Trace { arrived_pairs: 4, unreachable_pairs: 16, faults: vec![] });
    }
}

proptest! {
    #[test]
    fn any_table_can_be_traced(
        plan in any_plan(),
        ports in proptest::collection::vec(0..8_u16, 1..60),
    ) {
        let fabric = plan.build();
        let mut tables = TableRoutes::new(&fabric);
        let mut ports = ports.iter().cycle();
        for switch in fabric.switches() {
            for to in fabric.endpoint_ids() {
                tables.set_port(switch, to, ports.next().copied());
            }
        }
        let routes = Routes::Table(tables);
        let trace = routes.trace(&fabric);
        let joined = pairs(&fabric).filter(|(from, to)| routes.path(&fabric, *from, *to).is_some());
        prop_assert_eq!(trace.arrived_pairs, joined.count() as u64);
        let mut looping = trace.faults.iter().filter_map(|fault| match &fault.stray {
            Stray::Loop(channels) => Some(channels),
            _ => None,
        });
        let follows =
            |pair: &[ChannelId]| fabric.target(pair[0]).node == fabric.source(pair[1]).node;
        prop_assert!(looping.clone().all(|channels| channels.windows(2).all(follows)));
        if looping.next().is_some() {
            prop_assert!(!prove(&fabric, &routes).is_free());
        }
    }
}
