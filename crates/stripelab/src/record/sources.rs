//! The numbers of each source.

use super::{bits_per_s, share};
use crate::compile::Compiled;
use crate::run::Engine;
use gingham_results::{Builder, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// What a source gave, and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SourceSummary {
    /// Its name.
    pub name: String,
    /// Packets that it gave; of a transport, segments sent again among them.
    pub packets_offered: u64,
    /// Their bytes.
    pub bytes_offered: u64,
    /// Of these packets, refused, because the queue before the sender was full.
    pub packets_refused: u64,
    /// Packets that were given out.
    pub packets_delivered: u64,
    /// Their bytes.
    pub bytes_delivered: u64,
    /// Packets given out after one of the same source that was sent later.
    pub packets_out_of_order: u64,
    /// What was of use to whoever reads in the window, in bits per second: of a transport, what it
    /// handed on in order.
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the goodput.
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// Packets out of order as a share of those given out.
    pub out_of_order_share: Option<f64>,
    /// Mean delay in the window, in nanoseconds.
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the mean delay.
    pub delay_half_width_ns: Option<f64>,
    /// Of a transport: segments that were sent again.
    pub retransmissions: Option<u64>,
    /// Of a transport: times that three duplicate acknowledgements halved its window.
    pub fast_recoveries: Option<u64>,
    /// Of a transport: times that it waited in vain.
    pub timeouts: Option<u64>,
    /// Of a transport: its window at the end, in bytes.
    pub window_bytes: Option<u64>,
}

pub(super) fn summaries(compiled: &Compiled, engine: &Engine) -> Vec<SourceSummary> {
    let meter = engine.meter();
    let summary = |(index, plan): (usize, &crate::plan::SourcePlan)| {
        let count = &meter.sources[index];
        let goodput = bits_per_s(&count.useful_bytes, engine);
        let delay = count.delays.mean();
        let reno = engine.sources()[index].reno.as_ref();
        let counts = reno.map(|reno| *reno.counts());
        SourceSummary {
            name: plan.name.clone(),
            packets_offered: count.offered_packets,
            bytes_offered: count.offered_bytes,
            packets_refused: count.refused_packets,
            packets_delivered: count.delivered_packets,
            bytes_delivered: count.delivered_bytes,
            packets_out_of_order: count.out_of_order_packets,
            goodput_bits_per_s: goodput.map(|goodput| goodput.mean),
            goodput_half_width_bits_per_s: goodput.and_then(|goodput| goodput.half_width),
            out_of_order_share: share(count.out_of_order_packets, count.delivered_packets),
            delay_mean_ns: delay.map(|delay| delay.mean),
            delay_half_width_ns: delay.and_then(|delay| delay.half_width),
            retransmissions: counts.map(|counts| counts.retransmissions),
            fast_recoveries: counts.map(|counts| counts.fast_recoveries),
            timeouts: counts.map(|counts| counts.timeouts),
            window_bytes: reno.map(crate::traffic::Reno::window_bytes),
        }
    };
    compiled.plan.sources.iter().enumerate().map(summary).collect()
}

/// A row each source.
pub(super) fn table(rows: &[SourceSummary]) -> Table {
    Builder::new(rows)
        .texts("source", "name of the source", |row| row.name.clone())
        .integers(("packets_offered", "packets"), "packets that it gave", |row| row.packets_offered)
        .integers(("packets_refused", "packets"), "of these, refused before the sender", |row| {
            row.packets_refused
        })
        .integers(("packets_delivered", "packets"), "packets given out", |row| {
            row.packets_delivered
        })
        .integers(("bytes_delivered", "B"), "their bytes", |row| row.bytes_delivered)
        .integers(("packets_out_of_order", "packets"), "of these, out of order", |row| {
            row.packets_out_of_order
        })
        .known(("goodput_bits_per_s", "bit/s"), "what was of use in the window", |row| {
            row.goodput_bits_per_s
        })
        .known(
            ("goodput_half_width_bits_per_s", "bit/s"),
            "half-width of its 95 % interval",
            |row| row.goodput_half_width_bits_per_s,
        )
        .known(("delay_mean_ns", "ns"), "mean delay in the window", |row| row.delay_mean_ns)
        .known(("delay_half_width_ns", "ns"), "half-width of its 95 % interval", |row| {
            row.delay_half_width_ns
        })
        .build("sources", "a row each source")
}
