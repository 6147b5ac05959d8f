//! From a scenario to a plan: names become ids, units integers, and what cannot work is refused.

mod cables;
mod classes;
mod measure;

pub(crate) use measure::quantity_name;

use crate::error::{DeadlockReport, LabError};
use crate::scenario::{self, ScenarioSource};
use gingham_input::{FileRead, InputError};
use gingham_kernel::Span;
use gingham_model::{InTransitPlan, PathChoice, Plan, Switching, WormholeParameters, WormholePlan};
use gingham_topology::routing::{self, Proof, Routes};
use gingham_topology::{Fabric, Finding};
use std::sync::Arc;

/// The longest run: far below what 64 bits of picoseconds hold, with room for what is in flight.
const TIME_MAX: Span = Span::from_ps(1_000_000 * 1_000_000_000_000);

/// A plan, and what a reader of its results should know.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// The plan.
    pub plan: Arc<Plan>,
    /// The percentiles that were asked for, in ascending order.
    pub percentiles: Vec<f64>,
    /// The parameters in force, before they grew with the cables.
    pub parameters: WormholeParameters,
    /// What was decided on the way and could surprise.
    pub notes: Vec<String>,
    /// Findings of the fabric file.
    pub findings: Vec<Finding>,
    /// Whether the routes are free of deadlock; a cycle only if that was allowed.
    pub proof: Proof,
    /// The files that were read, with their digests; the scenario's own stands elsewhere.
    pub files: Vec<FileRead>,
}

/// What a compilation collects beside its plan.
#[derive(Default)]
struct Gathered {
    notes: Vec<String>,
    files: Vec<FileRead>,
}

/// Compiles a scenario. Routes that could deadlock are refused unless `allow_deadlock`.
pub fn compile(source: &ScenarioSource, allow_deadlock: bool) -> Result<Compiled, LabError> {
    let scenario = &source.scenario;
    // What needs no fabric first: routing a big one takes a while.
    let stop = measure::stop(source)?;
    let measure = measure::measure(source)?;
    let percentiles = measure::percentiles(source)?;
    let origin = scenario::fabric(source)?;
    let fabric = origin.loaded.fabric;
    let routes = routing::route(&fabric, &scenario.routing.algorithm, scenario.routing.form)
        .map_err(|error| LabError::from_routing(&source.tree, &error))?;
    let proof = prove(&fabric, &routes, allow_deadlock)?;
    let parameters = scenario.network.parameters();
    let mut gathered = Gathered { files: origin.file.into_iter().collect(), ..Gathered::default() };
    let channels = cables::channels(source, &fabric, &parameters, &mut gathered.notes)?;
    let classes = classes::classes(source, &fabric, &channels, &parameters, &mut gathered)?;
    measure::check_messages(source, &fabric, &channels, &classes)?;
    let plan = Plan {
        seed: scenario.seed,
        channels,
        switching: Switching::Wormhole(wormhole(source, &parameters)?),
        classes,
        stop,
        measure,
        fabric,
        path_sets: vec![routes],
        path_choice: PathChoice::Only,
        in_transit: InTransitPlan::default(),
    };
    classes::check_packets(source, &plan)?;
    Ok(Compiled {
        plan: Arc::new(plan),
        percentiles,
        parameters,
        notes: gathered.notes,
        findings: origin.loaded.findings,
        proof,
        files: gathered.files,
    })
}

fn prove(fabric: &Fabric, routes: &Routes, allow_deadlock: bool) -> Result<Proof, LabError> {
    // Only hosts send: what aggregation nodes and routers could do to each other is no matter here.
    let proof = routing::prove_between_hosts(fabric, routes);
    match &proof {
        Proof::Cycle { buffers } if !allow_deadlock => {
            let report = DeadlockReport::of_routes(fabric, routes, buffers);
            Err(LabError::Deadlock(Box::new(report)))
        }
        _ => Ok(proof),
    }
}

fn wormhole(
    source: &ScenarioSource,
    parameters: &WormholeParameters,
) -> Result<WormholePlan, LabError> {
    let header = &parameters.header;
    let overhead = header.type_bytes.0.checked_add(header.trailer_bytes.0);
    let overhead = overhead.and_then(|bytes| u32::try_from(bytes).ok()).filter(|b| *b < 1 << 20);
    let overhead_bytes = overhead.ok_or_else(|| {
        InputError::at(&source.tree, "network.header", "type and trailer must be below 1 MiB")
    })?;
    Ok(WormholePlan {
        routing_delay: parameters.routing_delay,
        setup_delay: parameters.setup_delay,
        route_bytes: header.route_bytes,
        overhead_bytes,
        mark_bytes: 0,
        arbitration: parameters.arbitration,
    })
}
