//! The numbers of each source.

use super::rates::{bits_per_s, share};
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
    /// Packets that it offered; of a transport, retransmissions included.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_offered: u64,
    /// Their bytes.
    pub bytes_offered: u64,
    /// Of these packets, refused or dropped because the queue before the sender was at its limit.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_refused: u64,
    /// Of these packets, dropped before the sender, because their queue stood for too long.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_dropped_before: u64,
    /// Packets that were delivered.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_delivered: u64,
    /// Their bytes.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes_delivered: u64,
    /// Packets delivered after one of the same source that was sent later.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_out_of_order: u64,
    /// What was of use to whoever reads in the window, in bits per second: of a transport, what it
    /// handed on in order.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the goodput.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// Packets out of order as a share of those delivered.
    #[schemars(extend("x-unit" = "1"))]
    pub out_of_order_share: Option<f64>,
    /// Mean delay in the window, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the mean delay.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_half_width_ns: Option<f64>,
    /// Of a transport: retransmitted segments.
    #[schemars(extend("x-unit" = "packets"))]
    pub retransmissions: Option<u64>,
    /// Of a transport: times that three duplicate acknowledgements reduced its window.
    #[schemars(extend("x-unit" = "events"))]
    pub fast_recoveries: Option<u64>,
    /// Of a transport: timeouts.
    #[schemars(extend("x-unit" = "events"))]
    pub timeouts: Option<u64>,
    /// Of a transport that reads marks: times that one reduced its window.
    #[schemars(extend("x-unit" = "events"))]
    pub marks_heeded: Option<u64>,
    /// Of a transport: share of its stops with a full receive window (`window` of its kind); the
    /// congestion window was full at the other stops.
    #[schemars(extend("x-unit" = "1"))]
    pub receive_window_share: Option<f64>,
    /// Of a transport: its window at the end, in bytes.
    #[schemars(extend("x-unit" = "B"))]
    pub window_bytes: Option<u64>,
}

pub(super) fn summaries(compiled: &Compiled, engine: &Engine) -> Vec<SourceSummary> {
    let meter = engine.meter();
    let summary = |(index, plan): (usize, &crate::plan::SourcePlan)| {
        let count = &meter.sources[index];
        let goodput = bits_per_s(&count.useful_bytes, engine);
        let delay = count.delays.mean();
        let transport = engine.sources()[index].transport.as_ref();
        let counts = transport.map(|transport| *transport.counts());
        SourceSummary {
            name: plan.name.clone(),
            packets_offered: count.offered_packets,
            bytes_offered: count.offered_bytes,
            packets_refused: count.refused_packets,
            packets_dropped_before: count.dropped_packets,
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
            marks_heeded: counts.map(|counts| counts.marks_heeded),
            receive_window_share: counts
                .and_then(|counts| share(counts.stops_at_receiver, counts.stops)),
            window_bytes: transport.map(crate::traffic::Transport::window_bytes),
        }
    };
    compiled.plan.sources.iter().enumerate().map(summary).collect()
}

/// A row each source.
pub(super) fn table(rows: &[SourceSummary]) -> Table {
    Builder::new(rows)
        .texts("source", "name of the source", |row| row.name.clone())
        .fields()
        .build("sources", "a row each source")
}
