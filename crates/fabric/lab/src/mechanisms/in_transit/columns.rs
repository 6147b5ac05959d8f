//! Results of in-transit hosts, and the contention that hosts observe.

use crate::record::view::RunView;
use gingham_net::measure::{ContentionStep, TransitReport};
use gingham_results::{Builder, Table};
use gingham_topology::EndpointId;
use schemars::JsonSchema;
use serde::Serialize;

const PS_PER_NS: f64 = 1e3;

pub(crate) type Host = (EndpointId, TransitReport);

/// Totals over all in-transit hosts.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct InTransitTotals {
    /// Packets whose re-injection started in the window; a packet counts once per in-transit host.
    pub packets: u64,
    /// Packets that arrived at an in-transit host in the window and did not fit into its buffer.
    pub spilled_packets: u64,
    /// Mean time that a packet ready for re-injection waited for the link, in nanoseconds.
    pub wait_mean_ns: Option<f64>,
    /// Highest fill level of the in-transit buffer of any host, over the whole run, in bytes.
    pub pool_peak_bytes: u64,
}

/// Returns the report of each host; empty if no path leads through an in-transit host.
pub(crate) fn rows(view: &RunView<'_>) -> Vec<Host> {
    let plan = view.plan();
    if !plan.routing.has_in_transit_hosts() {
        return Vec::new();
    }
    let hosts = plan.fabric.endpoint_ids().filter(|host| plan.fabric.is_host_endpoint(*host));
    hosts.map(|host| (host, view.report.transit(host))).collect()
}

pub(crate) fn totals(rows: &[Host]) -> InTransitTotals {
    let packets = rows.iter().map(|(_, of)| of.reinjected_packets).sum();
    #[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
    let waited_ps = |of: &TransitReport| Some(of.wait_mean_ps? * of.reinjected_packets as f64);
    let waited_ps: f64 = rows.iter().filter_map(|(_, of)| waited_ps(of)).sum();
    #[expect(clippy::cast_precision_loss, reason = "a mean needs few digits")]
    let wait_mean_ns = (packets > 0).then(|| waited_ps / PS_PER_NS / packets as f64);
    InTransitTotals {
        packets,
        spilled_packets: rows.iter().map(|(_, of)| of.spilled_packets).sum(),
        wait_mean_ns,
        pool_peak_bytes: rows.iter().map(|(_, of)| of.pool_peak_bytes).max().unwrap_or(0),
    }
}

pub(crate) fn note(view: &RunView<'_>, rows: &[Host]) -> Option<String> {
    let plan = view.plan();
    let of_all = totals(rows);
    let worst = rows.iter().max_by_key(|(_, of)| of.spilled_packets)?;
    if of_all.spilled_packets == 0 {
        return None;
    }
    let named = plan.fabric.endpoint_name(worst.0);
    Some(format!(
        "{} packets found no room in the in-transit buffer of a host and went through its memory, which costs them \
         network.in_transit.spill_delay and more; at `{named}`, where most did, {}: raise network.in_transit.pool, or offer less",
        of_all.spilled_packets, worst.1.spilled_packets
    ))
}

pub(crate) fn table(view: &RunView<'_>, rows: &[Host]) -> Table {
    let fabric = &view.plan().fabric;
    columns(rows, |host| fabric.endpoint_name(host))
}

pub(crate) fn columns(rows: &[Host], name: impl Fn(EndpointId) -> String) -> Table {
    Builder::new(rows)
        .texts("host", "host, with its port if it has several", |(host, _)| name(*host))
        .integers(
            ("packets", "packets"),
            "packets that it began to forward in the window",
            |(_, of)| of.reinjected_packets,
        )
        .integers(
            ("spilled_packets", "packets"),
            "packets that arrived in the window and did not fit its in-transit buffer",
            |(_, of)| of.spilled_packets,
        )
        .known(
            ("wait_mean_ns", "ns"),
            "mean wait of the forwarded packets, from ready to the start of forwarding",
            |(_, of)| of.wait_mean_ps.map(|ps| ps / PS_PER_NS),
        )
        .integers(
            ("pool_peak_bytes", "B"),
            "largest fill of its in-transit buffer over the whole run",
            |(_, of)| of.pool_peak_bytes,
        )
        .build("in_transit", "one row per host, if any path leads through an in-transit host")
}

pub(crate) fn contention(rows: &[ContentionStep]) -> Table {
    Builder::new(rows)
        .integers(("from_ps", "ps"), "start of the step", |step| step.from.as_ps())
        .integers(("to_ps", "ps"), "end of the step", |step| step.to.as_ps())
        .reals(
            ("coefficient_mean", "1"),
            "mean contention coefficient of the hosts that send, at the end of the step",
            |step| step.coefficient_mean,
        )
        .reals(("coefficient_max", "1"), "highest of them", |step| step.coefficient_max)
        .reals(
            ("alternative_share", "1"),
            "share of these hosts whose packets take their alternative paths at that time",
            |step| step.alternative_share,
        )
        .build(
            "contention",
            "one row per time step, as in `series`, if packets choose their path by contention",
        )
}
