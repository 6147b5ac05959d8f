//! Tests that proofs do not depend on the number of threads.

use super::by_destination::Counted;
use super::{DependencyGraph, Proof};
use crate::generate::{FatTree, Generator, Irregular, Mesh, Torus};
use crate::parallel::Threads;
use crate::routing::{
    Algorithm, DatelineRule, DimensionOrder, Form, LaneMap, Lanes, RouteSet, Routes, ServiceLevels,
    ShortestPath, UpDown, route,
};
use crate::{ChannelId, Fabric};

const COUNTED: [Counted; 3] = [Counted::All, Counted::BetweenHosts, Counted::WithoutLoops];

fn proved(fabric: &Fabric, routes: &Routes, lanes: Option<&Lanes>) -> bool {
    let routes = std::slice::from_ref(routes);
    let set = RouteSet::new(routes, lanes);
    let mut is_free = true;
    for counted in COUNTED {
        let on = |threads| {
            let graph = DependencyGraph::collect(fabric, set, counted, Threads::exactly(threads));
            (Proof::new(fabric, &graph), graph)
        };
        let one = on(1);
        for threads in [2, 3, 100] {
            assert!(on(threads) == one, "{counted:?} on {threads} threads");
        }
        is_free &= one.0.is_free();
    }
    is_free
}

fn fabrics() -> [(Fabric, Algorithm, bool); 6] {
    let mesh = Mesh { dimensions: vec![5, 4], hosts_per_switch: 2, rails: 1 };
    let torus = Torus { dimensions: vec![5, 4], hosts_per_switch: 2, rails: 1 };
    let tree = FatTree { ports: 6, levels: 3, tapering: 1, rails: 1 };
    let irregular =
        Irregular { switches: 20, ports: 7, hosts_per_switch: 3, cables_per_pair_max: 1, rails: 1 };
    let (mesh, torus) = (Generator::Mesh(mesh), Generator::Torus(torus));
    let (tree, irregular) = (Generator::FatTree(tree), Generator::Irregular(irregular));
    let order = Algorithm::DimensionOrder(DimensionOrder::default());
    let (shortest, up_down) =
        (Algorithm::ShortestPath(ShortestPath::default()), Algorithm::UpDown(UpDown::default()));
    let fabric = |generator: &Generator| generator.generate(3).expect("lawful parameters");
    [
        (fabric(&mesh), order.clone(), true),
        (fabric(&torus), order, false),
        (fabric(&torus), shortest.clone(), false),
        (fabric(&tree), up_down.clone(), true),
        (fabric(&irregular), shortest, false),
        (fabric(&irregular), up_down, true),
    ]
}

#[test]
fn proof_is_independent_of_thread_count() {
    for (fabric, algorithm, is_free) in fabrics() {
        for form in [Form::Source, Form::Table] {
            let routes = route(&fabric, &algorithm, form).expect("the algorithm applies");
            assert_eq!(proved(&fabric, &routes, None), is_free, "{algorithm:?}");
        }
    }
}

#[test]
fn proof_on_lanes_is_independent_of_thread_count() {
    for (fabric, algorithm, is_free) in fabrics() {
        let routes = route(&fabric, &algorithm, Form::Table).expect("the algorithm applies");
        // Each pair uses one of three lanes; routes that are deadlock-free on one lane are also
        // deadlock-free here.
        let map = LaneMap::uniform(&fabric, LaneMap::DEFAULT);
        let level = |from: usize, to: usize| u8::try_from((from + 2 * to) % 3).expect("small");
        let by_pair =
            ServiceLevels::by_pair(&fabric, 1, |from, to, _| level(from.index(), to.index()));
        let by_pair = Lanes::new(&fabric, map.clone(), by_pair);
        let free = proved(&fabric, &routes, Some(&by_pair));
        assert!(free || !is_free, "{algorithm:?}");
        let zero = Lanes::new(&fabric, map, ServiceLevels::zero(&fabric));
        assert_eq!(proved(&fabric, &routes, Some(&zero)), is_free, "{algorithm:?}");
        if matches!(algorithm, Algorithm::DimensionOrder(_)) {
            for rule in [DatelineRule::ByHop, DatelineRule::ByWrap] {
                let datelines = Lanes::of_all(&fabric, true, 4, Some(Some(rule)));
                let datelines = datelines.expect("a mesh or torus");
                assert!(proved(&fabric, &routes, Some(&datelines)), "datelines break the cycles");
            }
        }
    }
}

#[test]
fn cyclic_groups_are_counted_without_removed_channels() {
    // The cyclic groups are {0, 1, 2}, {4, 5} and {6}.
    let edges = [(0, 1), (1, 2), (2, 0), (0, 3), (3, 4), (4, 5), (5, 4), (6, 6)];
    let graph = DependencyGraph::from_edges(7, &edges);
    let groups = |gone: &[usize]| {
        graph.cyclic_groups(&gone.iter().map(|channel| ChannelId::new(*channel)).collect())
    };
    assert_eq!(groups(&[]), 3);
    assert_eq!(groups(&[1]), 2);
    assert_eq!(groups(&[3]), 3, "it lies on no cycle");
    assert_eq!(groups(&[0, 5, 6]), 0);
}
