//! Lanes of classes, with and without datelines: the proof, and its agreement with `onward`.

use crate::support::{FORMS, any_plan, mesh, pairs, ring, routed, shortest_path, torus};
use gingham_topology::routing::{
    Algorithm, Buffer, DatelineClass, DatelineRule, Datelines, DependencyGraph, DimensionOrder,
    LaneSet, Lanes, Proof, RouteSet, Routes, SourceRoutes, VcClass, describe_cycle, prove,
};
use gingham_topology::{ChannelId, EndpointId, Fabric, Grid};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn dimension_order(fabric: &Fabric) -> [Routes; 1] {
    [routed(fabric, &Algorithm::DimensionOrder(DimensionOrder::default()), FORMS[1])]
}

fn set(lanes: &[u8]) -> LaneSet {
    lanes.iter().copied().collect()
}

fn with_datelines(fabric: &Fabric, vc_classes: &[LaneSet]) -> Lanes {
    by_rule(fabric, DatelineRule::ByHop, vc_classes)
}

fn by_rule(fabric: &Fabric, rule: DatelineRule, vc_classes: &[LaneSet]) -> Lanes {
    Lanes::by_datelines(Datelines::new(fabric, rule).expect("a grid"), vc_classes)
}

fn on_lanes<'a>(routes: &'a [Routes], lanes: &'a Lanes) -> RouteSet<'a> {
    RouteSet::new(routes, Some(lanes))
}

fn verdict(fabric: &Fabric, lanes: &Lanes) -> (usize, Vec<Buffer>) {
    let routes = dimension_order(fabric);
    let set = on_lanes(&routes, lanes);
    let cycle = match prove(fabric, set) {
        Proof::Free { .. } => Vec::new(),
        Proof::Cycle { buffers } => buffers,
    };
    (DependencyGraph::new(fabric, set).dependency_count(), cycle)
}

#[test]
fn ring_of_four_matches_hand_computed_dependencies() {
    // Upwards each of the four channels precedes the next on a path of two; downwards a path has
    // one.
    let fabric = ring(4, 1);
    let cases: [(Lanes, usize, usize); 7] = [
        (Lanes::free(&[set(&[0])]), 4, 4),
        // Each lane of a channel with each of the next: 2 times 2 a turn.
        (Lanes::free(&[set(&[0, 1])]), 16, 4),
        // Lane 0: s0-s1-s2-s3. Lane 1 from s3 to s0, and on to s1.
        (with_datelines(&fabric, &[set(&[0, 1])]), 4, 0),
        (with_datelines(&fabric, &[set(&[0, 1, 2, 3])]), 16, 0),
        // The lower dateline class has two lanes: 4 and 4, to the upper 2, within that 1.
        (with_datelines(&fabric, &[set(&[0, 1, 2])]), 4 + 4 + 2 + 1, 0),
        (with_datelines(&fabric, &[set(&[0, 1]), set(&[2, 3])]), 8, 0),
        // One lane cannot be divided.
        (with_datelines(&fabric, &[set(&[0, 1]), set(&[2])]), 8, 4),
    ];
    for (lanes, dependencies, cycle) in cases {
        let (counted, found) = verdict(&fabric, &lanes);
        assert_eq!((counted, found.len()), (dependencies, cycle), "{lanes:?}");
    }
    let (_, cycle) = verdict(&fabric, &with_datelines(&fabric, &[set(&[0, 1]), set(&[2])]));
    assert!(cycle.iter().all(|buffer| buffer.lane == 2), "{cycle:?}");
}

/// Paths by wrap have two channels, or up to three in the ring of six. With channels named by the
/// switch at their start, the ring of five has on lane 0 the turns of 0-1-2, 1-2-3 and 2-3-4, on
/// lane 1 those of 3-4-0 and 4-0-1. (By hop 3-4-0 changes from lane 0 to 1.) Downwards is the
/// mirror image. The ring of six has on lane 0 all turns up to 3-4-5, on lane 1 those of 3-4-5-0,
/// 4-5-0-1 and 5-0-1-2; downwards, with paths of two, 5-4-3 to 2-1-0 and 1-0-5, 0-5-4.
#[test]
fn by_wrap_rings_match_hand_computed_dependencies() {
    let two = [set(&[0, 1])];
    for (size, turns) in [(5, 3 + 2 + 3 + 2), (6, 4 + 4 + 4 + 2)] {
        let fabric = ring(size, 1);
        let lanes = by_rule(&fabric, DatelineRule::ByWrap, &two);
        assert_eq!(verdict(&fabric, &lanes), (turns, Vec::new()), "a ring of {size}");
    }
    let fabric = ring(6, 1);
    let lanes = by_rule(&fabric, DatelineRule::ByWrap, &two);
    let [routes] = dimension_order(&fabric);
    let hosts: Vec<EndpointId> = fabric.endpoint_ids().collect();
    let taken = |from: usize, to: usize| {
        let lanes_by_channel =
            lanes_by_channel(&fabric, &routes, &lanes, (hosts[from], hosts[to]), VcClass(0));
        lanes_by_channel.iter().map(|(_, lanes)| lanes.bits()).collect::<Vec<_>>()
    };
    // Both lanes on the cables of hosts.
    assert_eq!(taken(0, 3), [3, 1, 1, 1, 3]);
    assert_eq!(taken(4, 1), [3, 2, 2, 2, 3]);
    assert_eq!(taken(5, 0), [3, 2, 3]);
    assert_eq!(taken(1, 5), [3, 2, 2, 3]);
    assert_eq!(taken(5, 3), [3, 1, 1, 3]);
}

/// Upwards over up to `longest` channels, else downwards.
fn upwards(fabric: &Fabric, size: usize, longest: usize) -> [Routes; 1] {
    let channel = |from: usize, to: usize| {
        let [from, to] = [from, to].map(|switch| switch % size);
        let joins = |channel: &ChannelId| {
            let ends = [fabric.source(*channel).node, fabric.target(*channel).node];
            ends.map(gingham_topology::NodeId::index) == [from, to]
        };
        ChannelId::first(fabric.channel_count()).find(joins).expect("neighbours are joined")
    };
    let path = |source: gingham_topology::NodeId, to: EndpointId| {
        let into = Fabric::reverse(fabric.endpoint_channel(to));
        let (from, to) = (source.index(), fabric.source(into).node.index());
        let up = (to + size - from) % size;
        let way = if up <= longest {
            (0..up).map(|hop| channel(from + hop, from + hop + 1)).collect::<Vec<_>>()
        } else {
            (0..size - up).map(|hop| channel(from + size - hop, from + size - hop - 1)).collect()
        };
        Some(way.into_iter().chain([into]).collect())
    };
    [Routes::Source(SourceRoutes::of_paths(fabric, path))]
}

#[test]
fn by_wrap_is_deadlock_free_for_paths_up_to_half_the_ring() {
    // A path of l that wraps begins at most l - 1 channels before the dateline: 2 l - 2 turns in a
    // row, and k close the ring.
    for size in 4..10 {
        let fabric = ring(size, 1);
        for longest in 1..size {
            let routes = upwards(&fabric, size, longest);
            for rule in [DatelineRule::ByHop, DatelineRule::ByWrap] {
                let lanes = by_rule(&fabric, rule, &[set(&[0, 1])]);
                let is_free = prove(&fabric, on_lanes(&routes, &lanes)).is_free();
                // Downwards no path is longer than size - longest - 1.
                let most = longest.max(size - longest - 1);
                let expected = rule == DatelineRule::ByHop || 2 * most - 2 < size;
                assert_eq!(is_free, expected, "{rule:?}: {longest} of {size}");
            }
        }
    }
}

fn paths_by_lane(size: usize, rule: DatelineRule) -> [[usize; 2]; 2] {
    let fabric = ring(size, 1);
    let lanes = by_rule(&fabric, rule, &[set(&[0, 1])]);
    let [routes] = dimension_order(&fabric);
    let mut paths = [[0; 2]; 2];
    for pair in pairs(&fabric) {
        for (channel, lanes) in lanes_by_channel(&fabric, &routes, &lanes, pair, VcClass(0)) {
            let [from, to] = [fabric.source(channel).node, fabric.target(channel).node];
            if fabric.node(from).is_switch() && fabric.node(to).is_switch() {
                let leads_up = (from.index() + 1) % size == to.index();
                let lane = usize::from(lanes.lowest().expect("a lane"));
                paths[usize::from(!leads_up)][lane] += 1;
            }
        }
    }
    paths
}

#[test]
fn upper_class_load_is_higher_by_wrap_than_by_hop() {
    // Of the k paths of l channels in one direction l wrap. By wrap all their channels are on lane
    // 1: l l. By hop those from the dateline on: 1 + ... + l.
    for size in [4, 5, 8, 9] {
        let sum = |longest: usize, of: fn(usize) -> usize| (1..=longest).map(of).sum::<usize>();
        let expected = |longest: usize, upper: usize| [size * sum(longest, |l| l) - upper, upper];
        let [up, down] = [size / 2, (size - 1) / 2];
        let by_wrap = [up, down].map(|l| expected(l, l * (l + 1) * (2 * l + 1) / 6));
        let by_hop = [up, down].map(|l| expected(l, l * (l + 1) * (l + 2) / 6));
        assert_eq!(paths_by_lane(size, DatelineRule::ByWrap), by_wrap, "a ring of {size}");
        assert_eq!(paths_by_lane(size, DatelineRule::ByHop), by_hop, "a ring of {size}");
    }
    assert_eq!(paths_by_lane(8, DatelineRule::ByWrap)[0], [50, 30]);
    assert_eq!(paths_by_lane(8, DatelineRule::ByHop)[0], [60, 20]);
}

#[test]
fn cycle_description_names_lanes() {
    let fabric = ring(4, 1);
    let (routes, lanes) = (dimension_order(&fabric), Lanes::free(&[set(&[0, 1])]));
    let set = on_lanes(&routes, &lanes);
    let Proof::Cycle { buffers } = prove(&fabric, set) else { panic!("a cycle") };
    let text = describe_cycle(&fabric, set, &buffers);
    for (line, from) in text.lines().zip(0..4) {
        let goes_on = format!("then the next, from h{from} to h{}", (from + 2) % 4);
        assert!(line.contains(" lane 0 ") && line.ends_with(&goes_on), "{line}");
    }
    assert!(text.ends_with("closes the cycle\n"), "{text}");
}

/// On two lanes with datelines, in a torus of two dimensions of `k`.
fn torus_dependencies(k: usize) -> usize {
    // Of equal lengths, paths go up.
    let [up, down] = [k / 2, (k - 1) / 2];
    // In one ring and direction: k - 2 turns on dateline class 0, one up to class 1, and there all
    // turns of the longest path that begins with the crossing channel.
    let within = (k - 1 + up - 1) + (k - 1 + down - 1);
    // A path ends in any of k - 1 channels on class 0 or those of that longest path on class 1,
    // then enters the next dimension in either direction.
    let ends = (k - 1 + up) + (k - 1 + down);
    2 * k * within + k * ends * 2
}

#[test]
fn tori_are_deadlock_free_only_with_two_lanes_and_datelines() {
    for k in [5, 8] {
        let fabric = torus(&[k, k]);
        let k = k as usize;
        let cycle = |lanes: &Lanes| verdict(&fabric, lanes).1.len();
        assert_eq!(cycle(&Lanes::free(&[set(&[0])])), k);
        assert_eq!(cycle(&Lanes::free(&[set(&[0, 1])])), k);
        assert_eq!(cycle(&with_datelines(&fabric, &[set(&[0])])), k);
        let lanes = with_datelines(&fabric, &[set(&[0, 1])]);
        assert_eq!(verdict(&fabric, &lanes), (torus_dependencies(k), Vec::new()));
        assert_eq!(on_lanes(&dimension_order(&fabric), &lanes).lane_use(&fabric).lanes, [0, 1]);
    }
}

#[test]
fn meshes_and_small_rings_have_one_dateline_class() {
    for fabric in [mesh(&[5, 5]), torus(&[3, 3]), torus(&[2, 3])] {
        let datelines = Datelines::new(&fabric, DatelineRule::ByWrap).unwrap();
        assert_eq!(datelines.dateline_classes(), 1);
        let vc_classes = [set(&[0, 1, 2])];
        let [free, shared] =
            [Lanes::free(&vc_classes), Lanes::by_datelines(datelines, &vc_classes)];
        assert_eq!(verdict(&fabric, &free), verdict(&fabric, &shared));
        assert!(verdict(&fabric, &free).1.is_empty());
    }
    let by_hop = |fabric: &Fabric| Datelines::new(fabric, DatelineRule::ByHop).unwrap();
    assert_eq!(by_hop(&torus(&[4, 3])).dateline_classes(), 2);
    let crossing = |fabric: &Fabric| {
        let datelines = by_hop(fabric);
        ChannelId::first(fabric.channel_count()).filter(|c| datelines.is_crossed_by(*c)).count()
    };
    // Both directions of each ring of four; rings of three have none.
    assert_eq!(crossing(&torus(&[4, 3])), 2 * 3);
    assert_eq!(crossing(&torus(&[4, 5])), 2 * (4 + 5));
}

/// With the cables of the hosts.
fn lanes_by_channel(
    fabric: &Fabric,
    routes: &Routes,
    lanes: &Lanes,
    pair: (EndpointId, EndpointId),
    vc_class: VcClass,
) -> Vec<(ChannelId, LaneSet)> {
    let Some(path) = routes.path(fabric, pair.0, pair.1) else { return Vec::new() };
    let mut dateline_class = DatelineClass(0);
    let mut lanes_by_channel = vec![(path.channels()[0], lanes.first(pair.0, vc_class))];
    for turn in path.channels().windows(2) {
        let (set, next) = lanes.onward(fabric, vc_class, dateline_class, turn[0], turn[1], pair.1);
        lanes_by_channel.push((turn[1], set));
        dateline_class = next;
    }
    lanes_by_channel
}

fn assert_told(fabric: &Fabric, routes: &Routes, lanes: &Lanes, vc_classes: u8) {
    let all = [routes.clone()];
    let set = on_lanes(&all, lanes);
    let is_switch = |node| fabric.node(node).is_switch();
    let between = |channel: ChannelId| {
        is_switch(fabric.source(channel).node) && is_switch(fabric.target(channel).node)
    };
    let mut expected = BTreeSet::new();
    for (pair, vc_class) in
        pairs(fabric).flat_map(|p| (0..vc_classes).map(move |b| (p, VcClass(b))))
    {
        for turn in lanes_by_channel(fabric, routes, lanes, pair, vc_class).windows(2) {
            if between(turn[0].0) && between(turn[1].0) {
                let each = |at: usize| {
                    let (channel, set) = turn[at];
                    set.lanes().map(move |lane| Buffer { channel, lane })
                };
                expected.extend(each(0).flat_map(|held| each(1).map(move |wanted| (held, wanted))));
            }
        }
    }
    let graph = DependencyGraph::new(fabric, set);
    let buffers = gingham_topology::routing::BufferId::first(graph.buffer_count());
    let found: BTreeSet<(Buffer, Buffer)> = buffers
        .flat_map(|held| graph.successors(held).into_iter().map(move |wanted| (held, wanted)))
        .map(|(held, wanted)| (graph.buffer(held), graph.buffer(wanted)))
        .collect();
    assert_eq!(found, expected);
    if let Proof::Free { order } = prove(fabric, set) {
        let number = |b: &Buffer| order[b.channel.index() * lanes.count() + usize::from(b.lane)];
        assert!(expected.iter().all(|(held, wanted)| number(held) < number(wanted)));
    }
}

fn any_vc_classes() -> impl Strategy<Value = Vec<LaneSet>> {
    proptest::collection::vec((1..0x8000_u16).prop_map(LaneSet::from_bits), 1..4)
}

fn part(set: LaneSet, upper: bool) -> Vec<u8> {
    let lanes: Vec<u8> = set.lanes().collect();
    let (low, high) = lanes.split_at(lanes.len().div_ceil(2));
    if high.is_empty() {
        lanes
    } else if upper {
        high.to_vec()
    } else {
        low.to_vec()
    }
}

proptest! {
    #[test]
    fn proof_agrees_with_onward_lanes(plan in any_plan(), vc_classes in any_vc_classes()) {
        let fabric = plan.build();
        let count = u8::try_from(vc_classes.len()).unwrap();
        for form in FORMS {
            let routes = routed(&fabric, &shortest_path(), form);
            assert_told(&fabric, &routes, &Lanes::free(&vc_classes), count);
        }
    }

    #[test]
    fn tori_change_dateline_class_at_the_dateline(
        dimensions in proptest::collection::vec(2..7_u32, 1..3),
        vc_classes in any_vc_classes(),
        by_wrap in any::<bool>(),
    ) {
        let fabric = torus(&dimensions);
        let grid = Grid::recognise(&fabric).unwrap();
        let rule = if by_wrap { DatelineRule::ByWrap } else { DatelineRule::ByHop };
        let lanes = by_rule(&fabric, rule, &vc_classes);
        let [routes] = dimension_order(&fabric);
        assert_told(&fabric, &routes, &lanes, u8::try_from(vc_classes.len()).unwrap());
        let steps = |channel: ChannelId| {
            let ends = [fabric.source(channel).node, fabric.target(channel).node];
            let differs = |dimension: &usize| {
                grid.coordinate(ends[0], *dimension).abs_diff(grid.coordinate(ends[1], *dimension)) > 0
            };
            let dimension = (0..dimensions.len()).find(differs).unwrap();
            let [a, b] = ends.map(|end| grid.coordinate(end, dimension));
            (dimension, a.abs_diff(b) > 1)
        };
        for (pair, set) in pairs(&fabric).flat_map(|pair| vc_classes.iter().map(move |set| (pair, set))) {
            let vc_class = vc_classes.iter().position(|other| other == set).unwrap();
            let lanes_by_channel = lanes_by_channel(&fabric, &routes, &lanes, pair, VcClass(u8::try_from(vc_class).unwrap()));
            prop_assert!(lanes_by_channel.first().is_none_or(|(_, first)| first == set));
            prop_assert!(lanes_by_channel.last().is_none_or(|(_, last)| last == set));
            let between: Vec<_> = lanes_by_channel.iter().skip(1).rev().skip(1).rev().collect();
            let mut crossed = vec![false; dimensions.len()];
            for (channel, _) in between.iter().filter(|_| by_wrap) {
                let (dimension, crosses) = steps(*channel);
                crossed[dimension] |= crosses;
            }
            for (channel, lanes) in between {
                let (dimension, crosses) = steps(*channel);
                crossed[dimension] |= crosses;
                if dimensions[dimension] > 3 {
                    prop_assert_eq!(lanes.lanes().collect::<Vec<_>>(), part(*set, crossed[dimension]));
                } else {
                    prop_assert_eq!(lanes, set);
                }
            }
        }
    }
}
