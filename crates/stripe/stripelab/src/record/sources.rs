//! Results of each source.

use super::rates::{bits_per_s, share};
use crate::compile::Compiled;
use crate::run::Engine;
use gingham_results::{Builder, Table};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of a source.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SourceSummary {
    /// Source name in the scenario.
    pub name: String,
    /// Packets that the source offered, including a transport's retransmissions.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_offered: u64,
    /// Bytes of the offered packets.
    pub bytes_offered: u64,
    /// Packets refused or dropped because the entry queue was full.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_refused: u64,
    /// Packets that CoDel dropped from the entry queue.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_dropped_before: u64,
    /// Packets delivered.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_delivered: u64,
    /// Bytes of the delivered packets.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes_delivered: u64,
    /// Packets delivered after a packet that the source sent later.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_out_of_order: u64,
    /// Rate of bytes useful to the reader in the window; for a transport, bytes passed on in order.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub goodput_bits_per_s: Option<f64>,
    /// Half-width of the 95 % confidence interval of the goodput.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub goodput_half_width_bits_per_s: Option<f64>,
    /// Fraction of the delivered packets that were out of order.
    #[schemars(extend("x-unit" = "1"))]
    pub out_of_order_share: Option<f64>,
    /// Mean delay of packets delivered in the window.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of the mean delay.
    #[schemars(extend("x-unit" = "ns"))]
    pub delay_half_width_ns: Option<f64>,
    /// Retransmitted segments of a transport.
    #[schemars(extend("x-unit" = "packets"))]
    pub retransmissions: Option<u64>,
    /// Window reductions of a transport after three duplicate acknowledgements.
    #[schemars(extend("x-unit" = "events"))]
    pub fast_recoveries: Option<u64>,
    /// Retransmission timeouts of a transport.
    #[schemars(extend("x-unit" = "events"))]
    pub timeouts: Option<u64>,
    /// Window reductions of a transport after an ECN mark.
    #[schemars(extend("x-unit" = "events"))]
    pub ecn_reductions: Option<u64>,
    /// Fraction of a transport's pauses caused by its receive window rather than its congestion
    /// window.
    #[schemars(extend("x-unit" = "1"))]
    pub receive_window_share: Option<f64>,
    /// Congestion window of a transport at the end of the run.
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
            ecn_reductions: counts.map(|counts| counts.ecn_reductions),
            receive_window_share: counts
                .and_then(|counts| share(counts.stops_at_receiver, counts.stops)),
            window_bytes: transport.map(crate::traffic::Transport::window_bytes),
        }
    };
    compiled.plan.sources.iter().enumerate().map(summary).collect()
}

pub(super) fn table(rows: &[SourceSummary]) -> Table {
    Builder::new(rows)
        .texts("source", "name of the source", |row| row.name.clone())
        .fields()
        .build("sources", "one row per source")
}
