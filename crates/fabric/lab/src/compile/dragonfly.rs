//! A note on shortest paths through a generated dragonfly.
//!
//! ```text
//!   shortest-path          s ──global──► x ──global──► d       two global channels, as short as
//!   minimal (dragonfly)    s ─local─► ──global──► ─local─► d   local-global-local, and busier
//! ```
//!
//! Source: Kim, Dally, Scott and Abts, "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA
//! 2008, section 4.1: minimal routing takes one global channel at most.

use super::gathered::Gathered;
use super::paths::hosts;
use crate::scenario::{ScenarioSource, Topology};
use gingham_topology::Fabric;
use gingham_topology::generate::{Dragonfly, Generator};
use gingham_topology::routing::{Algorithm, Routes, Statistics};

/// Code of the note, at the beginning of its text.
const CODE: &str = "dragonfly-shortest-path";
/// Maximum number of host pairs for computing the bound of the routes in the note.
const HOST_PAIRS_MAX: usize = 1 << 21;

/// Notes that `shortest-path` is not the minimal routing of a dragonfly, with the bounds of both.
pub(super) fn note_shortest_paths(
    source: &ScenarioSource,
    fabric: &Fabric,
    path_sets: &[Routes],
    gathered: &mut Gathered,
) {
    let Topology::Generate(Generator::Dragonfly(shape)) = &source.scenario.topology else { return };
    let routing = &source.scenario.routing;
    if routing.tables.is_some() {
        return;
    }
    let alternative = routing.alternative.as_ref().and_then(|of| of.algorithm.as_ref());
    let written = [
        ("routing.algorithm", Some(&routing.algorithm)),
        ("routing.alternative.algorithm", alternative),
    ];
    for ((key, algorithm), routes) in written.into_iter().zip(path_sets) {
        if matches!(algorithm, Some(Algorithm::ShortestPath(_))) {
            gathered.notes.push(text(key, shape, fabric, routes));
        }
    }
}

fn text(key: &str, shape: &Dragonfly, fabric: &Fabric, routes: &Routes) -> String {
    let count = hosts(fabric).count();
    let known =
        |bound: Option<f64>| bound.map_or_else(|| "unknown".to_owned(), |it| format!("{it:.3}"));
    let of_routes = if count.saturating_mul(count) > HOST_PAIRS_MAX {
        "not computed (too many hosts)".to_owned()
    } else {
        known(Statistics::new(fabric, routes).all_to_all.map(|bound| bound.fraction))
    };
    format!(
        "{CODE}: {key} = \"shortest-path\" is not the minimal routing of a dragonfly (local-global-local, one global channel a path): \
         shortest paths may take two global channels. Bound on all-to-all load: {of_routes} for these routes, {} for \
         local-global-local, which is not available",
        known(shape.minimal_routing_bound())
    )
}
