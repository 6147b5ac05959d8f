//! Advice on routes that can deadlock: an alternative algorithm.
//!
//! Candidates are routed and proved only for an error or verdict, and only if this takes less than
//! about a second. In-transit routing is not a candidate, because it needs hosts that forward
//! packets.

use gingham_topology::routing::{
    self, Algorithm, DimensionOrder, Form, Root, RouteSet, Routes, ShortestPath, SimpleRoutes,
    Smart, SpanningTree, Statistics, UpDown, prove_between_hosts,
};
use gingham_topology::{Fabric, Grid};

const SWITCHES_MAX: usize = 512;
/// Maximum number of switches for `simple-routes`, which takes 0.2 s for 114 switches and over 2 s
/// for 264.
const SIMPLE_SWITCHES_MAX: usize = 128;
/// Maximum number of switches for `smart`, which takes 0.2 s for 36 switches and over 4 s for 60.
const SMART_SWITCHES_MAX: usize = 40;
/// Maximum number of host pairs, reached with 2,048 hosts.
const HOST_PAIRS_MAX: usize = 1 << 22;

#[derive(Clone, PartialEq, Debug)]
pub(crate) struct SafeRoutes {
    /// Value of `routing.algorithm`, as TOML.
    pub(crate) algorithm: &'static str,
    /// Load bound of all-to-all traffic, as a fraction of a host's link rate.
    pub(crate) bound: f64,
}

/// Advises a value of `routing.algorithm` that is free of deadlock on a single lane.
pub(crate) fn advice(fabric: &Fabric, routes: &Routes) -> String {
    let form = match routes {
        Routes::Source(_) => Form::Source,
        Routes::Table(_) => Form::Table,
    };
    if let Some(best) = best(fabric, form) {
        let SafeRoutes { algorithm, bound } = best;
        return format!(
            "routing.algorithm = {algorithm}, which bounds all-to-all load by {bound:.3}"
        );
    }
    let by_coordinates = if is_grid_without_rings(fabric) {
        "\"dimension-order\""
    } else {
        "\"up-down\", \"simple-routes\""
    };
    format!(
        "routing.algorithm = {by_coordinates} (`gingham route FABRIC --compare` measures the bound of each)"
    )
}

/// Returns the deadlock-free candidate with the highest bound, and the first of equal candidates.
/// `None` if the fabric is too large, or no two hosts are connected.
pub(crate) fn best(fabric: &Fabric, form: Form) -> Option<SafeRoutes> {
    let switches = fabric.switches().len();
    let hosts = fabric.endpoint_ids().filter(|end| fabric.is_host_endpoint(*end)).count();
    if switches > SWITCHES_MAX || hosts.saturating_mul(hosts) > HOST_PAIRS_MAX {
        return None;
    }
    let mut best: Option<SafeRoutes> = None;
    for (algorithm, value) in candidates(switches) {
        let Some(bound) = proved_bound(fabric, &value, form) else { continue };
        if best.as_ref().is_none_or(|so_far| bound > so_far.bound) {
            best = Some(SafeRoutes { algorithm, bound });
        }
    }
    best
}

fn candidates(switches: usize) -> Vec<(&'static str, Algorithm)> {
    let depth_first = UpDown { root: Root::LargestTotalDistance, tree: SpanningTree::DepthFirst };
    let mut all = vec![
        ("\"shortest-path\"", Algorithm::ShortestPath(ShortestPath::default())),
        ("\"dimension-order\"", Algorithm::DimensionOrder(DimensionOrder::default())),
        ("\"up-down\"", Algorithm::UpDown(UpDown::default())),
        (
            "{ up-down = { tree = \"depth-first\", root = \"largest-distance\" } }",
            Algorithm::UpDown(depth_first),
        ),
    ];
    if switches <= SIMPLE_SWITCHES_MAX {
        all.push(("\"simple-routes\"", Algorithm::SimpleRoutes(SimpleRoutes::default())));
    }
    if switches <= SMART_SWITCHES_MAX {
        all.push(("\"smart\"", Algorithm::Smart(Smart {})));
    }
    all
}

fn proved_bound(fabric: &Fabric, algorithm: &Algorithm, form: Form) -> Option<f64> {
    let routes = [routing::route(fabric, algorithm, form).ok()?];
    let set = RouteSet::new(&routes, None);
    let is_free = prove_between_hosts(fabric, set).is_free();
    if !is_free {
        return None;
    }
    Some(Statistics::new(fabric, &routes[0]).all_to_all?.fraction)
}

fn is_grid_without_rings(fabric: &Fabric) -> bool {
    Grid::recognise(fabric).is_ok_and(|grid| {
        !grid.wraps().iter().zip(grid.dimensions()).any(|(wraps, size)| *wraps && *size > 3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gingham_topology::generate::{Dragonfly, Generator, Mesh};

    fn dragonfly() -> Fabric {
        let shape = Dragonfly {
            switches_per_group: 4,
            hosts_per_switch: 2,
            global_cables_per_switch: 2,
            groups: None,
            rails: 1,
        };
        Generator::Dragonfly(shape).generate(1).expect("the shape is lawful")
    }

    fn mesh(dimensions: &[u32]) -> Fabric {
        let shape = Mesh { dimensions: dimensions.to_vec(), hosts_per_switch: 1, rails: 1 };
        Generator::Mesh(shape).generate(1).expect("the shape is lawful")
    }

    #[test]
    fn best_candidate_has_the_highest_proved_bound() {
        for (fabric, form) in
            [(dragonfly(), Form::Source), (dragonfly(), Form::Table), (mesh(&[4, 4]), Form::Source)]
        {
            let found = best(&fabric, form).expect("the fabric is small");
            for (name, algorithm) in candidates(fabric.switches().len()) {
                if let Some(bound) = proved_bound(&fabric, &algorithm, form) {
                    assert!(bound <= found.bound, "{name}: {bound} is above {found:?}");
                }
            }
        }
    }

    /// One host per switch: dimension order sends the traffic from the 2 hosts of a half row to the
    /// 8 hosts of the other half through one channel. The channel carries 16 pairs, and each host
    /// sends to 15 other hosts.
    #[test]
    fn dimension_order_is_best_on_a_mesh() {
        let found = best(&mesh(&[4, 4]), Form::Source).expect("the fabric is small");
        assert_eq!(found.algorithm, "\"dimension-order\"");
        assert!((found.bound - 15.0 / 16.0).abs() < 1e-12, "{found:?}");
    }

    #[test]
    fn up_down_is_advised_for_table_routes_of_a_dragonfly() {
        let found = best(&dragonfly(), Form::Table).expect("the fabric is small");
        assert!(found.algorithm.contains("up-down"), "{found:?}");
    }

    #[test]
    fn large_dragonfly_gets_proved_up_down_advice() {
        let shape = Dragonfly {
            switches_per_group: 8,
            hosts_per_switch: 4,
            global_cables_per_switch: 4,
            groups: None,
            rails: 1,
        };
        let fabric = Generator::Dragonfly(shape).generate(1).expect("the shape is lawful");
        let found = best(&fabric, Form::Source).expect("the cheap candidates are compared");
        assert!(found.algorithm.contains("up-down") && found.bound > 0.0, "{found:?}");
    }

    #[test]
    fn large_fabric_is_not_routed_for_advice() {
        let fabric = mesh(&[19, 27]);
        assert_eq!(best(&fabric, Form::Source), None);
        let routes = routing::route(&fabric, &Algorithm::UpDown(UpDown::default()), Form::Source);
        let advised = advice(&fabric, &routes.expect("up-down routes every fabric"));
        assert!(advised.contains("\"dimension-order\""), "{advised}");
    }
}
