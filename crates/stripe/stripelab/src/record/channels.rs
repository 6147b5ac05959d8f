//! Results of each channel.

use super::rates::share;
use crate::compile::Compiled;
use crate::run::Engine;
use gingham_results::{Builder, Table, real};
use schemars::JsonSchema;
use serde::Serialize;

/// Results of a channel.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct ChannelSummary {
    /// Channel name in the scenario.
    pub name: String,
    /// Rate at the start of the run.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub rate_bits_per_s: f64,
    /// Quantum at the end of the run, in bytes or packets depending on the scheduler; missing if
    /// the scheduler has no rounds.
    pub quantum: Option<u64>,
    /// Data packets sent on the channel.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_sent: u64,
    /// Bytes of the data packets sent, including headers.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes_sent: u64,
    /// Packets that arrived, including packets that the receiver discarded.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_arrived: u64,
    /// Packets lost or damaged on the channel.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_lost: u64,
    /// Packets dropped because the channel's queue was full.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_dropped: u64,
    /// Packets dropped by the policer.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_policed: u64,
    /// Packets that the receiver discarded.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_discarded: u64,
    /// Protocol messages sent on the channel, including markers.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_sent: u64,
    /// Arrival rate in the window, including headers; missing if the run ended before the window.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub arrived_bits_per_s: Option<f64>,
    /// Arrival rate as a fraction of the rate at the start.
    pub utilisation: Option<f64>,
    /// Maximum queue length, in bytes.
    #[schemars(extend("x-unit" = "B"))]
    pub queue_bytes_max: u64,
    /// Cross-traffic packets offered to the queue.
    #[schemars(extend("x-unit" = "packets"))]
    pub competing_packets: u64,
    /// Cross-traffic packets dropped because the queue was full.
    #[schemars(extend("x-unit" = "packets"))]
    pub competing_packets_dropped: u64,
    /// Maximum number of packets of this channel in the receive buffer.
    #[schemars(extend("x-unit" = "packets"))]
    pub buffer_packets_max: u64,
}

pub(super) fn summaries(compiled: &Compiled, engine: &Engine) -> Vec<ChannelSummary> {
    let meter = engine.meter();
    let window = meter.sections;
    let all = engine.is_done() && engine.now() > window.start();
    let past = if all { window.window() } else { window.past(engine.now()) };
    let past_s = real(u128::from(past.as_ps())) / 1e12;
    let summary = |(index, link): (usize, &crate::plan::LinkPlan)| {
        let (count, carried) = (&meter.links[index], &engine.links()[index]);
        let rate_bits_per_s = real(u128::from(link.forth.rate.bytes_per_second()) * 8);
        let arrived_bits_per_s =
            (past_s > 0.0).then(|| real(u128::from(count.window_bytes) * 8) / past_s);
        ChannelSummary {
            name: link.name.clone(),
            rate_bits_per_s,
            quantum: engine.sender().quantum(index).map(u64::from),
            packets_sent: count.sent_packets,
            bytes_sent: count.sent_bytes,
            packets_arrived: count.arrived_packets,
            packets_lost: count.lost_packets,
            packets_dropped: count.dropped_packets,
            packets_policed: count.policed_packets,
            packets_discarded: count.discarded_packets,
            messages_sent: count.messages,
            arrived_bits_per_s,
            utilisation: arrived_bits_per_s.map(|arrived| arrived / rate_bits_per_s),
            queue_bytes_max: carried.queue_bytes_max(),
            competing_packets: carried.counters().competing,
            competing_packets_dropped: carried.counters().competing_dropped,
            buffer_packets_max: count.buffer_packets_max,
        }
    };
    compiled.plan.links.iter().enumerate().map(summary).collect()
}

pub(super) fn table(rows: &[ChannelSummary]) -> Table {
    Builder::new(rows)
        .texts("channel", "name of the channel", |row| row.name.clone())
        .fields()
        .known(("lost_share", "1"), "share of the packets sent that were lost or damaged", |row| {
            share(row.packets_lost, row.packets_sent)
        })
        .build("channels", "one row per channel")
}
