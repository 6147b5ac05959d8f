//! Bottlenecks of a run: overloaded channels, endpoints that fall behind, and the busiest channels.

use super::links::Link;
use super::served::Served;
use super::view::RunView;
use crate::bound::BoundKind;
use gingham_net::measure::Estimate;
use gingham_net::{ClassId, Plan};
use gingham_topology::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;

const CHANNELS: usize = 3;
const NAMES: usize = 3;

/// One of the busiest channels of a run.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct BusyChannel {
    /// Name of the channel.
    pub channel: String,
    /// Utilisation: share of the window during which flits occupy the channel.
    pub utilisation: f64,
    /// Half-width of the 95 % confidence interval of the utilisation.
    pub utilisation_half_width: Option<f64>,
    /// Expected traffic of all classes except backlogged ones, as a fraction of the channel's
    /// capacity. Missing if a class has too many host pairs; between switches, also missing if
    /// packets choose their paths by the state of the network.
    pub expected_share: Option<f64>,
    /// Number of flows whose paths use the channel; missing if a class has too many host pairs, or
    /// packets choose their paths by the state of the network.
    pub flows: Option<u64>,
    /// Names of some flows that use the channel.
    pub examples: Vec<String>,
}

pub(super) fn busiest(view: &RunView<'_>, links: &[Link]) -> Vec<BusyChannel> {
    let mut busy: Vec<(ChannelId, Estimate)> =
        links.iter().filter_map(Link::busy).filter(|(_, of)| of.mean > 0.0).collect();
    busy.sort_by(|a, b| b.1.mean.total_cmp(&a.1.mean).then(a.0.cmp(&b.0)));
    busy.truncate(CHANNELS);
    busy.into_iter().map(|(channel, of)| busy_channel(view, channel, of)).collect()
}

fn busy_channel(view: &RunView<'_>, channel: ChannelId, of: Estimate) -> BusyChannel {
    let (plan, bound) = (view.plan(), &view.compiled.bound);
    let is_known = bound.kinds().all(|kind| kind == BoundKind::AllChannels);
    let examples = if is_known { bound.examples(plan, channel, NAMES) } else { Vec::new() };
    let name = |(class, from, to)| {
        flow_name(plan, class, [from, to].map(|end| plan.fabric.endpoint_name(end)))
    };
    BusyChannel {
        channel: plan.fabric.channel_name(channel),
        utilisation: of.mean,
        utilisation_half_width: of.half_width,
        expected_share: bound.knows(plan, channel).then(|| bound.offered_share(channel)),
        flows: is_known.then(|| bound.flows(channel)),
        examples: examples.into_iter().map(name).collect(),
    }
}

fn flow_name(plan: &Plan, class: ClassId, [from, to]: [String; 2]) -> String {
    if plan.classes.len() == 1 {
        format!("{from} -> {to}")
    } else {
        format!("{from} -> {to} of {}", plan.classes[class.index()].name)
    }
}

/// Explains why a class has no steady state, for reasons other than its mean load; `None` without
/// evidence.
///
/// The load bound is evidence in any window. Endpoints that fall behind are evidence only if
/// `is_long_enough`: during the first few mean latencies, the backlog grows even in a network that
/// carries its load.
pub(super) fn without_steady_state(
    view: &RunView<'_>,
    id: ClassId,
    served: &Served,
    is_long_enough: bool,
) -> Option<String> {
    let plan = view.plan();
    let bound = view.compiled.bound.class(plan, id);
    let over = bound.over_alone.map(|over| {
        let flows = view.compiled.bound.flows_of(id, over.channel);
        let plural = if flows == 1 { "" } else { "s" };
        format!(
            "its offered traffic asks for {:.2} times the capacity of {}, which {flows} flow{plural} take",
            over.share,
            plan.fabric.channel_name(over.channel)
        )
    });
    let endpoints = is_long_enough.then(|| {
        let destinations = behind("destination", "is delivered", &served.destinations);
        [destinations, behind("sender", "is accepted", &served.senders)]
    });
    let reasons: Vec<String> =
        std::iter::once(over).chain(endpoints.into_iter().flatten()).flatten().collect();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

fn behind(what: &str, fate: &str, endpoints: &[(String, f64)]) -> Option<String> {
    if endpoints.is_empty() {
        return None;
    }
    let named: Vec<String> = endpoints
        .iter()
        .take(NAMES)
        .map(|(name, share)| format!("{name} ({:.0} % {fate})", 100.0 * share))
        .collect();
    let plural = if endpoints.len() == 1 { "" } else { "s" };
    let verb = if endpoints.len() == 1 { "falls" } else { "fall" };
    let rest = if endpoints.len() > NAMES { ", ..." } else { "" };
    Some(format!("{} {what}{plural} {verb} behind: {}{rest}", endpoints.len(), named.join(", ")))
}
