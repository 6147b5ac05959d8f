//! The numbers of each channel.

use super::rates::share;
use crate::compile::Compiled;
use crate::run::Engine;
use gingham_results::{Builder, Table, real};
use schemars::JsonSchema;
use serde::Serialize;

/// What a channel carried.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct ChannelSummary {
    /// Its name.
    pub name: String,
    /// Its rate at the start, in bits per second.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub rate_bits_per_s: f64,
    /// What it may send in a round at the end, in bytes or in packets as its scheduler counts;
    /// missing where there are no rounds.
    pub quantum: Option<u64>,
    /// Packets of data that went on it.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_sent: u64,
    /// Their bytes, with headers.
    #[schemars(extend("x-unit" = "B"))]
    pub bytes_sent: u64,
    /// Packets that arrived, those that were discarded there among them.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_arrived: u64,
    /// Packets lost or damaged on it.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_lost: u64,
    /// Packets dropped because its queue was full.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_dropped: u64,
    /// Packets dropped by its policer.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_policed: u64,
    /// Packets that the receiver discarded.
    #[schemars(extend("x-unit" = "packets"))]
    pub packets_discarded: u64,
    /// Messages that went on it, markers among them.
    #[schemars(extend("x-unit" = "messages"))]
    pub messages_sent: u64,
    /// Bits per second that arrived in the window, headers included; missing where a run was ended
    /// before it began.
    #[schemars(extend("x-unit" = "bit/s"))]
    pub arrived_bits_per_s: Option<f64>,
    /// The same as a share of its rate at the start.
    pub utilisation: Option<f64>,
    /// The most that its queue held, in bytes.
    #[schemars(extend("x-unit" = "B"))]
    pub queue_bytes_max: u64,
    /// Packets of competing traffic that came to its queue.
    #[schemars(extend("x-unit" = "packets"))]
    pub competing_packets: u64,
    /// Of these, dropped, because it was full.
    #[schemars(extend("x-unit" = "packets"))]
    pub competing_packets_dropped: u64,
    /// The most of its packets that waited at the receiver.
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

/// A row each channel.
pub(super) fn table(rows: &[ChannelSummary]) -> Table {
    Builder::new(rows)
        .texts("channel", "name of the channel", |row| row.name.clone())
        .fields()
        .known(("lost_share", "1"), "lost or damaged, as a share of what was sent", |row| {
            share(row.packets_lost, row.packets_sent)
        })
        .build("channels", "a row each channel")
}
