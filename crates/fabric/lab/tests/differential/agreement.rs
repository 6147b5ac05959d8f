//! Comparison of engine and oracle, for every stepper of the engine.

use gingham_kernel::{Span, Time};
use gingham_net::measure::ChannelCount;
use gingham_net::{
    Delivery, KeptMessages, MeasurePlan, Noted, Plan, Simulation, Status, SteppedBy,
};
use gingham_oracle::Audited;
use std::fmt::Debug;
use std::slice::from_ref;
use std::sync::Arc;

struct Outcome {
    status: Status,
    end: Time,
    deliveries: Vec<Delivery>,
    counts: Vec<ChannelCount>,
    /// Sums by slice, channel counts at every section end, and the window.
    collector: String,
    noted: Vec<Noted>,
}

fn outcome(simulation: &mut dyn Simulation) -> Outcome {
    let mut deliveries = Vec::new();
    // In pieces, because the size of a call must not matter.
    while *simulation.advance(1_009) == Status::Running {
        simulation.assert_invariants();
        deliveries.extend(simulation.take_messages());
    }
    deliveries.extend(simulation.take_messages());
    Outcome {
        status: simulation.status().clone(),
        end: simulation.now(),
        deliveries,
        counts: simulation.channel_counts(),
        collector: format!("{:?}", simulation.collector()),
        noted: simulation.endpoints().noted().to_vec(),
    }
}

fn all_ways(plan: &Arc<Plan>) -> Vec<Box<dyn Simulation>> {
    let by = |by| gingham_engine::start_by(Arc::clone(plan), by).ok();
    let ways: Vec<_> = [SteppedBy::Ports, SteppedBy::Columns].into_iter().filter_map(by).collect();
    if ways.is_empty() { vec![gingham_engine::start(Arc::clone(plan))] } else { ways }
}

pub(crate) fn difference(plan: &Plan) -> Option<String> {
    let tree_step = plan.measure.tree_step.or_else(|| tree_step(plan));
    let measure = MeasurePlan { messages: KeptMessages::All, tree_step, ..plan.measure };
    let plan = &Arc::new(Plan { measure, ..plan.clone() });
    let mut simulation = gingham_oracle::start(Arc::clone(plan));
    let oracle = outcome(&mut *simulation);
    let is_audited =
        simulation.audited(Audited::Turn) > 0 && simulation.audited(Audited::Order) > 0;
    assert!(oracle.deliveries.is_empty() || is_audited, "the audit compares nothing");
    all_ways(plan).into_iter().find_map(|mut engine| {
        let way = engine.stepping().map(|stepping| stepping.by);
        let found = differ_in_outcome(&oracle, &outcome(&mut *engine))?;
        Some(way.map_or_else(|| found.clone(), |way| format!("by {way:?}: {found}")))
    })
}

fn differ_in_outcome(oracle: &Outcome, engine: &Outcome) -> Option<String> {
    differ("notice", &oracle.noted, &engine.noted)
        .or_else(|| differ("status", from_ref(&oracle.status), from_ref(&engine.status)))
        .or_else(|| differ("delivery", &oracle.deliveries, &engine.deliveries))
        .or_else(|| differ("channel", &oracle.counts, &engine.counts))
        .or_else(|| differ("end", &[oracle.end], &[engine.end]))
        .or_else(|| differ_in_text(&oracle.collector, &engine.collector))
}

/// Some fifty searches in a run; none in every third case.
pub(crate) fn tree_step(plan: &Plan) -> Option<Span> {
    if plan.routing.is_adaptive() {
        return None; // Packets that wait for several outputs are in no tree.
    }
    let step_ps = plan.stop.time.as_ps() / (40 + plan.seed % 25);
    (!plan.seed.is_multiple_of(3)).then(|| Span::from_ps(step_ps.max(1)))
}

fn differ<T: PartialEq + Debug>(what: &str, oracle: &[T], engine: &[T]) -> Option<String> {
    let places = 0..oracle.len().max(engine.len());
    let place = { places }.find(|place| oracle.get(*place) != engine.get(*place))?;
    let (oracle, engine) = (oracle.get(place), engine.get(place));
    Some(format!("{what} {place}:\noracle {oracle:?}\nengine {engine:?}"))
}

fn differ_in_text(oracle: &str, engine: &str) -> Option<String> {
    let words = |text| str::split_inclusive(text, "}, ").collect::<Vec<_>>();
    if oracle == engine { None } else { differ("collector", &words(oracle), &words(engine)) }
}
