//! A note on shortest paths through a generated dragonfly.
//!
//! ```text
//!   shortest-path          s ──global──► x ──global──► d       two hops, both global
//!   minimal (dragonfly)    s ─local─► ──global──► ─local─► d   up to three hops, one global
//! ```
//!
//! In a dragonfly, minimal routing uses at most one global channel (Kim, Dally, Scott and Abts,
//! "Technology-Driven, Highly-Scalable Dragonfly Topology", ISCA 2008, section 4.1).

use super::paths::hosts;
use crate::check::{Check, Sentence, Subject, note, say};
use crate::scenario::{Scenario, Topology};
use gingham_topology::Fabric;
use gingham_topology::generate::Generator;
use gingham_topology::routing::{Algorithm, Routes, Statistics};

const CODE: &str = "dragonfly-shortest-path";
const HOST_PAIRS_MAX: usize = 1 << 21;

type Routed<'a> = (&'a Fabric, &'a [Routes]);

/// Notes that `shortest-path` is not the minimal routing of a dragonfly, and compares their load
/// bounds.
pub(super) fn of_sets<'a>() -> [Check<Routed<'a>>; 2] {
    [
        note(|it| not_minimal(it, "routing.algorithm", &it.source.scenario.routing.algorithm, 0)),
        note(|it| {
            let alternative = it.source.scenario.routing.alternative.as_ref()?;
            let algorithm = alternative.algorithm.as_ref()?;
            not_minimal(it, "routing.alternative.algorithm", algorithm, 1)
        }),
    ]
}

fn not_minimal(
    it: &Subject<'_, Routed<'_>>,
    key: &str,
    algorithm: &Algorithm,
    set: usize,
) -> Option<Sentence> {
    let Scenario { topology, routing, .. } = &it.source.scenario;
    let Topology::Generate(Generator::Dragonfly(shape)) = topology else { return None };
    if routing.tables.is_some() || !matches!(algorithm, Algorithm::ShortestPath(_)) {
        return None;
    }
    let (fabric, routes) = (it.of.0, it.of.1.get(set)?);
    let count = hosts(fabric).count();
    let known =
        |bound: Option<f64>| bound.map_or_else(|| "unknown".to_owned(), |it| format!("{it:.3}"));
    let of_routes = if count.saturating_mul(count) > HOST_PAIRS_MAX {
        "not computed (too many hosts)".to_owned()
    } else {
        known(Statistics::new(fabric, routes).all_to_all.map(|bound| bound.fraction))
    };
    say!(
        "{CODE}: {key} = \"shortest-path\" is not the minimal routing of a dragonfly (local-global-local, one global channel a path): \
         shortest paths may take two global channels. Bound on all-to-all load: {of_routes} for these routes, {} for \
         local-global-local, which is not available",
        known(shape.minimal_routing_bound())
    )
}
