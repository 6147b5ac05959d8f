//! Packets that choose at every switch: which channels they may take, and the proof over all of
//! them.

use crate::support::{FORMS, dimension_order, generated, mesh, routed, shortest_path, torus};
use gingham_topology::generate::{Generator, KAryNTree};
use gingham_topology::routing::{
    Algorithm, Buffer, BufferId, DatelineRule, Datelines, DependencyGraph, Ejection, LaneSet,
    Lanes, Proof, RouteSet, Routes, TableRoutes, UpDown, prove,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

fn adaptive(fabric: &Fabric, algorithm: &Algorithm) -> TableRoutes {
    let Routes::Table(tables) = routed(fabric, algorithm, FORMS[1]) else { panic!("tables") };
    tables.made_adaptive(fabric).expect("ways are shortest")
}

/// The dependencies, and whether there is no cycle.
fn verdict(fabric: &Fabric, tables: &TableRoutes, lanes: &Lanes) -> (DependencyGraph, bool) {
    let routes = [Routes::Table(tables.clone())];
    let set = RouteSet { routes: &routes, lanes: Some(lanes), ejection: Ejection::Always };
    let is_free = matches!(prove(fabric, set), Proof::Free { .. });
    (DependencyGraph::new(fabric, set), is_free)
}

fn first_n(count: u8) -> [LaneSet; 1] {
    [LaneSet::first_n(count)]
}

fn channel(fabric: &Fabric, from: &str, to: &str) -> ChannelId {
    let ends = [from, to].map(|name| fabric.find_node(name).expect("a switch of this name"));
    let joins =
        |channel: &ChannelId| [fabric.source(*channel).node, fabric.target(*channel).node] == ends;
    ChannelId::first(fabric.channel_count()).find(joins).expect("they are joined")
}

fn buffers(graph: &DependencyGraph) -> Vec<(Buffer, Vec<Buffer>)> {
    let of = |held| {
        let after = graph.successors(held).into_iter().map(|wanted| graph.buffer(wanted));
        (graph.buffer(held), after.collect())
    };
    BufferId::first(graph.buffer_count()).map(of).collect()
}

#[test]
fn a_square_by_hand() {
    // s0-0, s0-1, s1-0, s1-1. Only the four diagonal pairs take two channels, each by either way
    // round: all eight turns, four of them clockwise.
    let fabric = mesh(&[2, 2]);
    let tables = adaptive(&fabric, &dimension_order());
    let (graph, is_free) = verdict(&fabric, &tables, &Lanes::free(&first_n(1)));
    assert_eq!((graph.dependency_count(), is_free), (8, false));
    // On lane 0 a packet goes from the first dimension to the second alone: four turns. Lane 1 has
    // none, since whoever is there may leave it by lane 0.
    let (graph, is_free) = verdict(&fabric, &tables, &Lanes::with_escape(None, &first_n(2), 1));
    assert_eq!((graph.dependency_count(), is_free), (4, true));
    for (held, after) in buffers(&graph) {
        assert!(after.is_empty() || held.lane == 0, "{held:?} {after:?}");
        assert!(after.iter().all(|wanted| wanted.lane == 0));
    }
}

#[test]
fn who_went_on_adaptively_waits_for_an_escape_lane_farther_on() {
    // From s0-0 to s2-1: on the escape lane to s1-0, then adaptively to s1-1, from where the tables
    // lead to s2-1.
    let fabric = mesh(&[3, 2]);
    let tables = adaptive(&fabric, &dimension_order());
    let (graph, is_free) = verdict(&fabric, &tables, &Lanes::with_escape(None, &first_n(2), 1));
    assert!(is_free);
    let held = Buffer { channel: channel(&fabric, "s0-0", "s1-0"), lane: 0 };
    let wanted = Buffer { channel: channel(&fabric, "s1-1", "s2-1"), lane: 0 };
    let found = buffers(&graph).into_iter().find(|(buffer, _)| *buffer == held);
    assert!(found.is_some_and(|(_, after)| after.contains(&wanted)));
}

#[test]
fn grids_need_escape_lanes_and_rings_two_classes_of_them() {
    for fabric in [mesh(&[4, 4]), mesh(&[3, 2, 3]), torus(&[3, 3])] {
        let tables = adaptive(&fabric, &dimension_order());
        assert!(!verdict(&fabric, &tables, &Lanes::free(&first_n(4))).1);
        assert!(verdict(&fabric, &tables, &Lanes::with_escape(None, &first_n(2), 1)).1);
    }
    for dimensions in [&[4, 4][..], &[5, 3], &[6], &[5, 4]] {
        let fabric = torus(dimensions);
        let tables = adaptive(&fabric, &dimension_order());
        let datelines = |rule| Some(Datelines::new(&fabric, rule).expect("a torus"));
        let free = |datelines, count| {
            verdict(&fabric, &tables, &Lanes::with_escape(datelines, &first_n(4), count)).1
        };
        assert!(!free(None, 2), "{dimensions:?}");
        assert!(!free(datelines(DatelineRule::ByWrap), 1), "{dimensions:?}");
        assert!(free(datelines(DatelineRule::ByWrap), 2), "{dimensions:?}");
        assert!(free(datelines(DatelineRule::ByWrap), 3), "{dimensions:?}");
    }
}

#[test]
fn lanes_that_are_for_the_escape_of_one_class_and_chosen_by_another_count_for_both() {
    let fabric = mesh(&[3, 3]);
    let tables = adaptive(&fabric, &dimension_order());
    let sets = |of: [&[u8]; 2]| of.map(|lanes| lanes.iter().copied().collect::<LaneSet>());
    let free =
        |sets: [LaneSet; 2]| verdict(&fabric, &tables, &Lanes::with_escape(None, &sets, 1)).1;
    assert!(free(sets([&[0, 1], &[0, 2]])));
    assert!(free(sets([&[0, 1], &[2, 3]])));
    // Lane 1 is the first class's to choose and the way out of the second, which waits there for
    // packets of the first, and these get out by lane 0.
    let shared = Lanes::with_escape(None, &sets([&[0, 1], &[1, 2]]), 1);
    let (graph, is_free) = verdict(&fabric, &tables, &shared);
    assert!(is_free);
    let leads = |from, to| {
        let from_lane = move |(held, _): &&(Buffer, Vec<Buffer>)| held.lane == from;
        let all = buffers(&graph);
        all.iter().filter(from_lane).any(|(_, after)| after.iter().any(|of| of.lane == to))
    };
    assert!(leads(0, 0) && leads(1, 1) && leads(1, 0) && !leads(0, 1));
    assert!(buffers(&graph).iter().all(|(held, after)| held.lane < 2 || after.is_empty()));
}

#[test]
fn trees_are_free_on_all_lanes_with_every_way_up() {
    let k = 3;
    let tree = KAryNTree { arity: k, levels: 3 };
    let fabric = generated(&Generator::KAryNTree(tree), 0);
    let tables = adaptive(&fabric, &Algorithm::UpDown(UpDown::default()));
    for count in [1, 4] {
        assert!(verdict(&fabric, &tables, &Lanes::free(&first_n(count))).1);
    }
    // A packet that has to climb l levels has k ways at each of them, and one way down.
    let switch_of = |host: EndpointId| fabric.target(fabric.endpoint_channel(host)).node;
    let ways = |from: NodeId, to: EndpointId| {
        let mut ways = vec![from];
        let mut counts = Vec::new();
        while ways[0] != switch_of(to) {
            counts.push(tables.onward(&fabric, ways[0], to).count());
            let onward = |node: &NodeId| tables.onward(&fabric, *node, to).collect::<Vec<_>>();
            ways = ways.iter().flat_map(onward).map(|(of, _)| fabric.target(of).node).collect();
        }
        (ways.len(), counts)
    };
    let hosts: Vec<EndpointId> = fabric.endpoint_ids().collect();
    let mut seen = [0_usize; 3];
    for to in &hosts[1..] {
        let (count, choices) = ways(switch_of(hosts[0]), *to);
        let climbed = choices.len() / 2;
        assert_eq!(count, (k as usize).pow(u32::try_from(climbed).unwrap()));
        let expected = [vec![k as usize; climbed], vec![1; climbed]].concat();
        assert_eq!(choices, expected);
        seen[climbed] += 1;
    }
    // Two hosts beside it, six in its subtree, eighteen elsewhere.
    assert_eq!(seen, [2, 6, 18]);
}

#[test]
fn ways_that_are_not_shortest_are_told() {
    let fabric = crate::support::ring(6, 1);
    let Routes::Table(tables) = routed(&fabric, &Algorithm::UpDown(UpDown::default()), FORMS[1])
    else {
        panic!("tables")
    };
    let (switch, to) = tables.made_adaptive(&fabric).expect_err("up*/down* goes round by the root");
    assert!(fabric.node(switch).is_switch() && fabric.endpoint_name(to).starts_with('h'));
    let Routes::Table(tables) = routed(&fabric, &shortest_path(), FORMS[1]) else {
        panic!("tables")
    };
    assert!(!tables.are_adaptive() && tables.made_adaptive(&fabric).unwrap().are_adaptive());
}
