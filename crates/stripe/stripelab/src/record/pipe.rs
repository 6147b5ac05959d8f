//! Results of the whole pipe.

use super::rates::{bits_per_s, ns, share};
use super::summary::{PercentileSummary, Record, Verdict};
use super::{channels, sources};
use crate::compile::Compiled;
use crate::measure::Loss;
use crate::run::Engine;
use gingham_results::{Builder, Table, real};

pub(super) fn record(compiled: &Compiled, engine: &Engine) -> Record {
    let (plan, meter) = (&compiled.plan, engine.meter());
    let goodput = bits_per_s(&meter.delivered_bytes, engine);
    let in_order = bits_per_s(&meter.in_order_bytes, engine);
    let delay = meter.delays.mean();
    let recovery = meter.recovery.mean_and_longest_ns();
    let capacity: u64 = plan.links.iter().map(|link| link.forth.rate.bytes_per_second()).sum();
    let offered: u64 = meter.sources.iter().map(|one| one.offered_packets).sum();
    let refused: u64 = meter.sources.iter().map(|one| one.refused_packets).sum();
    let dropped_before: u64 = meter.sources.iter().map(|one| one.dropped_packets).sum();
    let messages: u64 = meter.links.iter().map(|link| link.message_bytes).sum();
    let data: u64 = meter.links.iter().map(|link| link.sent_bytes).sum();
    let dropped_later = if engine.is_empty() { meter.unaccounted_packets() } else { 0 };
    Record {
        verdict: Verdict::Ok,
        verdict_reason: String::new(),
        warm_up_ns: ns(plan.warm_up),
        window_end_ns: ns(plan.stop),
        end_ns: ns(engine.now()),
        capacity_bits_per_s: real(u128::from(capacity) * 8),
        goodput_bits_per_s: goodput.map(|goodput| goodput.mean),
        goodput_half_width_bits_per_s: goodput.and_then(|goodput| goodput.half_width),
        in_order_bits_per_s: in_order.map(|in_order| in_order.mean),
        packets_offered: offered,
        packets_refused: refused,
        packets_dropped_before: dropped_before,
        packets_sent: meter.sent_packets,
        packets_marked: meter.marked_packets,
        entry_bytes_max: meter.waiting_bytes_max,
        sojourn_p50_ns: meter.sojourns.percentile_ns(50.0),
        sojourn_p99_ns: meter.sojourns.percentile_ns(99.0),
        packets_delivered: meter.delivered_packets,
        packets_out_of_order: meter.out_of_order_packets,
        packets_duplicated: meter.duplicated_packets,
        packets_lost: meter.lost_packets() + dropped_later,
        packets_repaired: meter.repaired_packets,
        copies_sent: meter.copies_sent,
        lost_on_channels: meter.lost_by(Loss::Channel),
        lost_in_queues: meter.lost_by(Loss::Queue),
        lost_at_policers: meter.lost_by(Loss::Policer),
        lost_in_outages: meter.lost_by(Loss::Outage),
        lost_damaged: meter.lost_by(Loss::Damaged),
        lost_at_receiver: meter.lost_by(Loss::Discarded) + dropped_later,
        out_of_order_share: share(meter.window_out_of_order, meter.window_packets),
        reordering_extent_max: meter.order.extent_max(),
        delay_mean_ns: delay.map(|delay| delay.mean),
        delay_half_width_ns: delay.and_then(|delay| delay.half_width),
        delay_max_ns: meter.delays.longest_ns(),
        percentiles: percentiles(compiled, engine),
        longest_gap_ns: meter.last_delivery.map(|_| meter.longest_gap.as_ps() / 1_000),
        buffer_packets_max: most(meter.links.iter().map(|link| link.buffer_packets_max)),
        markers_sent: meter.markers_sent,
        markers_lost: meter.markers_lost,
        message_share: share(messages, messages + data),
        resets: engine.sender().protocol().map_or(0, |sender| sender.sending().resets),
        silences: engine.receiver().protocol().map_or(0, |end| end.reception().silences),
        last_loss_ns: meter.recovery.last_loss().map(ns),
        last_out_of_order_ns: meter.recovery.last_out_of_order().map(ns),
        recovery_mean_ns: recovery.map(|(mean, _)| mean),
        recovery_max_ns: recovery.map(|(_, longest)| longest),
        best_channel_alone: None,
        best_channel_alone_bits_per_s: None,
        best_channel_multiple: None,
        channels: channels::summaries(compiled, engine),
        sources: sources::summaries(compiled, engine),
        notes: compiled.notes.clone(),
        tables: Vec::new(),
    }
}

fn percentiles(compiled: &Compiled, engine: &Engine) -> Vec<PercentileSummary> {
    let delays = &engine.meter().delays;
    let summary = |percentile: &f64| {
        let delay_ns = delays.percentile_ns(*percentile)?;
        Some(PercentileSummary { percentile: *percentile, delay_ns })
    };
    compiled.plan.percentiles.iter().filter_map(summary).collect()
}

fn most(numbers: impl Iterator<Item = u64>) -> u64 {
    numbers.max().unwrap_or_default()
}

pub(super) fn percentile_table(rows: &[PercentileSummary]) -> Table {
    Builder::new(rows)
        .fields()
        .build("percentiles", "one row per percentile of the delay with enough packets")
}
