//! Table of links, with one row per channel.

use super::view::RunView;
use gingham_net::measure::{ChannelReport, Estimate, LinkSeries, LinkStep};
use gingham_net::{ChannelPlan, Ends, Plan};
use gingham_results::{Builder, Table};
use gingham_topology::ChannelId;
use schemars::JsonSchema;
use serde::Serialize;

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Link {
    channel: ChannelId,
    plan: ChannelPlan,
    flit_bytes: u32,
    /// Buffer capacity at the end of the channel, in flits over all lanes; 0 at a host, which needs
    /// no buffer.
    buffer_flits: u32,
    measured: Option<ChannelReport>,
}

/// Totals over all links.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct LinkTotals {
    /// Data flits whose transmission started in the window, summed over all channels, so that each
    /// hop of a flit counts.
    pub data_flits: u64,
    /// Control flits (STOP and GO) whose transmission started in the window.
    pub control_flits: u64,
    /// STOPs, or pauses of lanes, that took effect in the window.
    pub stops: u64,
    /// Utilisation of the busiest channel.
    pub utilisation_max: f64,
}

/// Returns one row for each channel, except for channels to port 0 of a switch.
pub(crate) fn rows(view: &RunView<'_>) -> Vec<Link> {
    let plan = view.plan();
    let row = |(channel, measured): (ChannelId, Option<ChannelReport>)| Link {
        channel,
        plan: *plan.channel(channel),
        flit_bytes: plan.switching.flit_bytes(),
        buffer_flits: plan.buffer_flits(channel),
        measured,
    };
    let listed = 2 * plan.fabric.listed_cables().len();
    ChannelId::first(listed).zip(view.report.channels()).map(row).collect()
}

pub(crate) fn totals(rows: &[Link]) -> LinkTotals {
    let measured = || rows.iter().filter_map(|row| row.measured);
    LinkTotals {
        data_flits: measured().map(|of| of.count.data_flits).sum(),
        control_flits: measured().map(|of| of.count.control_flits).sum(),
        stops: measured().map(|of| of.count.stops).sum(),
        utilisation_max: measured().map(|of| of.utilisation.mean).fold(0.0, f64::max),
    }
}

impl Link {
    fn count(&self, of: impl Fn(&ChannelReport) -> u64) -> u64 {
        self.measured.as_ref().map_or(0, of)
    }

    pub(crate) fn busy(&self) -> Option<(ChannelId, Estimate)> {
        Some((self.channel, self.utilisation()?))
    }

    fn utilisation(&self) -> Option<Estimate> {
        Some(self.measured?.utilisation)
    }

    fn stopped_share(&self) -> Option<Estimate> {
        Some(self.measured?.stopped_share)
    }

    fn occupancy(&self) -> Option<Estimate> {
        self.measured?.occupancy_flits
    }
}

fn mean(estimate: Option<Estimate>) -> Option<f64> {
    Some(estimate?.mean)
}

fn half_width(estimate: Option<Estimate>) -> Option<f64> {
    estimate?.half_width
}

pub(crate) fn table(plan: &Plan, rows: &[Link]) -> Table {
    columns(node_names(plan), rows, |channel| plan.ends(channel))
}

pub(crate) fn node_names(plan: &Plan) -> Vec<String> {
    plan.fabric.nodes().iter().map(|node| node.name.clone()).collect()
}

pub(crate) fn of_channels<R>(
    nodes: Vec<String>,
    rows: &[R],
    ends: impl Fn(&R) -> Ends,
) -> Builder<'_, R> {
    Builder::new(rows)
        .words("from", "sending node", nodes.clone(), |r| ends(r).source.node.index())
        .integers(("from_port", ""), "its port", |r| u64::from(ends(r).source.port))
        .words("to", "receiving node", nodes, |r| ends(r).target.node.index())
        .integers(("to_port", ""), "its port", |r| u64::from(ends(r).target.port))
}

pub(crate) fn columns(
    nodes: Vec<String>,
    rows: &[Link],
    ends: impl Fn(ChannelId) -> Ends,
) -> Table {
    let interval = "half-width of its 95 % interval";
    let stopped = "share of the window during which flow control stopped its sender: STOP was in force, or a lane \
                   was paused. With credits: it was idle, and every packet ready for it lacked credits \
                   (PortXmitWait)";
    let carries = "size of a flit; 1 B if packets are not divided into flits";
    of_channels(nodes, rows, |row| ends(row.channel))
        .integers(("flit_ps", "ps"), "time of one flit", |r| r.plan.flit.as_ps())
        .integers(("flit_bytes", "B"), carries, |r| u64::from(r.flit_bytes))
        .integers(("delay_ps", "ps"), "propagation delay", |r| r.plan.delay.as_ps())
        .integers(("data_flits", "flits"), "data flits that started in the window", |r| {
            r.count(|of| of.count.data_flits)
        })
        .integers(("control_flits", "flits"), "STOP and GO that started in the window", |r| {
            r.count(|of| of.count.control_flits)
        })
        .integers(("stops", "STOPs"), "STOPs received in the window", |r| r.count(|of| of.count.stops))
        .known(("utilisation", "1"), "share of the window during which it carried flits", |r| {
            mean(r.utilisation())
        })
        .known(("utilisation_half_width", "1"), interval, |r| half_width(r.utilisation()))
        .known(("stopped_share", "1"), stopped, |r| mean(r.stopped_share()))
        .known(("stopped_share_half_width", "1"), interval, |r| half_width(r.stopped_share()))
        .integers(
            ("buffer_flits", "flits"),
            "capacity of the input buffer at its end, over all lanes; 0 if a host consumes the flits",
            |r| u64::from(r.buffer_flits),
        )
        .known(
            ("occupancy_mean_flits", "flits"),
            "mean fill of that buffer over time; NaN if a host consumes the flits",
            |r| mean(r.occupancy()),
        )
        .known(("occupancy_half_width_flits", "flits"), interval, |r| half_width(r.occupancy()))
        .build("links", "one row per channel, that is, per direction of a cable")
}

pub(crate) type OfChannel = (ChannelId, LinkStep);

pub(crate) fn series(plan: &Plan, followed: &[LinkSeries]) -> Table {
    let steps = |link: &LinkSeries| {
        let channel = link.channel;
        link.steps.clone().into_iter().map(move |step| (channel, step))
    };
    let rows: Vec<OfChannel> = followed.iter().flat_map(steps).collect();
    series_columns(node_names(plan), &rows, |channel| plan.ends(channel))
}

pub(crate) fn series_columns(
    nodes: Vec<String>,
    rows: &[OfChannel],
    ends: impl Fn(ChannelId) -> Ends,
) -> Table {
    of_channels(nodes, rows, |(channel, _)| ends(*channel))
        .integers(("from_ps", "ps"), "start of the step", |(_, step)| step.from.as_ps())
        .integers(("to_ps", "ps"), "end of the step", |(_, step)| step.to.as_ps())
        .reals(
            ("utilisation", "1"),
            "share of the step during which the channel carried flits",
            |row| row.1.utilisation,
        )
        .reals(
            ("utilisation_smoothed", "1"),
            "average over steps centred on this one",
            |(_, step)| step.utilisation_smoothed,
        )
        .build(
            "link_series",
            "one row per followed channel and time step, from zero to the end of the window",
        )
}
