//! Compilation of a scenario into a plan.

mod adaptive;
pub(crate) mod cables;
pub(crate) mod classes;
mod crashes;
mod dragonfly;
mod draws;
pub(crate) mod follow;
pub(crate) mod gathered;
mod imported;
pub(crate) mod lanes;
pub(crate) mod longest;
pub(crate) mod measure;
mod milestone;
pub(crate) mod network;
pub(crate) mod packets;
pub(crate) mod paths;
mod route_source;
pub(crate) mod written;

pub(crate) use draws::nouns;
pub use draws::{Draw, DrawKind};
pub(crate) use measure::quantity_name;
pub use milestone::Milestone;
pub use route_source::routes_title;
pub(crate) use written::first_written;

use crate::bound::TrafficBound;
use crate::check::{Subject, check};
use crate::error::LabError;
use crate::mechanisms::{admission, flow_control, in_transit, marking, policing, posting, window};
use crate::scenario::{self, Parameters, ScenarioSource};
use classes::sending;
use gathered::Gathered;
use gingham_input::FileRead;
use gingham_net::{FollowPlan, Plan};
use gingham_topology::Finding;
use gingham_topology::routing::Proof;
use network::{Links, NetworkKind};
use std::sync::Arc;

/// Plan of a run, with data for its results.
#[derive(Clone, Debug)]
pub struct Compiled {
    /// Plan.
    pub plan: Arc<Plan>,
    /// Requested percentiles of latency, in ascending order.
    pub percentiles: Vec<f64>,
    /// Parameters before buffers are enlarged for long cables.
    pub parameters: Parameters,
    /// Description of the simulated network, for titles.
    pub network: String,
    /// Source of the routes, for titles.
    pub routes: String,
    /// Notes on decisions that the user may not expect.
    pub notes: Vec<String>,
    /// Problems found in the fabric file.
    pub findings: Vec<Finding>,
    /// Random values drawn once per run; results are valid only for these values.
    pub draws: Vec<Draw>,
    /// Proof of deadlock freedom, or the cycle if the caller allowed deadlocks.
    pub proof: Proof,
    /// Expected channel loads, and the load bound of each class.
    pub bound: Arc<TrafficBound>,
    /// Files read during compilation, with digests, except the scenario file.
    pub files: Vec<FileRead>,
}

/// Compiles a scenario. Refuses routes that can deadlock unless `allow_deadlock` is set.
pub fn compile(source: &ScenarioSource, allow_deadlock: bool) -> Result<Compiled, LabError> {
    compile_observed(source, allow_deadlock, &mut |_| ())
}

/// Compiles like [`compile`], and calls `reached` at each milestone.
pub fn compile_observed(
    source: &ScenarioSource,
    allow_deadlock: bool,
    reached: &mut dyn FnMut(Milestone),
) -> Result<Compiled, LabError> {
    // Run the checks without a fabric first, because routing a large fabric is slow.
    let gathered = &mut Gathered::default();
    check_measurement(source, gathered)?;
    let origin = scenario::fabric(source)?;
    reached(Milestone::Fabric);
    let source = &scenario::completed(source, &origin)?;
    let scenario = &source.scenario;
    let stop = measure::stop(&scenario.stop);
    let (fabric, is_dump) = (origin.loaded.fabric, origin.loaded.is_dump);
    let parameters = scenario.network.parameters();
    let limit = Subject::of_table(source, "network", &parameters.links);
    check(&sending::of_limit(), &limit, gathered)?;
    gathered.files.extend(origin.file);
    let table = Subject::of_table(source, "network.in_transit", parameters.in_transit);
    check(&in_transit::of_keys(), &table, gathered)?;
    let kind = NetworkKind::of(source, &parameters, gathered)?;
    let imported = imported::imported(source, &fabric, gathered)?;
    // With admission control, switches respond to probes, and these responses need routes.
    let sending = admission::sending_fabric(source, &fabric);
    let routing = paths::paths(source, &sending, imported.routes, gathered)?;
    let sets = Subject::of_table(source, "", (&*sending, &routing.paths[..]));
    check(&dragonfly::of_sets(), &sets, gathered)?;
    in_transit::check_paths(source, &fabric, &routing.paths, gathered)?;
    let ejection = in_transit::ejection(&parameters);
    let lanes = kind.lanes.allowed(source, &fabric, imported.lanes, gathered)?;
    let lanes = lanes.with_legs(routing.legs_over_switches());
    let of_sending = admission::sending_lanes(&sending, &lanes);
    let in_force = kind.switching.has_lanes().then_some(&*of_sending);
    let routes = routing.route_set(in_force, ejection);
    let on_lanes = Subject::of_table(source, "routing", (&fabric, routes));
    check(&imported::of_lanes(), &on_lanes, gathered)?;
    reached(Milestone::Routes);
    let proof = paths::prove(source, &sending, routes, &kind, allow_deadlock, gathered)?;
    reached(Milestone::Proof);
    let channels = cables::channels(source, &fabric, &parameters, &kind, gathered)?;
    let admission = admission::plan(source, &kind, &channels, gathered)?;
    let links =
        Links { fabric: &fabric, channels: &channels, parameters: &parameters, kind: &kind };
    let adapters = posting::adapters(source, links, gathered)?;
    let classes = classes::classes(source, links, gathered)?;
    let sent = Subject::of_table(source, "", (links, &classes[..]));
    check(&measure::of_messages(), &sent, gathered)?;
    let mut plan = Plan {
        seed: scenario.seed,
        events: crashes::plan(source, &fabric, stop.latest_end())?,
        lanes: kind.lanes.plan(lanes),
        switching: network::over(kind.switching, &channels),
        channels,
        classes,
        stop,
        measure: measure::measure(&scenario.measure),
        fabric,
        routing,
        in_transit: parameters.in_transit.plan(),
        follow: FollowPlan::default(),
        marking: scenario.network.marking.clone(),
        probe: None,
        adapters,
        admission,
    };
    check_plan(source, &plan, gathered)?;
    flow_control::settle(source, &parameters, &mut plan, gathered)?;
    plan.follow = follow::plan(source, &plan)?;
    check(&follow::of_plan(), &Subject::of_table(source, "", &plan.follow), gathered)?;
    let plan = admission::settled(source, plan, gathered)?;
    reached(Milestone::Plan);
    check(&route_source::of_dump(), &Subject::of_table(source, "", is_dump), gathered)?;
    let of_file = (origin.loaded.findings, is_dump);
    let compiled = compiled(source, plan, (proof, parameters), of_file, std::mem::take(gathered));
    reached(Milestone::Bound);
    Ok(compiled)
}

fn check_measurement(source: &ScenarioSource, gathered: &mut Gathered) -> Result<(), LabError> {
    let stop = Subject::of_table(source, "stop", &source.scenario.stop);
    check(&measure::of_stop(), &stop, gathered)?;
    let measured = &Subject::of_table(source, "measure", &source.scenario.measure);
    check(&measure::of_measure(), measured, gathered)?;
    if let Some(follow) = &measured.follow {
        check(&follow::of_keys(), &Subject::of_table(source, "measure.follow", follow), gathered)?;
    }
    check(&measure::of_percentiles(), measured, gathered)
}

fn compiled(
    source: &ScenarioSource,
    plan: Plan,
    (proof, parameters): (Proof, Parameters),
    (findings, is_dump): (Vec<Finding>, bool),
    mut gathered: Gathered,
) -> Compiled {
    let bound = TrafficBound::new(&plan);
    gathered.notes.extend(bound.notes(&plan));
    let draws = draws::draws(source, &plan);
    Compiled {
        plan: Arc::new(plan),
        percentiles: measure::percentiles(&source.scenario.measure),
        parameters,
        network: source.scenario.network.describe(),
        routes: route_source::describe(source, is_dump, &proof),
        notes: gathered.notes,
        findings,
        draws,
        proof,
        bound: Arc::new(bound),
        files: gathered.files,
    }
}

fn check_plan(
    source: &ScenarioSource,
    plan: &Plan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let planned = &Subject::of_table(source, "", plan);
    check(&paths::of_plan(), planned, gathered)?;
    check(&sending::of_plan(), planned, gathered)?;
    check(&measure::of_plan(), planned, gathered)?;
    check(&policing::of_plan(), planned, gathered)?;
    check(&window::of_plan(), planned, gathered)?;
    check(&in_transit::of_plan(), planned, gathered)?;
    check(&posting::of_plan(), planned, gathered)?;
    check(&admission::of_plan(), planned, gathered)?;
    network::check(source, plan, gathered)?;
    check(&marking::of_plan(), planned, gathered)
}
