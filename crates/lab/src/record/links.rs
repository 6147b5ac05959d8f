//! One row a channel.

use super::table::{Builder, Table};
use gingham_model::measure::{ChannelCount, Measured};
use gingham_model::{ChannelPlan, Plan};
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

/// The rows of the table, by channel; none of an empty window.
pub(super) fn rows(plan: &Plan, measured: &Measured<'_>) -> Vec<Link> {
    let row = |channel: ChannelId| {
        let ChannelPlan { flit, delay, .. } = *plan.channel(channel);
        let measured = measured.channel(channel)?;
        Some(Link {
            channel,
            flit_ps: flit.as_ps(),
            delay_ps: delay.as_ps(),
            count: measured.count,
            utilisation: measured.utilisation.mean.min(1.0),
            stopped_share: measured.stopped_share.mean,
        })
    };
    ChannelId::first(plan.channels.len()).filter_map(row).collect()
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
