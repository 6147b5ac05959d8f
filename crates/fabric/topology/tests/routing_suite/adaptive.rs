//! Adaptive packets: their permitted channels, and the proof over all of them.

use crate::support::{FORMS, dimension_order, generated, mesh, routed, shortest_path, torus};
use gingham_topology::generate::{Generator, KAryNTree};
use gingham_topology::routing::{
    Algorithm, Buffer, BufferId, Choice, DatelineRule, Datelines, DependencyGraph, EscapeError,
    LaneSet, Lanes, LongerPath, Proof, RouteSet, Routes, TableRoutes, UpDown, cycle_witnesses,
    describe_cycle, prove,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, NodeId};

fn adaptive(fabric: &Fabric, algorithm: &Algorithm) -> TableRoutes {
    let Routes::Table(tables) = routed(fabric, algorithm, FORMS[1]) else { panic!("tables") };
    tables.made_adaptive(fabric).expect("ways are shortest")
}

fn verdict(fabric: &Fabric, tables: &TableRoutes, lanes: &Lanes) -> (DependencyGraph, bool) {
    let routes = [Routes::Table(tables.clone())];
    let set = RouteSet::new(&routes, Some(lanes));
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
fn adaptive_2x2_mesh_matches_hand_computed_dependencies() {
    // Only the four diagonal pairs take two channels, by either way round: all eight turns, four of
    // them clockwise.
    let fabric = mesh(&[2, 2]);
    let tables = adaptive(&fabric, &dimension_order());
    let (graph, is_free) = verdict(&fabric, &tables, &Lanes::free(&first_n(1)));
    assert_eq!((graph.dependency_count(), is_free), (8, false));
    // On lane 0 packets turn from the first dimension to the second alone: four turns. Packets on
    // lane 1 may leave it by lane 0.
    let (graph, is_free) = verdict(&fabric, &tables, &Lanes::with_escape(None, &first_n(2), 1));
    assert_eq!((graph.dependency_count(), is_free), (4, true));
    for (held, after) in buffers(&graph) {
        assert!(after.is_empty() || held.lane == 0, "{held:?} {after:?}");
        assert!(after.iter().all(|wanted| wanted.lane == 0));
    }
}

#[test]
fn adaptive_hops_create_indirect_escape_dependencies() {
    // From s0-0 to s2-1: on the escape lane to s1-0, adaptively to s1-1, and by the tables to s2-1.
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
fn adaptive_grids_need_escape_lanes_and_tori_two_classes() {
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
fn lanes_shared_as_escape_and_adaptive_count_for_both() {
    let fabric = mesh(&[3, 3]);
    let tables = adaptive(&fabric, &dimension_order());
    let sets = |of: [&[u8]; 2]| of.map(|lanes| lanes.iter().copied().collect::<LaneSet>());
    let free =
        |sets: [LaneSet; 2]| verdict(&fabric, &tables, &Lanes::with_escape(None, &sets, 1)).1;
    assert!(free(sets([&[0, 1], &[0, 2]])));
    assert!(free(sets([&[0, 1], &[2, 3]])));
    // Lane 1 is adaptive in class 0 and the escape of class 1, whose packets wait there for packets
    // of class 0; these escape by lane 0.
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
fn adaptive_trees_are_deadlock_free_with_all_up_paths() {
    let k = 3;
    let tree = KAryNTree { arity: k, levels: 3, rails: 1 };
    let fabric = generated(&Generator::KAryNTree(tree), 0);
    let tables = adaptive(&fabric, &Algorithm::UpDown(UpDown::default()));
    for count in [1, 4] {
        assert!(verdict(&fabric, &tables, &Lanes::free(&first_n(count))).1);
    }
    // A packet that climbs l levels has k ways at each, and one way down.
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
    // On the leaf, in the subtree, elsewhere.
    assert_eq!(seen, [2, 6, 18]);
}

#[test]
fn non_shortest_routes_are_refused_as_adaptive() {
    let fabric = crate::support::ring(6, 1);
    let Routes::Table(tables) = routed(&fabric, &Algorithm::UpDown(UpDown::default()), FORMS[1])
    else {
        panic!("tables")
    };
    let longer = tables.made_adaptive(&fabric).expect_err("up*/down* goes round by the root");
    let LongerPath { switch, to } = longer;
    let ends = format!(
        "from {} to {} by none of them",
        fabric.node(switch).name,
        fabric.endpoint_name(to)
    );
    assert!(longer.describe(&fabric).contains(&ends));
    assert!(fabric.node(switch).is_switch() && fabric.endpoint_name(to).starts_with('h'));
    let Routes::Table(tables) = routed(&fabric, &shortest_path(), FORMS[1]) else {
        panic!("tables")
    };
    assert!(!tables.are_adaptive() && tables.made_adaptive(&fabric).unwrap().are_adaptive());
}

/// One output in each remaining dimension of a grid; in a tree any upwards, one downwards.
#[test]
fn adaptive_output_choices_are_counted() {
    let of = |fabric: &Fabric, algorithm: &Algorithm| {
        let choice = Choice::new(fabric, &adaptive(fabric, algorithm));
        (choice.mean_outputs, choice.max_outputs)
    };
    // To each of 16 hosts from 6 switches in line with it and 9 others.
    assert_eq!(of(&mesh(&[4, 4]), &dimension_order()), (Some((6.0 + 2.0 * 9.0) / 15.0), 2));
    let tree = generated(&Generator::KAryNTree(KAryNTree { arity: 4, levels: 2, rails: 1 }), 1);
    // From 3 leaves over any of 4 roots, and from each root.
    assert_eq!(of(&tree, &shortest_path()), (Some((3.0 * 4.0 + 4.0) / 7.0), 4));
    let Routes::Table(tables) = routed(&tree, &shortest_path(), FORMS[1]) else { panic!("tables") };
    assert_eq!(Choice::new(&tree, &tables).max_outputs, 1, "on tables nobody chooses");
    let alone = crate::support::fabric(1, &[0, 0], &[]);
    assert_eq!(of(&alone, &shortest_path()), (None, 0));
}

#[test]
fn escape_lane_count_matches_dimension_order() {
    let lanes = |fabric: &Fabric, needs, count, asked| {
        Lanes::of_choosing(fabric, needs, &[LaneSet::first_n(count)], asked)
    };
    let (grid, wrapped) = (mesh(&[4, 4]), torus(&[4, 4]));
    let sets = [LaneSet::first_n(4)];
    assert_eq!(lanes(&grid, true, 4, None), Ok(Lanes::with_escape(None, &sets, 1)));
    let datelines = Datelines::new(&wrapped, DatelineRule::ByWrap).ok();
    assert_eq!(lanes(&wrapped, true, 4, None), Ok(Lanes::with_escape(datelines, &sets, 2)));
    // Rings of three are cliques: no packet continues past a dateline.
    assert_eq!(lanes(&torus(&[3, 3]), true, 4, None), Ok(Lanes::with_escape(None, &sets, 1)));
    for without in [lanes(&grid, false, 4, None), lanes(&wrapped, true, 4, Some(0))] {
        assert_eq!(without, Ok(Lanes::free(&sets)));
    }
    for (refused, why) in [
        (lanes(&wrapped, true, 4, Some(1)), EscapeError::OneOnRings),
        (lanes(&grid, true, 4, Some(16)), EscapeError::OutOfRange(16)),
        (lanes(&grid, true, 4, Some(-1)), EscapeError::OutOfRange(-1)),
        (lanes(&grid, true, 1, None), EscapeError::NoneLeft { lanes: 1, escape: 1 }),
        (lanes(&grid, true, 3, Some(3)), EscapeError::NoneLeft { lanes: 3, escape: 3 }),
    ] {
        assert_eq!(refused, Err(why));
    }
}

fn ways_on(
    fabric: &Fabric,
    tables: &TableRoutes,
    from: NodeId,
    to: EndpointId,
) -> Vec<Vec<ChannelId>> {
    let onward: Vec<ChannelId> =
        tables.onward(fabric, from, to).map(|(channel, _)| channel).collect();
    let longer = |channel: ChannelId| {
        let next = fabric.target(channel).node;
        let rest = if fabric.node(next).is_switch() {
            ways_on(fabric, tables, next, to)
        } else {
            vec![vec![]]
        };
        rest.into_iter().map(move |rest| [vec![channel], rest].concat())
    };
    onward.into_iter().flat_map(longer).collect()
}

#[test]
fn each_cycle_step_has_a_witness_host_pair() {
    let datelines = |fabric: &Fabric| Datelines::new(fabric, DatelineRule::ByWrap).ok();
    let tree = generated(&Generator::KAryNTree(KAryNTree { arity: 2, levels: 2, rails: 1 }), 0);
    assert!(verdict(&tree, &adaptive(&tree, &shortest_path()), &Lanes::free(&first_n(1))).1);
    let ring = torus(&[6]);
    for (fabric, lanes, farther) in [
        (mesh(&[4, 4]), Lanes::free(&first_n(2)), false),
        (torus(&[4, 4]), Lanes::free(&first_n(1)), false),
        (torus(&[5, 4]), Lanes::with_escape(None, &first_n(3), 2), true),
        (ring.clone(), Lanes::with_escape(datelines(&ring), &first_n(3), 1), true),
    ] {
        let tables = adaptive(&fabric, &dimension_order());
        let routes = [Routes::Table(tables.clone())];
        let set = RouteSet::new(&routes, Some(&lanes));
        let Proof::Cycle { buffers } = prove(&fabric, set) else { panic!("packets close a cycle") };
        for (index, pair) in cycle_witnesses(&fabric, set, &buffers).into_iter().enumerate() {
            let (from, to) = pair.expect("somebody's packets do");
            let [held, wanted] = [index, (index + 1) % buffers.len()].map(|at| buffers[at].channel);
            let begin = fabric.target(fabric.endpoint_channel(from)).node;
            let takes = |way: &Vec<ChannelId>| {
                let place = |of: ChannelId| way.iter().position(|channel| *channel == of);
                let (Some(held), Some(wanted)) = (place(held), place(wanted)) else { return false };
                wanted == held + 1 || farther && wanted > held
            };
            let ways = ways_on(&fabric, &tables, begin, to);
            assert!(ways.iter().any(takes), "{from:?} {to:?} at {index} of {buffers:?}");
        }
        assert!(!describe_cycle(&fabric, set, &buffers).lines().any(|line| line.ends_with(' ')));
    }
}
