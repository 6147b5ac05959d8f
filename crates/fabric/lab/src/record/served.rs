//! Service of the least served endpoints of a class.
//!
//! ```text
//!   sender s        the larger of
//!                     accepted load of s / offered load of s   x offered load of the class
//!                     delivered payload / created payload      x generated load of the class
//!   flow f          delivered payload / created payload        x generated load of the class
//!   destination d   delivered payload / created payload, of messages to d
//! ```
//!
//! Dally and Towles define throughput as the accepted traffic of the least served flow, relative to
//! its share of the traffic matrix ("Principles and Practices of Interconnection Networks", Morgan
//! Kaufmann 2004, section 23.1). If every sender has one flow, this is the minimum over senders.
//! Otherwise flows are compared if they are counted individually, and senders if not.
//!
//! *(ours)* The payload that a sender creates in a window varies by chance. A sender that creates
//! less than its share is fully served if all of this payload is delivered. Past saturation, a
//! sender may create more than its share without an effect on its accepted payload. The load of a
//! sender is therefore the larger of the two values above. A few messages stay undelivered by
//! chance, so a flow is compared only if it creates at least [`MESSAGES_MIN`] messages, and a
//! sender only if it creates the payload of [`MESSAGES_MIN`] messages of maximum length.

use super::load::Capacity;
use super::view::RunView;
use gingham_kernel::Span;
use gingham_net::measure::{EndpointReport, FlowReport};
use gingham_net::{ClassId, ClassPlan, Plan};
use gingham_results::real;
use gingham_topology::{EndpointId, Fabric};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const MESSAGES_MIN: u64 = 30;
/// Share of undelivered payload above which an endpoint falls behind.
const BEHIND: f64 = 0.05;

/// Service of the least served endpoints of a class.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct ServedSummary {
    /// Accepted load of the least served sender or flow, scaled by its share of the offered traffic
    /// and in the unit of `accepted_load` (Dally and Towles 2004, section 23.1).
    #[schemars(extend("x-unit" = "1"))]
    pub least_served_load: Option<f64>,
    /// Name of the least served sender, or of the least served flow if flows are counted.
    #[schemars(extend("x-unit" = ""))]
    pub least_served: Option<String>,
    /// Payload delivered in the window to the least served destination, as a fraction of the
    /// payload created for it.
    #[schemars(extend("x-unit" = "1"))]
    pub least_served_destination_share: Option<f64>,
    /// Name of the least served destination.
    #[schemars(extend("x-unit" = ""))]
    pub least_served_destination: Option<String>,
    /// Number of destinations whose backlog grew by more than 5 % of the payload created for them,
    /// and by more than chance explains.
    #[schemars(extend("x-unit" = "hosts"))]
    pub destinations_behind: usize,
    /// Number of senders whose backlog grew by more than 5 % of the payload that they created, and
    /// by more than chance explains; 0 for a backlogged class.
    #[schemars(extend("x-unit" = "hosts"))]
    pub senders_behind: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Served {
    pub(super) summary: ServedSummary,
    /// Destinations that fall behind, least served first, each with the delivered fraction of its
    /// payload.
    pub(super) destinations: Vec<(String, f64)>,
    pub(super) senders: Vec<(String, f64)>,
}

type Least = Option<(String, f64)>;

impl Served {
    pub(super) fn of(view: &RunView<'_>, id: ClassId, generated_load: f64) -> Self {
        let fabric = &view.plan().fabric;
        let class = &view.plan().classes[id.index()];
        let senders = view.report.served_senders(id);
        let destinations = view.report.served_destinations(id);
        let least = least_flow(view, id, generated_load)
            .or_else(|| least_sender(view, id, &senders, generated_load));
        let shares = destinations.iter().filter(|one| one.created_bytes > 0);
        let worst = shares.min_by(|a, b| share(a).total_cmp(&share(b)));
        let behind = |reports: &[EndpointReport]| {
            if class.is_open_loop() { behind(fabric, reports) } else { Vec::new() }
        };
        let (destinations_behind, senders_behind) = (behind(&destinations), behind(&senders));
        Self {
            summary: ServedSummary {
                least_served_load: least.as_ref().map(|(_, load)| *load),
                least_served: least.map(|(name, _)| name),
                least_served_destination_share: worst.map(share),
                least_served_destination: worst.map(|one| fabric.endpoint_name(one.endpoint)),
                destinations_behind: destinations_behind.len(),
                senders_behind: senders_behind.len(),
            },
            destinations: destinations_behind,
            senders: senders_behind,
        }
    }
}

fn share(of: &EndpointReport) -> f64 {
    real(of.delivered_bytes.into()) / real(of.created_bytes.into())
}

fn behind(fabric: &Fabric, reports: &[EndpointReport]) -> Vec<(String, f64)> {
    let mut found: Vec<&EndpointReport> =
        reports.iter().filter(|one| one.falls_behind(BEHIND)).collect();
    found.sort_by(|a, b| share(a).total_cmp(&share(b)));
    found.into_iter().map(|one| (fabric.endpoint_name(one.endpoint), share(one))).collect()
}

fn least_sender(
    view: &RunView<'_>,
    id: ClassId,
    reports: &[EndpointReport],
    generated_load: f64,
) -> Least {
    let plan = view.plan();
    let span = view.report.class_window(id).span();
    if span == Span::ZERO {
        return None;
    }
    let class = &plan.classes[id.index()];
    let least_bytes = least_bytes(class);
    let delivered: BTreeMap<EndpointId, u64> =
        reports.iter().map(|one| (one.endpoint, one.delivered_bytes)).collect();
    let accepted = |sender: EndpointId| {
        let bytes = delivered.get(&sender).copied().unwrap_or(0);
        Capacity::of_endpoint(plan, sender).load(bytes, span)
    };
    let loads: Vec<(EndpointId, f64)> = if class.is_open_loop() {
        let weights = weights(plan, id);
        let load = |one: &EndpointReport| {
            let weight = weights.get(&one.endpoint).filter(|weight| **weight > 0.0);
            let of_share = weight.map_or(0.0, |weight| accepted(one.endpoint) / weight);
            (one.endpoint, of_share.max(share(one) * generated_load))
        };
        let counts =
            |one: &&EndpointReport| least_bytes.get(&one.endpoint) <= Some(&one.created_bytes);
        reports.iter().filter(|one| one.created_bytes > 0).filter(counts).map(load).collect()
    } else {
        let all: u64 = delivered.values().sum();
        if all < least_bytes.values().sum() {
            return None;
        }
        least_bytes.into_keys().map(|sender| (sender, accepted(sender))).collect()
    };
    let (sender, load) = loads.into_iter().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    // Each load is the larger of two random values, so even the minimum could exceed the mean.
    let mean = Capacity::of(plan, id).load(delivered.values().sum(), span);
    Some((plan.fabric.endpoint_name(sender), load.min(mean)))
}

fn least_bytes(class: &ClassPlan) -> BTreeMap<EndpointId, u64> {
    let mut least: BTreeMap<EndpointId, u64> = BTreeMap::new();
    for source in &class.sources {
        let bytes = MESSAGES_MIN * u64::from(*source.payload_bytes().end());
        let of_sender = least.entry(source.endpoint).or_default();
        *of_sender = bytes.max(*of_sender);
    }
    least
}

fn weights(plan: &Plan, id: ClassId) -> BTreeMap<EndpointId, f64> {
    let Some(offered) = plan.offered_load(id) else { return BTreeMap::new() };
    let mut loads: BTreeMap<EndpointId, f64> = BTreeMap::new();
    for source in &plan.classes[id.index()].sources {
        let byte_ps = plan.byte_ps(plan.fabric.endpoint_channel(source.endpoint));
        *loads.entry(source.endpoint).or_default() += source.load(byte_ps).unwrap_or(0.0);
    }
    loads.into_iter().map(|(sender, load)| (sender, load / offered)).collect()
}

fn least_flow(view: &RunView<'_>, id: ClassId, generated_load: f64) -> Least {
    let class = &view.plan().classes[id.index()];
    if !class.is_open_loop() || view.report.class_flows(id).is_none() || is_alone(class) {
        return None;
    }
    let share = |flow: &FlowReport| {
        real(flow.delivered.bytes.into()) / real(flow.created.bytes.max(1).into())
    };
    let flows = view.report.flows();
    let compared =
        flows.iter().filter(|flow| flow.key.class == id && flow.created.messages >= MESSAGES_MIN);
    let least = compared.min_by(|a, b| share(a).total_cmp(&share(b)))?;
    let [from, to] =
        [least.key.source, least.key.destination].map(|end| view.plan().fabric.endpoint_name(end));
    Some((format!("{from} -> {to}"), share(least) * generated_load))
}

fn is_alone(class: &ClassPlan) -> bool {
    use gingham_net::traffic::{DestinationPlan, MessagePlan, SourcePlan};
    let senders: BTreeSet<EndpointId> = class.senders().collect();
    let is_fixed = |source: &SourcePlan| match &source.messages {
        MessagePlan::Drawn(drawn) => matches!(drawn.destinations, DestinationPlan::Fixed(_)),
        MessagePlan::Stream(_) => true,
        MessagePlan::Scheduled(_) | MessagePlan::Replies(_) => false,
    };
    senders.len() == class.sources.len() && class.sources.iter().all(is_fixed)
}
