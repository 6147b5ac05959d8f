//! The deadlock proof on well-known fabrics, and verdicts checked from the paths alone.

use crate::support::{
    FORMS, Plan, any_plan, channels_of, endpoint, fabric, generated, joins_switches, pairs, ring,
    routed, shortest_path, up_down, wild_tables,
};
use gingham_topology::generate::{FoldedClos, Generator, KAryNTree};
use gingham_topology::routing::{
    BufferId, DependencyGraph, Path, Proof, Root, Routes, TableRoutes, cycle_witnesses,
    describe_cycle, prove, prove_between_hosts,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeKind};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Successive channels on the paths between certain endpoints.
pub(crate) fn turns(
    fabric: &Fabric,
    routes: &Routes,
    counts: impl Fn(EndpointId) -> bool,
) -> BTreeSet<(ChannelId, ChannelId)> {
    let paths = pairs(fabric)
        .filter(|(from, to)| counts(*from) && counts(*to))
        .filter_map(|(from, to)| routes.path(fabric, from, to));
    let turns =
        |path: Path| path.channels().windows(2).map(|pair| (pair[0], pair[1])).collect::<Vec<_>>();
    paths.flat_map(turns).collect()
}

pub(crate) fn least_cycle(turns: &BTreeSet<(ChannelId, ChannelId)>) -> Option<Vec<ChannelId>> {
    let mut after: BTreeMap<ChannelId, Vec<ChannelId>> = BTreeMap::new();
    for (from, to) in turns {
        after.entry(*from).or_default().push(*to);
    }
    let mut walks: Vec<Vec<ChannelId>> = after.keys().map(|start| vec![*start]).collect();
    while !walks.is_empty() {
        // Walks stay in lexicographic order.
        let next = |walk: &Vec<ChannelId>| after.get(walk.last().expect("a walk begins")).cloned();
        if let Some(cycle) =
            walks.iter().find(|walk| next(walk).is_some_and(|n| n.contains(&walk[0])))
        {
            return Some(cycle.clone());
        }
        walks = walks
            .iter()
            .flat_map(|walk| {
                let onward = next(walk).unwrap_or_default().into_iter();
                let onward = onward.filter(|next| *next > walk[0] && !walk.contains(next));
                onward.map(|next| [walk.clone(), vec![next]].concat()).collect::<Vec<_>>()
            })
            .collect();
    }
    None
}

fn assert_proved(fabric: &Fabric, routes: &Routes) {
    let turns = turns(fabric, routes, |_| true);
    match prove(fabric, routes) {
        Proof::Free { order } => {
            for (from, to) in &turns {
                assert!(order[from.index()] < order[to.index()], "{from:?} before {to:?}");
            }
        }
        Proof::Cycle { buffers } => {
            let channels = channels_of(&buffers);
            assert_eq!(least_cycle(&turns), Some(channels.clone()));
            for (place, witness) in cycle_witnesses(fabric, routes, &buffers).iter().enumerate() {
                let (from, to) = witness.expect("some route makes the dependency");
                let path = routes.path(fabric, from, to).expect("a witness has a path");
                let pair = [channels[place], channels[(place + 1) % channels.len()]];
                assert!(path.channels().windows(2).any(|taken| taken == pair));
            }
        }
    }
}

proptest! {
    #[test]
    fn verdicts_with_full_hosts_hold_on_any_fabric(plan in any_plan()) {
        let fabric = plan.build();
        for algorithm in [shortest_path(), up_down(Root::SmallestTotalDistance)] {
            for form in FORMS {
                assert_proved(&fabric, &routed(&fabric, &algorithm, form));
            }
        }
    }

    #[test]
    fn dependencies_are_the_turns_of_all_paths(plan in any_plan()) {
        let fabric = plan.build();
        for form in FORMS {
            let routes = routed(&fabric, &shortest_path(), form);
            let all = DependencyGraph::new(&fabric, &routes);
            prop_assert_eq!(dependencies(&all), switch_turns(&fabric, &routes, |_| true));
            let hosts = DependencyGraph::between_hosts(&fabric, &routes);
            let is_host = |endpoint| fabric.is_host_endpoint(endpoint);
            prop_assert_eq!(dependencies(&hosts), switch_turns(&fabric, &routes, is_host));
        }
    }
}

proptest! {
    #[test]
    fn dependencies_of_random_tables_match_all_paths(
        plan in any_plan(),
        numbers in proptest::collection::vec(0..8_u16, 301),
    ) {
        let fabric = plan.build();
        let tables = wild_tables(&fabric, &numbers);
        let strays = |counts: &dyn Fn(EndpointId) -> bool, loops: bool| {
            let mut turns = BTreeSet::new();
            for (from, to) in pairs(&fabric).filter(|(from, to)| counts(*from) && counts(*to)) {
                let (way, is_loop) = stray_way(&fabric, &tables, from, to);
                if loops || !is_loop {
                    turns.extend(way.windows(2).map(|pair| (pair[0], pair[1])));
                }
            }
            turns.into_iter().collect::<Vec<_>>()
        };
        let routes = Routes::Table(tables.clone());
        let is_host = |endpoint| fabric.is_host_endpoint(endpoint);
        let graphs = [
            (DependencyGraph::new(&fabric, &routes), strays(&|_| true, true)),
            (DependencyGraph::between_hosts(&fabric, &routes), strays(&is_host, true)),
            (DependencyGraph::without_loops(&fabric, &routes), strays(&|_| true, false)),
        ];
        for (graph, expected) in graphs {
            prop_assert_eq!(dependencies(&graph), expected);
        }
    }
}

/// Channels until packets stop or close a loop, and whether they loop.
fn stray_way(
    fabric: &Fabric,
    tables: &TableRoutes,
    from: EndpointId,
    to: EndpointId,
) -> (Vec<ChannelId>, bool) {
    let mut way = Vec::new();
    let mut node = fabric.target(fabric.endpoint_channel(from)).node;
    // Tables have no entries for destinations without a switch.
    let last = fabric.target(fabric.endpoint_channel(to)).node;
    if !fabric.node(last).is_switch() {
        return (way, false);
    }
    while fabric.node(node).is_switch() {
        let port = tables.port(node, to);
        let Some(channel) = port.and_then(|port| fabric.outgoing(node, port)) else { break };
        if !joins_switches(fabric, channel) {
            break;
        }
        let is_loop = way.contains(&channel);
        way.push(channel);
        if is_loop {
            return (way, true);
        }
        node = fabric.target(channel).node;
    }
    (way, false)
}

fn dependencies(graph: &DependencyGraph) -> Vec<(ChannelId, ChannelId)> {
    let channel = |id| graph.buffer(id).channel;
    let from = |id| graph.successors(id).into_iter().map(move |next| (channel(id), channel(next)));
    let all: Vec<_> = BufferId::first(graph.buffer_count()).flat_map(from).collect();
    assert_eq!(all.len(), graph.dependency_count());
    all
}

fn switch_turns(
    fabric: &Fabric,
    routes: &Routes,
    counts: impl Fn(EndpointId) -> bool,
) -> Vec<(ChannelId, ChannelId)> {
    let between = |(from, to): &(ChannelId, ChannelId)| {
        joins_switches(fabric, *from) && joins_switches(fabric, *to)
    };
    turns(fabric, routes, counts).into_iter().filter(between).collect()
}

#[test]
fn ring_has_a_cycle_of_its_own_length() {
    // On a ring of four, opposite switches have two shortest paths; with two hosts a switch, both
    // are used.
    for (switches, hosts) in [(4, 2), (5, 1), (6, 1), (7, 2), (8, 1)] {
        let fabric = ring(switches, hosts);
        for form in FORMS {
            let Proof::Cycle { buffers } = prove(&fabric, &routed(&fabric, &shortest_path(), form))
            else {
                panic!("a ring of {switches} deadlocks");
            };
            assert_eq!(buffers.len(), switches);
        }
    }
    for form in FORMS {
        let fabric = ring(3, 2);
        assert!(prove(&fabric, &routed(&fabric, &shortest_path(), form)).is_free());
    }
}

#[test]
fn shortest_paths_in_trees_are_deadlock_free() {
    let clos = FoldedClos { leaves: 4, spines: 3, hosts_per_leaf: 2, cables_per_pair: 2, rails: 1 };
    let tree = KAryNTree { arity: 2, levels: 3, rails: 1 };
    for generator in [Generator::FoldedClos(clos), Generator::KAryNTree(tree)] {
        let fabric = generated(&generator, 0);
        for form in FORMS {
            let routes = routed(&fabric, &shortest_path(), form);
            assert!(prove(&fabric, &routes).is_free());
            assert_proved(&fabric, &routes);
        }
    }
}

#[test]
fn only_aggregation_nodes_on_spines_close_a_cycle() {
    // A ring, in turn, of three leaves with a host and three spines with an aggregation node. Hosts
    // send up and down; aggregation nodes down and up.
    for first_leaf in [0, 1] {
        let is_leaf = |n: usize| n % 2 == first_leaf;
        let kind = |n| if is_leaf(n) { NodeKind::Host } else { NodeKind::Aggregation };
        let residents = (0..6).map(|n| (kind(n), n)).collect();
        let cables = (0..6).map(|n| (n, (n + 1) % 6)).collect();
        let fabric = Plan { switches: 6, residents, cables, peers: 0 }.build();
        for form in FORMS {
            let routes = routed(&fabric, &shortest_path(), form);
            assert!(prove_between_hosts(&fabric, &routes).is_free());
            let Proof::Cycle { buffers } = prove(&fabric, &routes) else {
                panic!("all six switches turn packets");
            };
            assert_eq!(buffers.len(), 6);
            assert_proved(&fabric, &routes);
            let witnesses = cycle_witnesses(&fabric, &routes, &buffers);
            for (channel, witness) in channels_of(&buffers).iter().zip(witnesses) {
                let (from, to) = witness.expect("some route makes the dependency");
                let by_hosts = fabric.is_host_endpoint(from) && fabric.is_host_endpoint(to);
                let at_spine = !is_leaf(fabric.target(*channel).node.index());
                assert_eq!(by_hosts, at_spine, "hosts turn at spines only");
            }
        }
    }
}

#[test]
fn cycle_witnesses_are_hosts_if_possible() {
    // A ring of s1 to s5; beyond s5 is s0, whose aggregation node is the first destination.
    let hosts = (1..6).map(|n| (NodeKind::Host, n));
    let residents = hosts.chain([(NodeKind::Aggregation, 0)]).collect();
    let cables = vec![(1, 2), (2, 3), (3, 4), (4, 5), (5, 1), (5, 0)];
    let fabric = Plan { switches: 6, residents, cables, peers: 0 }.build();
    for form in FORMS {
        let routes = routed(&fabric, &shortest_path(), form);
        let Proof::Cycle { buffers } = prove(&fabric, &routes) else { panic!("a ring of five") };
        let witnesses = cycle_witnesses(&fabric, &routes, &buffers);
        let are_hosts = |witness: &Option<(EndpointId, EndpointId)>| {
            witness.is_some_and(|(from, to)| {
                [from, to].map(|end| fabric.is_host_endpoint(end)) == [true; 2]
            })
        };
        assert!(witnesses.iter().all(are_hosts), "{witnesses:?}");
    }
}

#[test]
fn cycle_is_described_channel_by_channel() {
    // Every host sends two switches on.
    let fabric = fabric(5, &[0, 1, 2, 3, 4], &[(0, 1), (1, 2), (2, 3), (3, 4), (4, 0)]);
    let routes = routed(&fabric, &shortest_path(), FORMS[1]);
    let Proof::Cycle { buffers } = prove(&fabric, &routes) else {
        panic!("a ring of five deadlocks");
    };
    insta::assert_snapshot!(describe_cycle(&fabric, &routes, &buffers), @"
    s0[2] -> s1[2]   then the next, from h0 to h2
    s1[3] -> s2[2]   then the next, from h1 to h3
    s2[3] -> s3[2]   then the next, from h2 to h4
    s3[3] -> s4[2]   then the next, from h3 to h0
    s4[3] -> s0[3]   then the next, from h4 to h1
    s0[2] -> s1[2]   closes the cycle
    ");
    let witness = cycle_witnesses(&fabric, &routes, &buffers)[0];
    assert_eq!(witness, Some((endpoint(&fabric, "h0"), endpoint(&fabric, "h2"))));
}
