//! Loads, latencies and message counts by traffic class.

use super::Verdict;
use super::load::{Capacity, bytes_per_ps};
use super::served::{Served, ServedSummary};
use super::verdict::{self, Asked};
use super::view::RunView;
use super::{AdmissionSummary, FrameSummary, PostingSummary};
use crate::bound::BoundSummary;
use gingham_kernel::Span;
use gingham_net::measure::{ClassReport, Estimate, Percentile};
use gingham_net::{ClassId, Hold, Quantity, Trigger};
use gingham_results::{Builder, Table};
use schemars::JsonSchema;
use serde::Serialize;

pub(crate) const PS_PER_NS: f64 = 1e3;
const PS_PER_S: f64 = 1e12;

/// Loads, latencies and message counts of a class.
///
/// Loads are fractions of the senders' link capacity. Half-widths are those of 95 % confidence
/// intervals, and missing if there were too few measurements.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct ClassSummary {
    /// Name of the class.
    pub name: String,
    /// Number of sending hosts; a host with several ports counts once per port.
    #[schemars(extend("x-unit" = "hosts"))]
    pub hosts: usize,
    /// Quality of the class's numbers, from `ok` to `deadlocked`.
    #[schemars(extend("x-unit" = ""))]
    pub verdict: Verdict,
    /// Reason for the verdict, and advice for the next run.
    pub verdict_reason: String,
    /// Start of the measurement window of the class, in picoseconds: the start of the run's window,
    /// or half the run time if the class was not steady in the first half of the run.
    #[schemars(extend("x-unit" = "ps"))]
    pub warm_up_ps: u64,
    /// Payload load set by the scenario, over the active time of the class; missing for backlogged
    /// classes, schedules and replies.
    #[schemars(extend("x-unit" = "1"))]
    pub offered_load: Option<f64>,
    /// Payload load that the sources generated in the window.
    #[schemars(extend("x-unit" = "1"))]
    pub generated_load: f64,
    /// Payload load delivered in the window.
    #[schemars(extend("x-unit" = "1"))]
    pub accepted_load: f64,
    /// Half-width of the 95 % confidence interval of `accepted_load`.
    #[schemars(extend("x-unit" = "1"))]
    pub accepted_load_half_width: Option<f64>,
    /// Rate of payload delivered in the window, in bytes per second, summed over all hosts of the
    /// class.
    #[schemars(extend("x-unit" = "B/s"))]
    pub accepted_bytes_per_s: f64,
    /// Rate of wire bytes delivered in the window, in bytes per second. Wire bytes include the
    /// headers, route bytes and trailers that leave the source.
    #[schemars(extend("x-unit" = "B/s"))]
    pub accepted_wire_bytes_per_s: f64,
    /// Rate of wire bytes delivered in the window, in flits per sending host and flit time of the
    /// host's link.
    #[schemars(extend("x-unit" = "flits"))]
    pub accepted_flits_per_host_cycle: f64,
    /// Service of the least served endpoints.
    #[serde(flatten)]
    pub served: ServedSummary,
    /// Load bound of the class's traffic on the routes of the run.
    #[serde(flatten)]
    pub bound: BoundSummary,
    /// Number of messages created in the window.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_created: u64,
    /// Messages created in the window and delivered in the window or the follow time.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_followed: u64,
    /// Messages created in the window and still in flight at the end of the follow time.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_censored: u64,
    /// Followed messages delayed by policing: at least one packet waited for tokens.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_delayed: u64,
    /// Followed messages demoted by policing, and so sent as messages of another class.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_demoted: u64,
    /// Messages created in the window and dropped by policing, and so never sent.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_dropped: u64,
    /// Mean latency of the followed messages from creation to delivery, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub latency_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `latency_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub latency_half_width_ns: Option<f64>,
    /// Longest latency of the followed messages, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub latency_max_ns: Option<f64>,
    /// Statistics of posting messages to the adapters.
    #[serde(flatten)]
    pub posting: PostingSummary,
    /// Mean latency from the first flit on the host's cable to delivery, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub network_latency_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `network_latency_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub network_latency_half_width_ns: Option<f64>,
    /// Mean latency from the first flit on the host's cable to the arrival of the head, in
    /// nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub head_latency_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `head_latency_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub head_latency_half_width_ns: Option<f64>,
    /// Mean number of switches that a message traverses.
    #[schemars(extend("x-unit" = "switches"))]
    pub hops_mean: Option<f64>,
    /// Half-width of the 95 % confidence interval of `hops_mean`.
    #[schemars(extend("x-unit" = "switches"))]
    pub hops_half_width: Option<f64>,
    /// Mean number of in-transit hosts that a message traverses.
    #[schemars(extend("x-unit" = "hosts"))]
    pub in_transit_hosts_mean: Option<f64>,
    /// Half-width of the 95 % confidence interval of `in_transit_hosts_mean`.
    #[schemars(extend("x-unit" = "hosts"))]
    pub in_transit_hosts_half_width: Option<f64>,
    /// Jain's fairness index of the payload that each flow of the class delivered in the window.
    /// It is 1 if all flows delivered the same amount, and at least 1/n for n flows; missing if
    /// flows are not counted.
    #[schemars(extend("x-unit" = "1"))]
    pub fairness: Option<f64>,
    /// Half-width of the 95 % confidence interval of `fairness`.
    #[schemars(extend("x-unit" = "1"))]
    pub fairness_half_width: Option<f64>,
    /// Share of the window during which the class's flows waited for acknowledgements with a full
    /// window, averaged over flows; missing if flows are not counted.
    #[schemars(extend("x-unit" = "1"))]
    pub held_window: Option<f64>,
    /// Share of the window during which the rate limit delayed the class's flows, averaged over
    /// flows; missing if flows are not counted.
    #[schemars(extend("x-unit" = "1"))]
    pub held_rate_limit: Option<f64>,
    /// Share of the window during which the class's flows waited for tokens, averaged over flows;
    /// missing if flows are not counted.
    #[schemars(extend("x-unit" = "1"))]
    pub held_tokens: Option<f64>,
    /// Maximum number of acknowledgements, of any class, in the queue of an adapter, sampled
    /// whenever an acknowledgement for a packet of this class joined the queue; over the whole run.
    #[schemars(extend("x-unit" = "packets"))]
    pub acks_waiting_max: usize,
    /// Packets marked by switches, as a share of the class's packets that were acknowledged in the
    /// window; missing if no packet was acknowledged, or if only marked packets are acknowledged.
    #[schemars(extend("x-unit" = "1"))]
    pub packets_marked_share: Option<f64>,
    /// Number of data packets that switches marked because an input buffer was full, over the whole
    /// run.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_marked_input: u64,
    /// Number of data packets that switches marked because too many packets waited for an output,
    /// over the whole run.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_marked_output: u64,
    /// Frame statistics of the class's streams.
    #[serde(flatten)]
    pub frames: FrameSummary,
    /// Admission outcomes of the class's streams.
    #[serde(flatten)]
    pub admission: AdmissionSummary,
    /// Requested percentiles of latency; those without enough messages are omitted.
    pub percentiles: Vec<PercentileSummary>,
}

/// A percentile of latency with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct PercentileSummary {
    /// Percentage of the followed messages whose latency is at most `latency_ns`.
    #[schemars(extend("x-unit" = "%"))]
    pub percentile: f64,
    /// Latency in nanoseconds, up to 1 % above the true percentile of the followed messages.
    #[schemars(extend("x-unit" = "ns"))]
    pub latency_ns: f64,
    /// Lower end of the confidence interval, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub low_ns: Option<f64>,
    /// Upper end of the confidence interval, in nanoseconds; missing if too few messages have
    /// higher latencies.
    #[schemars(extend("x-unit" = "ns"))]
    pub high_ns: Option<f64>,
}

pub(crate) fn summaries(view: &RunView<'_>) -> Vec<ClassSummary> {
    ClassId::first(view.plan().classes.len()).map(|id| summary(view, id)).collect()
}

fn summary(view: &RunView<'_>, id: ClassId) -> ClassSummary {
    let plan = view.plan();
    let class = &plan.classes[id.index()];
    let of = view.report.class(id);
    let capacity = Capacity::of(plan, id);
    let window = view.report.class_window(id);
    let span = window.span();
    let offered_load = plan.offered_load(id);
    let accepted_load = capacity.load(of.delivered.bytes, span);
    let accepted = of.accepted_bytes_per_ps.map(|rate| rate.scaled(capacity.load_of(1.0)));
    let generated_load = capacity.load(of.created.bytes, span);
    let open_loop = class.is_open_loop();
    let served = Served::of(view, id, generated_load);
    let flows = view.report.class_flows(id);
    let are_all_acknowledged = class.window.as_ref().is_none_or(|of| of.acknowledged.is_of_all());
    let fairness = flows.and_then(|flows| flows.fairness);
    let held_by = |hold| flows.map(|flows| flows.held.of(hold));
    let asked = Asked { class: id, open_loop, offered_load, generated_load, accepted_load };
    let (verdict, verdict_reason) = verdict::of_class(view, asked, &of, &served);
    let per_second = |bytes| bytes_per_ps(bytes, span) * PS_PER_S;
    let [latency, network_latency, head_latency] =
        [of.latency_ps, of.network_latency_ps, of.head_latency_ps].map(in_ns);
    ClassSummary {
        name: class.name.clone(),
        hosts: class.senders().count(),
        verdict,
        verdict_reason,
        warm_up_ps: window.start.as_ps(),
        offered_load,
        generated_load,
        accepted_load,
        accepted_load_half_width: half_width(accepted),
        accepted_bytes_per_s: per_second(of.delivered.bytes),
        accepted_wire_bytes_per_s: per_second(of.delivered_wire_bytes),
        accepted_flits_per_host_cycle: capacity.load(of.delivered_wire_bytes, span),
        served: served.summary,
        bound: BoundSummary::of(plan, &view.compiled.bound.class(plan, id)),
        messages_created: of.created.messages,
        messages_followed: of.followed_messages,
        messages_censored: of.censored_messages(),
        messages_delayed: of.delayed_messages,
        messages_demoted: of.demoted_messages,
        messages_dropped: of.dropped.messages,
        latency_mean_ns: mean(latency),
        latency_half_width_ns: half_width(latency),
        latency_max_ns: of.latency_max.map(span_ns),
        posting: PostingSummary::of(view, id, &of),
        network_latency_mean_ns: mean(network_latency),
        network_latency_half_width_ns: half_width(network_latency),
        head_latency_mean_ns: mean(head_latency),
        head_latency_half_width_ns: half_width(head_latency),
        hops_mean: mean(of.hops),
        hops_half_width: half_width(of.hops),
        in_transit_hosts_mean: mean(of.in_transit_hosts),
        in_transit_hosts_half_width: half_width(of.in_transit_hosts),
        fairness: mean(fairness),
        fairness_half_width: half_width(fairness),
        held_window: held_by(Hold::Window),
        held_rate_limit: held_by(Hold::RateLimit),
        held_tokens: held_by(Hold::Tokens),
        acks_waiting_max: flows.map_or(0, |flows| flows.acks_waiting_max),
        packets_marked_share: flows
            .and_then(|flows| flows.marked_share)
            .filter(|_| are_all_acknowledged),
        packets_marked_input: view.report.marked_packets(id, Trigger::Input),
        packets_marked_output: view.report.marked_packets(id, Trigger::Output),
        frames: FrameSummary::of(view, id),
        admission: AdmissionSummary::of(view, id),
        percentiles: percentiles(view, id),
    }
}

fn percentiles(view: &RunView<'_>, id: ClassId) -> Vec<PercentileSummary> {
    let asked = &view.compiled.percentiles;
    let shares: Vec<f64> = asked.iter().map(|percent| percent / 100.0).collect();
    let summary = |(percent, found): (&f64, Option<Percentile>)| {
        let found = found?;
        Some(PercentileSummary {
            percentile: *percent,
            latency_ns: span_ns(found.latency),
            low_ns: found.low.map(span_ns),
            high_ns: found.high.map(span_ns),
        })
    };
    let found = view.report.percentiles(id, &shares);
    asked.iter().zip(found).filter_map(summary).collect()
}

pub(crate) fn in_ns(estimate: Option<Estimate>) -> Option<Estimate> {
    Some(estimate?.scaled(1.0 / PS_PER_NS))
}

pub(crate) fn mean(estimate: Option<Estimate>) -> Option<f64> {
    Some(estimate?.mean)
}

pub(crate) fn half_width(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.half_width
}

#[expect(clippy::cast_precision_loss, reason = "a latency needs few digits")]
pub(crate) fn span_ns(span: Span) -> f64 {
    span.as_ps() as f64 / PS_PER_NS
}

pub(crate) fn estimate_of(of: &ClassReport, quantity: Quantity) -> Option<Estimate> {
    match quantity {
        Quantity::Latency => of.latency_ps,
        Quantity::NetworkLatency => of.network_latency_ps,
        Quantity::HeadLatency => of.head_latency_ps,
        Quantity::AcceptedLoad => of.accepted_bytes_per_ps,
        Quantity::Hops => of.hops,
    }
}

pub(crate) fn table(classes: &[ClassSummary]) -> Table {
    Builder::new(classes)
        .texts("class", "traffic class", |class| class.name.clone())
        .fields()
        .build("classes", "one row per traffic class: the numbers of the summary")
}

#[derive(Serialize, JsonSchema)]
struct PercentileRow<'a> {
    /// Traffic class.
    #[schemars(extend("x-unit" = ""))]
    class: &'a str,
    #[serde(flatten)]
    summary: PercentileSummary,
}

pub(crate) fn percentile_table(classes: &[ClassSummary]) -> Table {
    let mut rows = Vec::new();
    for class in classes {
        let row =
            |summary: &PercentileSummary| PercentileRow { class: &class.name, summary: *summary };
        rows.extend(class.percentiles.iter().map(row));
    }
    Builder::new(&rows)
        .fields()
        .build("percentiles", "one row per class and percentile with enough messages")
}
