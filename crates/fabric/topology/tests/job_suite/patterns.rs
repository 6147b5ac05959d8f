//! Bounds against closed forms.

use crate::support::Shape;
use gingham_topology::cluster::{Cluster, Naming};
use gingham_topology::generate::{Generator, Star};
use gingham_topology::job::{Forwarding, Paths, Pattern, Placement, bound};
use gingham_topology::routing::{Algorithm, Form, Routes, UpDown, route};
use gingham_topology::{Fabric, LinkSpeed};

const ALL: [Pattern; 4] =
    [Pattern::Ring, Pattern::DoubleBinaryTree, Pattern::AllToAll, Pattern::HalvingDoubling];

fn up_down(fabric: &Fabric) -> Routes {
    route(fabric, &Algorithm::UpDown(UpDown::default()), Form::Table).expect("it has routes")
}

fn speed() -> LinkSpeed {
    "4xHDR".parse().expect("it is a speed")
}

/// 4xHDR: 25 GB/s.
const LINK: f64 = 25e9;

fn close(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 1e-9, "{found} instead of {expected}");
}

#[test]
fn bound_at_one_switch_matches_the_closed_form() {
    let fabric = Generator::Star(Star { hosts: 8, rails: 1 })
        .generate(1)
        .expect("it is made")
        .at_speed(speed());
    let cluster = Cluster::of(&fabric, &Naming::default());
    let placement = Placement::new(&cluster, (0..8).collect(), vec![0]).expect("it is placed");
    let routes = up_down(&fabric);
    let order: Vec<usize> = (0..8).collect();
    // n = 8. A ring keeps each link full; a double tree has at most four flows on one (three of its
    // own tree, one of the other); all-to-all has seven.
    let expected = [LINK, LINK / 2.0 * (2.0 * 7.0 / 8.0), LINK, LINK];
    for (pattern, expected) in ALL.into_iter().zip(expected) {
        let mut paths = Paths::new(&fabric, &placement, Forwarding::Routes(&routes));
        let found = bound(&mut paths, &pattern, 8, &order, &[]).expect("it is routed");
        close(found.bus_bandwidth, expected);
        close(found.at_one_switch, expected);
        assert!(found.flows_max < 1e-9, "{pattern:?}");
    }
}

#[test]
fn two_leaves_share_their_trunks() {
    // One spine: a trunk each way.
    let fabric = Shape { units: 2, nodes: 4, rails: 1, spines: 1 }.build().at_speed(speed());
    let cluster = Cluster::of(&fabric, &Naming::default());
    let placement = Placement::new(&cluster, (0..8).collect(), vec![0]).expect("it is placed");
    let routes = up_down(&fabric);
    let mut paths = Paths::new(&fabric, &placement, Forwarding::Routes(&routes));
    let sorted: Vec<usize> = (0..8).collect();
    let alternating = [0, 4, 1, 5, 2, 6, 3, 7];
    let mut flows = |pattern: &Pattern, order: &[usize]| {
        let found = bound(&mut paths, pattern, 8, order, &[]).expect("it is routed");
        (found.flows_max, found.bus_bandwidth)
    };
    // Sorted: one flow each way; alternating: all eight cross, four each way.
    let (most, bandwidth) = flows(&Pattern::Ring, &sorted);
    close(most, 1.0);
    close(bandwidth, LINK);
    let (most, bandwidth) = flows(&Pattern::Ring, &alternating);
    close(most, 4.0);
    close(bandwidth, LINK / 4.0);
    // All-to-all: 16 pairs cross each way; n/(n-1) of seven flows a link.
    let (most, bandwidth) = flows(&Pattern::AllToAll, &alternating);
    close(most, 16.0);
    close(bandwidth, LINK / 16.0 * 7.0);
}

#[test]
fn adaptive_switches_spread_a_flow_over_equal_paths() {
    let fabric = Shape { units: 2, nodes: 4, rails: 2, spines: 4 }.build().at_speed(speed());
    let cluster = Cluster::of(&fabric, &Naming::default());
    let placement = Placement::new(&cluster, (0..8).collect(), vec![0, 1]).expect("it is placed");
    let mut paths = Paths::new(&fabric, &placement, Forwarding::Adaptive);
    let alternating = [0, 4, 1, 5, 2, 6, 3, 7];
    let found = bound(&mut paths, &Pattern::Ring, 16, &alternating, &[]).expect("it is routed");
    // Four flows over four spines: one on each cable.
    close(found.flows_max, 1.0);
    close(found.bus_bandwidth, 2.0 * LINK);
}
