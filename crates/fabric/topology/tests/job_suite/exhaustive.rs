//! The search against all orders of small jobs.

use crate::support::Shape;
use gingham_kernel::{Purpose, Stream};
use gingham_topology::cluster::{Cluster, Naming};
use gingham_topology::job::{
    Edge, Effort, Forwarding, Improved, Paths, Pattern, Placement, bound, improve,
};
use gingham_topology::routing::{Algorithm, Form, UpDown, route};
use gingham_topology::{ChannelId, DraftNode, Fabric, FabricBuilder, Guid, LinkSpeed, NodeKind};

/// Slowdown from one switch, then flows on the fullest channel, of the best of all orders.
fn least_of_all(
    paths: &mut Paths<'_>,
    pattern: &Pattern,
    order: &mut Vec<usize>,
    at: usize,
) -> (f64, f64) {
    if at == order.len() {
        let found = bound(paths, pattern, order.len(), order, &[]).expect("it is routed");
        // Equal sums of phases may differ in the last bit.
        let slowdown = found.at_one_switch / found.bus_bandwidth;
        return ((slowdown * 1e9).round() / 1e9, found.flows_max);
    }
    let mut least = (f64::INFINITY, f64::INFINITY);
    for other in at..order.len() {
        order.swap(at, other);
        let found = least_of_all(paths, pattern, order, at + 1);
        if found < least {
            least = found;
        }
        order.swap(at, other);
    }
    least
}

#[test]
fn rank_order_is_optimal_for_few_nodes() {
    let fabric = Shape { units: 3, nodes: 3, rails: 1, spines: 2 }.build();
    let cluster = Cluster::of(&fabric, &Naming::default());
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Table);
    let routes = routes.expect("it has routes");
    for seed in 0..6 {
        let mut nodes: Vec<usize> = (0..9).collect();
        Stream::new(seed, "nodes", Purpose::Permutation).shuffle(&mut nodes);
        nodes.truncate(6);
        let placement = Placement::new(&cluster, nodes, vec![0]).expect("it is placed");
        for pattern in [Pattern::Ring, Pattern::DoubleBinaryTree, Pattern::HalvingDoubling] {
            let mut paths = Paths::new(&fabric, &placement, Forwarding::Routes(&routes));
            let given: Vec<usize> = (0..6).collect();
            let least = least_of_all(&mut paths, &pattern, &mut given.clone(), 0);
            let starts = [given.clone()];
            for moves in [0, 500] {
                let effort = Effort { moves, seed: 1 };
                let found = improve(&mut paths, &pattern, 6, &starts, &[], effort);
                let found = found.expect("it is routed");
                assert_best(&mut paths, &pattern, &found, least);
                let mut sorted = found.order.clone();
                sorted.sort_unstable();
                assert_eq!(sorted, given);
            }
        }
    }
}

fn assert_best(paths: &mut Paths<'_>, pattern: &Pattern, found: &Improved, least: (f64, f64)) {
    let of = bound(paths, pattern, found.order.len(), &found.order, &[]).expect("it is routed");
    let slowdown = of.at_one_switch / of.bus_bandwidth;
    assert!((slowdown - least.0).abs() < 1e-8, "{pattern:?}: {slowdown} of {least:?}");
    assert!((found.flows_max - least.1).abs() < 1e-9, "{pattern:?}: {found:?} of {least:?}");
    assert!((found.flows_max - of.flows_max).abs() < 1e-9);
    assert!((found.bus_bandwidth / of.bus_bandwidth - 1.0).abs() < 1e-9);
    assert!(found.is_best);
}

fn join(builder: &mut FabricBuilder, one: DraftNode, other: DraftNode, speed: LinkSpeed) {
    let ends = [one, other].map(|node| (node, builder.free_port(node).expect("a free port")));
    builder.add_cable(ends, Some(speed), None).expect("both ports are free");
}

/// Two units of three nodes, two spines; the first leaf's cable to the first spine has a quarter of
/// the speed.
fn with_a_slow_cable() -> Fabric {
    let mut builder = FabricBuilder::new();
    let fast: LinkSpeed = "4xNDR".parse().expect("a speed");
    let slow: LinkSpeed = "1xNDR".parse().expect("a speed");
    let mut guid = 0;
    let mut add = |builder: &mut FabricBuilder, kind, name: &str, ports| {
        guid += 1;
        builder.add_plain(kind, name, Guid(guid), ports)
    };
    let switch = NodeKind::Switch;
    let spines = ["spine0", "spine1"].map(|name| add(&mut builder, switch, name, 2));
    for unit in 0..2 {
        let leaf = add(&mut builder, switch, &format!("leaf{unit}"), 5);
        for (number, spine) in spines.into_iter().enumerate() {
            let speed = if (unit, number) == (0, 0) { slow } else { fast };
            join(&mut builder, leaf, spine, speed);
        }
        for node in 0..3 {
            let name = format!("n{} mlx5_0", 3 * unit + node);
            let adapter = add(&mut builder, NodeKind::Host, &name, 1);
            join(&mut builder, leaf, adapter, fast);
        }
    }
    builder.build()
}

/// A search by flows alone chose orders with fewer flows but one on the slow cable.
#[test]
fn slow_cable_is_weighted_by_its_speed() {
    let fabric = with_a_slow_cable();
    let cluster = Cluster::of(&fabric, &Naming::default());
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Table);
    let routes = routes.expect("it has routes");
    let placement = Placement::new(&cluster, (0..6).collect(), vec![0]).expect("it is placed");
    let mut differ = 0;
    for pattern in [Pattern::Ring, Pattern::DoubleBinaryTree, Pattern::HalvingDoubling] {
        let mut paths = Paths::new(&fabric, &placement, Forwarding::Routes(&routes));
        let mut given: Vec<usize> = (0..6).collect();
        let least = least_of_all(&mut paths, &pattern, &mut given, 0);
        for seed in 0..4 {
            let mut start = given.clone();
            Stream::new(seed, "order", Purpose::Permutation).shuffle(&mut start);
            let before = bound(&mut paths, &pattern, 6, &start, &[]).expect("it is routed");
            let effort = Effort { moves: 200, seed };
            let found = improve(&mut paths, &pattern, 6, &[start], &[], effort);
            let found = found.expect("it is routed");
            assert_best(&mut paths, &pattern, &found, least);
            differ += usize::from(found.bus_bandwidth > 1.5 * before.bus_bandwidth);
        }
    }
    assert!(differ > 0, "the order matters");
}

#[test]
fn background_flows_count_only_on_used_channels() {
    let fabric = Shape { units: 2, nodes: 4, rails: 1, spines: 2 }.build();
    let cluster = Cluster::of(&fabric, &Naming::default());
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Table);
    let routes = routes.expect("it has routes");
    let placement = Placement::new(&cluster, vec![0, 1, 2], vec![0]).expect("it is placed");
    let mut paths = Paths::new(&fabric, &placement, Forwarding::Routes(&routes));
    let spine = ChannelId::first(fabric.channel_count())
        .find(|one| fabric.node(fabric.source(*one).node).name == "spine0-0")
        .expect("a spine has channels");
    let mut beside = vec![0; fabric.channel_count()];
    beside[spine.index()] = 3 * 720_720;
    let starts = [vec![0, 1, 2]];
    let found = improve(&mut paths, &Pattern::Ring, 3, &starts, &beside, Effort::default());
    let found = found.expect("it is routed");
    // All three nodes are on one leaf.
    assert!(found.flows_max < 1e-9 && found.candidates[0] < 1e-9 && found.is_best);
}

#[test]
fn pairs_can_avoid_all_trunks() {
    let fabric = Shape { units: 2, nodes: 4, rails: 1, spines: 1 }.build();
    let cluster = Cluster::of(&fabric, &Naming::default());
    let routes = route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Table);
    let routes = routes.expect("it has routes");
    let placement = Placement::new(&cluster, vec![0, 4, 1, 5], vec![0]).expect("it is placed");
    let mut paths = Paths::new(&fabric, &placement, Forwarding::Routes(&routes));
    let pattern = Pattern::Pairs(vec![Edge { from: 0, to: 1 }, Edge { from: 2, to: 3 }]);
    let given: Vec<usize> = (0..4).collect();
    let found = improve(&mut paths, &pattern, 4, &[given], &[], Effort { moves: 0, seed: 1 });
    let found = found.expect("it is routed");
    // The given order has two flows over the spine; with pairs on leaves there is none.
    assert!((found.candidates[0] - 2.0).abs() < 1e-9);
    assert!(found.flows_max < 1e-9 && found.lower_bound < 1e-9);
}
