//! One row a channel.

use super::table::{Builder, Table};
use crate::run::Simulation;
use gingham_model::Plan;
use gingham_model::measure::ChannelCount;
use gingham_topology::ChannelId;
use serde::Serialize;

/// What a channel carried.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Link {
    channel: ChannelId,
    flit_ps: u64,
    delay_ps: u64,
    count: ChannelCount,
    /// Fraction of the window for which flits kept it busy.
    utilisation: f64,
    /// Fraction of the window for which its sender was stopped.
    stopped_share: f64,
}

/// Sums over all links.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct LinkTotals {
    /// Data flits that started in the window, over all channels: wire bytes times hops.
    pub data_flits: u64,
    /// Control flits that started in the window.
    pub control_flits: u64,
    /// STOPs that were heard in the window.
    pub stops: u64,
    /// Utilisation of the busiest channel.
    pub utilisation_max: f64,
}

/// The rows of the table, by channel.
#[expect(clippy::cast_precision_loss, reason = "shares need few digits")]
pub(super) fn rows(simulation: &Simulation, counts: &[ChannelCount]) -> Vec<Link> {
    let plan = simulation.plan();
    let end = simulation.now().max(plan.warm_up);
    let window_ps = end.since(plan.warm_up).as_ps().max(1) as f64;
    let row = |channel: ChannelId| {
        let count = counts[channel.index()];
        let channel_plan = plan.channel(channel);
        let flits = count.data_flits + count.control_flits;
        let flit_ps = channel_plan.flit.as_ps();
        debug_assert!(
            flits.saturating_sub(1) as f64 * flit_ps as f64 <= window_ps,
            "a channel carries one flit at a time"
        );
        Link {
            channel,
            flit_ps,
            delay_ps: channel_plan.delay.as_ps(),
            count,
            utilisation: (flits as f64 * flit_ps as f64 / window_ps).min(1.0),
            stopped_share: count.stopped_ps as f64 / window_ps,
        }
    };
    ChannelId::first(counts.len()).map(row).collect()
}

pub(super) fn totals(rows: &[Link]) -> LinkTotals {
    LinkTotals {
        data_flits: rows.iter().map(|row| row.count.data_flits).sum(),
        control_flits: rows.iter().map(|row| row.count.control_flits).sum(),
        stops: rows.iter().map(|row| row.count.stops).sum(),
        utilisation_max: rows.iter().map(|row| row.utilisation).fold(0.0, f64::max),
    }
}

pub(super) fn table(plan: &Plan, rows: &[Link]) -> Table {
    let fabric = &plan.fabric;
    let nodes: Vec<String> = fabric.nodes().iter().map(|node| node.name.clone()).collect();
    Builder::new(rows)
        .words("from", "sending node", nodes.clone(), |r| fabric.source(r.channel).node.index())
        .integers(("from_port", ""), "its port", |r| u64::from(fabric.source(r.channel).port))
        .words("to", "receiving node", nodes, |r| fabric.target(r.channel).node.index())
        .integers(("to_port", ""), "its port", |r| u64::from(fabric.target(r.channel).port))
        .integers(("flit_ps", "ps"), "time of one flit", |r| r.flit_ps)
        .integers(("delay_ps", "ps"), "propagation delay", |r| r.delay_ps)
        .integers(("data_flits", "flits"), "data flits in the window", |r| r.count.data_flits)
        .integers(("control_flits", "flits"), "STOP and GO in the window", |r| {
            r.count.control_flits
        })
        .integers(("stops", "STOPs"), "STOPs heard in the window", |r| r.count.stops)
        .reals(("utilisation", "1"), "share of the window in which it was busy", |r| r.utilisation)
        .reals(("stopped_share", "1"), "share of the window for which it was stopped", |r| {
            r.stopped_share
        })
        .build("links", "a row a channel, that is a direction of a cable")
}
