//! From a scenario to a plan: names become ids, units integers, and what cannot work is refused.

mod cables;
mod classes;
mod in_transit;
mod measure;
mod paths;
mod pool;

pub(crate) use measure::quantity_name;

use crate::error::LabError;
use crate::scenario::{self, ScenarioSource};
use gingham_input::FileRead;
use gingham_kernel::Span;
use gingham_model::{Plan, Switching, WormholeParameters, WormholePlan};
use gingham_topology::Finding;
use gingham_topology::routing::{Proof, RouteSet};
use paths::Paths;
use std::sync::Arc;

/// The longest run: far below what 64 bits of picoseconds hold, with room for what is in flight.
const TIME_MAX: Span = Span::from_ps(1_000_000 * 1_000_000_000_000);

/// The most bytes of a mark: more than anything that it could have to say.
const MARK_MAX_BYTES: u32 = 1 << 10;

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
    let parameters = scenario.network.parameters();
    let in_transit = in_transit::plan(source, &parameters)?;
    let wormhole = wormhole(source, &parameters)?;
    let mut gathered = Gathered { files: origin.file.into_iter().collect(), ..Gathered::default() };
    let Paths { sets: path_sets, choice: path_choice } =
        paths::paths(source, &fabric, &mut gathered)?;
    in_transit::note_unused(source, &path_sets, &mut gathered);
    in_transit::note_fall_backs(&fabric, &path_sets, &mut gathered);
    let hosts = in_transit::take_in(&parameters);
    let routes = RouteSet { alternatives: &path_sets, lanes: None, hosts };
    let proof = paths::prove(&fabric, routes, allow_deadlock)?;
    let channels = cables::channels(source, &fabric, &parameters, &mut gathered.notes)?;
    let classes = classes::classes(source, &fabric, &channels, &parameters, &mut gathered)?;
    paths::note_unused(&path_choice, &classes, &mut gathered);
    measure::check_messages(source, &fabric, &channels, &classes)?;
    let plan = Plan {
        seed: scenario.seed,
        channels,
        switching: Switching::Wormhole(wormhole),
        classes,
        stop,
        measure,
        fabric,
        path_sets,
        path_choice,
        in_transit,
    };
    classes::check_packets(source, &plan)?;
    pool::check(source, &plan)?;
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

fn wormhole(
    source: &ScenarioSource,
    parameters: &WormholeParameters,
) -> Result<WormholePlan, LabError> {
    let header = &parameters.header;
    let overhead = header.type_bytes.0.checked_add(header.trailer_bytes.0);
    let overhead = overhead.and_then(|bytes| u32::try_from(bytes).ok()).filter(|b| *b < 1 << 20);
    let overhead_bytes = overhead
        .ok_or_else(|| source.refuse("network.header", "type and trailer must be below 1 MiB"))?;
    let mark_bytes =
        u32::try_from(header.mark_bytes.0).ok().filter(|bytes| *bytes <= MARK_MAX_BYTES);
    let mark_bytes = mark_bytes.ok_or_else(|| {
        let message = format!(
            "the mark before an in-transit host has at most {MARK_MAX_BYTES} B, not {}",
            header.mark_bytes
        );
        source.refuse("network.header.mark_bytes", message)
    })?;
    Ok(WormholePlan {
        routing_delay: parameters.routing_delay,
        setup_delay: parameters.setup_delay,
        route_bytes: header.route_bytes,
        overhead_bytes,
        mark_bytes,
        arbitration: parameters.arbitration,
    })
}
