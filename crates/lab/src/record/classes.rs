//! One row a traffic class.

use super::Verdict;
use super::table::{Builder, Table};
use crate::run::Simulation;
use gingham_model::measure::{ClassMeasured, Count};
use gingham_model::{ClassId, Plan};
use serde::Serialize;

/// What a class offered, what the network took, and how long that took.
///
/// Loads are fractions of the senders' links, payload only.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ClassSummary {
    /// Name of the class.
    pub name: String,
    /// Hosts that send.
    pub hosts: usize,
    /// What the numbers are worth.
    pub verdict: Verdict,
    /// Load that the scenario asks for while the class sends; none for a backlogged class and a schedule.
    pub offered_load: Option<f64>,
    /// Load that the sources drew in the window.
    pub drawn_load: f64,
    /// Load that was delivered in the window.
    pub accepted_load: f64,
    /// Half-width of its 95 % interval.
    pub accepted_load_half_width: Option<f64>,
    /// Payload delivered in the window, bytes per second over all hosts of the class.
    pub accepted_bytes_per_second: f64,
    /// Messages created in the window.
    pub messages_created: u64,
    /// Messages created in the window and delivered.
    pub messages_followed: u64,
    /// Messages created in the window and still under way at the end.
    pub messages_censored: u64,
    /// Mean latency from creation to delivery, in nanoseconds.
    pub latency_mean_ns: Option<f64>,
    /// Half-width of its 95 % interval, by batch means.
    pub latency_half_width_ns: Option<f64>,
}

/// The summary of every class.
pub(super) fn summaries(simulation: &Simulation) -> Vec<ClassSummary> {
    ClassId::first(simulation.plan().classes.len()).map(|id| summary(simulation, id)).collect()
}

fn summary(simulation: &Simulation, id: ClassId) -> ClassSummary {
    let plan = simulation.plan();
    let class = &plan.classes[id.index()];
    let measured = simulation.ledger().measured();
    let load = Load::new(plan, id, measured.window().span().as_ps());
    let of = measured.class(id);
    let offered_load = plan.offered_load(id);
    let accepted = of.accepted_bytes_per_ps.map(|rate| rate.scaled(1.0 / load.bytes_per_ps));
    let latency = of.latency_ps.map(|latency| latency.scaled(1e-3));
    let latency_half_width_ns = latency.and_then(|latency| latency.half_width);
    ClassSummary {
        name: class.name.clone(),
        hosts: class.sources.len(),
        verdict: verdict(class.is_open_loop(), &of),
        offered_load,
        drawn_load: load.of(of.created),
        accepted_load: load.of(of.delivered),
        accepted_load_half_width: accepted.and_then(|accepted| accepted.half_width),
        accepted_bytes_per_second: load.bytes_per_second(of.delivered),
        messages_created: of.created.messages,
        messages_followed: of.followed_messages,
        messages_censored: of.censored_messages(),
        latency_mean_ns: latency.map(|latency| latency.mean),
        latency_half_width_ns,
    }
}

/// Turns bytes of the window into fractions of the senders' links.
struct Load {
    span_ps: f64,
    /// Bytes that the links of all senders carry in a picosecond.
    bytes_per_ps: f64,
}

#[expect(clippy::cast_precision_loss, reason = "loads need few digits")]
impl Load {
    fn new(plan: &Plan, id: ClassId, span_ps: u64) -> Self {
        let flit_ps = |endpoint| plan.channel(plan.fabric.endpoint_channel(endpoint)).flit.as_ps();
        let sources = &plan.classes[id.index()].sources;
        let bytes_per_ps = sources.iter().map(|source| 1.0 / flit_ps(source.endpoint) as f64).sum();
        Self { span_ps: span_ps as f64, bytes_per_ps }
    }

    fn of(&self, count: Count) -> f64 {
        if self.span_ps > 0.0 {
            count.bytes as f64 / (self.span_ps * self.bytes_per_ps)
        } else {
            0.0
        }
    }

    fn bytes_per_second(&self, count: Count) -> f64 {
        if self.span_ps > 0.0 { count.bytes as f64 * 1e12 / self.span_ps } else { 0.0 }
    }
}

/// Not converged: no interval.
fn verdict(open_loop: bool, of: &ClassMeasured) -> Verdict {
    if open_loop && of.is_saturated {
        Verdict::Saturated
    } else if of.latency_ps.is_none_or(|latency| latency.half_width.is_none()) {
        Verdict::NotConverged
    } else {
        Verdict::Ok
    }
}

/// The table of classes.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "none is negative")]
pub(super) fn table(classes: &[ClassSummary]) -> Table {
    Builder::new(classes)
        .texts("class", "traffic class", |c| c.name.clone())
        .integers(("hosts", "hosts"), "hosts that send", |c| c.hosts as u64)
        .known(("offered_load", "1"), "load that the scenario asks for", |c| c.offered_load)
        .reals(("drawn_load", "1"), "load that the sources drew in the window", |c| c.drawn_load)
        .reals(("accepted_load", "1"), "load delivered in the window", |c| c.accepted_load)
        .known(("accepted_load_half_width", "1"), "half-width of the 95 % interval", |c| {
            c.accepted_load_half_width
        })
        .integers(("accepted_bytes_per_s", "B/s"), "payload delivered in the window", |c| {
            c.accepted_bytes_per_second as u64
        })
        .integers(("messages_created", "messages"), "created in the window", |c| c.messages_created)
        .integers(("messages_followed", "messages"), "of these, delivered", |c| c.messages_followed)
        .integers(("messages_censored", "messages"), "of these, still under way", |c| {
            c.messages_censored
        })
        .known(("latency_mean_ns", "ns"), "creation to delivery", |c| c.latency_mean_ns)
        .known(("latency_half_width_ns", "ns"), "half-width of the 95 % interval", |c| {
            c.latency_half_width_ns
        })
        .build("classes", "a row a traffic class: the summary's numbers")
}
