//! One row a traffic class.

use super::Verdict;
use super::table::{Builder, Table};
use crate::run::Simulation;
use gingham_model::measure::{ClassLedger, Count, Estimate, Slice};
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
    let ledger = &simulation.ledger().classes()[id.index()];
    let end = simulation.now();
    let window = ledger.window(plan.warm_up, end);
    let span_ps = if end > plan.warm_up { end.since(plan.warm_up).as_ps() } else { 0 };
    let load = Load::new(plan, id, span_ps);
    let latency = ledger.latency_ps(plan.warm_up, end);
    let offered_load = plan.offered_load(id);
    let slice_load = load.per_slice(ledger.slices.width().as_ps());
    let accepted = Estimate::delivered_bytes(window);
    let followed = ledger.window_followed.messages;
    let half_width_ns = latency.and_then(|latency| latency.half_width).map(|ps| ps / 1e3);
    ClassSummary {
        name: class.name.clone(),
        hosts: class.sources.len(),
        verdict: verdict(class.is_open_loop(), ledger, window, half_width_ns),
        offered_load,
        drawn_load: load.of(ledger.window_created),
        accepted_load: load.of(ledger.window_delivered),
        accepted_load_half_width: accepted.and_then(|a| a.half_width).map(|h| h * slice_load),
        accepted_bytes_per_second: load.bytes_per_second(ledger.window_delivered),
        messages_created: ledger.window_created.messages,
        messages_followed: followed,
        messages_censored: ledger.window_created.messages - followed,
        latency_mean_ns: latency.map(|latency| latency.mean / 1e3),
        latency_half_width_ns: half_width_ns,
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

    /// What one byte in a slice of this width amounts to.
    fn per_slice(&self, width_ps: u64) -> f64 {
        1.0 / (width_ps as f64 * self.bytes_per_ps)
    }

    fn bytes_per_second(&self, count: Count) -> f64 {
        if self.span_ps > 0.0 { count.bytes as f64 * 1e12 / self.span_ps } else { 0.0 }
    }
}

/// Saturated: less was delivered than drawn, by more than the interval, while the backlog grew
/// through both halves of the window. Not converged: no interval.
fn verdict(
    open_loop: bool,
    ledger: &ClassLedger,
    window: &[Slice],
    half_width_ns: Option<f64>,
) -> Verdict {
    let first_half = &window[..window.len() / 2];
    let backlog_growth = |slices: &[Slice]| {
        let created: i128 = slices.iter().map(|slice| i128::from(slice.created_bytes)).sum();
        let delivered: i128 = slices.iter().map(|slice| i128::from(slice.delivered_bytes)).sum();
        created - delivered
    };
    let grew = backlog_growth(first_half) > 0 && backlog_growth(&window[first_half.len()..]) > 0;
    let (drawn, taken) = (ledger.window_created.bytes, ledger.window_delivered.bytes);
    let interval = Estimate::delivered_bytes(window).and_then(|estimate| estimate.half_width);
    #[expect(clippy::cast_precision_loss, reason = "a comparison of loads")]
    let short = interval.is_some_and(|half_width| {
        drawn.saturating_sub(taken) as f64 > half_width * window.len() as f64
    });
    if open_loop && short && grew {
        Verdict::Saturated
    } else if half_width_ns.is_none() {
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
