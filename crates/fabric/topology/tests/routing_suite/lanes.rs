//! The proof with lanes on any fabric: one lane equals none, and verdicts agree with the packets.

use crate::support::{FORMS, any_plan, pairs, routed, shortest_path, up_down};
use gingham_topology::routing::{
    Buffer, DependencyGraph, LaneMap, LaneRule, Lanes, Proof, Root, RouteSet, Routes,
    ServiceLevels, prove, prove_between_hosts,
};
use gingham_topology::{EndpointId, Fabric};
use proptest::prelude::*;
use std::collections::BTreeSet;

fn any_lanes(fabric: &Fabric, numbers: &[u8], lane_count: u8) -> Lanes {
    let (map, mut next) = any_lane_map(fabric, numbers, lane_count);
    Lanes::new(fabric, map, ServiceLevels::by_pair(fabric, 1, |_, _, _| next() % 16))
}

/// Also returns the remaining numbers.
pub(crate) fn any_lane_map(
    fabric: &Fabric,
    numbers: &[u8],
    lane_count: u8,
) -> (LaneMap, impl FnMut() -> u8) {
    let mut numbers = numbers.iter().copied().cycle();
    let mut next = move || numbers.next().expect("an endless supply");
    let mut map = LaneMap::uniform(fabric, [0; 16]);
    for switch in fabric.switches() {
        let ports: Vec<u16> =
            fabric.channels_from(switch).map(|channel| fabric.source(channel).port).collect();
        for input in &ports {
            for output in &ports {
                map.set_switch(
                    switch,
                    *input,
                    *output,
                    [(); 16].map(|()| lane(next(), lane_count)),
                );
            }
        }
    }
    for endpoint in fabric.endpoint_ids() {
        map.set_endpoint(endpoint, [(); 16].map(|()| lane(next(), lane_count)));
    }
    (map, next)
}

/// Includes lane 15, which drops.
fn lane(number: u8, lane_count: u8) -> u8 {
    if number > 250 { 15 } else { number % lane_count }
}

/// With those beside switches.
fn buffers(
    fabric: &Fabric,
    routes: &Routes,
    lanes: &Lanes,
    pair: (EndpointId, EndpointId),
) -> Vec<Buffer> {
    let (from, to) = pair;
    let LaneRule::Tables { map, levels, .. } = lanes.rule() else { panic!("lanes are of tables") };
    let level = levels.level(from, to, 0);
    let Some(path) = routes.path(fabric, from, to) else { return Vec::new() };
    let Some(lane) = map.first_lane(from, level) else { return Vec::new() };
    let mut taken = vec![Buffer { channel: path.channels()[0], lane }];
    for turn in path.channels().windows(2) {
        match map.lane(fabric, turn[0], turn[1], level) {
            Some(lane) => taken.push(Buffer { channel: turn[1], lane }),
            None => break,
        }
    }
    taken
}

proptest! {
    #[test]
    fn single_lane_matches_no_lanes(plan in any_plan(), numbers in proptest::collection::vec(0..250_u8, 50)) {
        let fabric = plan.build();
        let lanes = any_lanes(&fabric, &numbers, 1);
        prop_assert_eq!(lanes.count(), 1);
        for algorithm in [shortest_path(), up_down(Root::LowestId)] {
            for form in FORMS {
                let routes = [routed(&fabric, &algorithm, form)];
                let set = RouteSet::new(&routes, Some(&lanes));
                prop_assert_eq!(prove(&fabric, set), prove(&fabric, &routes[0]));
                prop_assert_eq!(prove_between_hosts(&fabric, set), prove_between_hosts(&fabric, &routes[0]));
                prop_assert_eq!(DependencyGraph::new(&fabric, set), DependencyGraph::new(&fabric, &routes[0]));
                // A repeated path adds nothing.
                let twice = [routes[0].clone(), routes[0].clone()];
                let set = RouteSet::new(&twice, None);
                prop_assert_eq!(prove(&fabric, set), prove(&fabric, &routes[0]));
            }
        }
    }

    #[test]
    fn proof_on_lanes_matches_paths_hop_by_hop(
        plan in any_plan(),
        lane_count in 1..5_u8,
        numbers in proptest::collection::vec(any::<u8>(), 997),
    ) {
        let fabric = plan.build();
        let lanes = any_lanes(&fabric, &numbers, lane_count);
        let routes = [routed(&fabric, &shortest_path(), FORMS[1])];
        let set = RouteSet::new(&routes, Some(&lanes));
        let ways: Vec<Vec<Buffer>> =
            pairs(&fabric).map(|pair| buffers(&fabric, &routes[0], &lanes, pair)).collect();
        let is_switch = |node| fabric.node(node).is_switch();
        let between = |b: &Buffer| is_switch(fabric.source(b.channel).node) && is_switch(fabric.target(b.channel).node);
        let turns: BTreeSet<(Buffer, Buffer)> = ways
            .iter()
            .flat_map(|way| way.windows(2).map(|pair| (pair[0], pair[1])))
            .filter(|(held, wanted)| between(held) && between(wanted))
            .collect();
        prop_assert_eq!(DependencyGraph::new(&fabric, set).dependency_count(), turns.len());
        match prove(&fabric, set) {
            Proof::Free { order } => {
                let number = |b: &Buffer| order[b.channel.index() * lanes.count() + usize::from(b.lane)];
                for (held, wanted) in &turns {
                    prop_assert!(number(held) < number(wanted));
                }
            }
            Proof::Cycle { buffers } => {
                for (place, held) in buffers.iter().enumerate() {
                    let wanted = buffers[(place + 1) % buffers.len()];
                    prop_assert!(turns.contains(&(*held, wanted)));
                }
            }
        }
        let used: BTreeSet<u8> = ways.iter().flatten().filter(|b| between(b)).map(|b| b.lane).collect();
        prop_assert_eq!(set.lane_use(&fabric).lanes, used.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn lanes_of_a_vl_have_the_verdict_of_the_vl(
        plan in any_plan(),
        vls in 1..5_u8,
        lanes_per_vl in 1..4_u8,
        numbers in proptest::collection::vec(any::<u8>(), 997),
    ) {
        let fabric = plan.build();
        let one = any_lanes(&fabric, &numbers, vls);
        let several = one.clone().with_lanes_per_vl(lanes_per_vl);
        let k = usize::from(lanes_per_vl);
        prop_assert_eq!(several.count(), one.count() * k);
        let routes = [routed(&fabric, &shortest_path(), FORMS[1])];
        let on = |lanes| RouteSet::new(&routes, Some(lanes));
        let [graph, wide] = [&one, &several].map(|lanes| DependencyGraph::new(&fabric, on(lanes)));
        prop_assert_eq!(wide.buffer_count(), graph.buffer_count() * k);
        prop_assert_eq!(wide.dependency_count(), graph.dependency_count() * k * k);
        match (prove(&fabric, on(&one)), prove(&fabric, on(&several))) {
            (Proof::Free { order }, Proof::Free { order: wide }) => {
                prop_assert_eq!(wide.len(), order.len() * k);
            }
            (Proof::Cycle { buffers }, Proof::Cycle { buffers: wide }) => {
                let lowest = |b: &Buffer| Buffer { lane: b.lane * lanes_per_vl, ..*b };
                prop_assert_eq!(wide, buffers.iter().map(lowest).collect::<Vec<_>>());
            }
            (one, several) => prop_assert!(false, "{one:?} and {several:?}"),
        }
    }
}
