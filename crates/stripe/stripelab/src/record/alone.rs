//! Comparison with the best single channel, and the bottlenecks of transports.

use super::rates::bits_per_s;
use super::sources::SourceSummary;
use super::summary::{Record, Verdict};
use crate::compile::Compiled;
use crate::plan::{SourceKind, WindowRule};
use crate::run::Engine;

/// Fraction of a transport's pauses caused by its receive window above which that window counts as
/// the bottleneck.
const BOUND: f64 = 0.5;

pub(super) fn compare(record: &mut Record, compiled: &Compiled, alone: Option<&Engine>) {
    let (Some(planned), Some(engine)) = (&compiled.alone, alone) else { return };
    let useful = engine.meter().sources.iter().map(|one| bits_per_s(&one.useful_bytes, engine));
    let best: Option<f64> = useful.map(|goodput| goodput.map(|goodput| goodput.mean)).sum();
    let all: Option<f64> = record.sources.iter().map(|one| one.goodput_bits_per_s).sum();
    let name = compiled.plan.links[planned.channel].name.clone();
    record.best_channel_alone_bits_per_s = best;
    if let (Some(all), Some(best)) = (all, best.filter(|best| *best > 0.0)) {
        record.best_channel_multiple = Some(all / best);
        if matches!(record.verdict, Verdict::Ok | Verdict::NotConverged) {
            let bound = bound(record, compiled);
            let (all, best) = (all / 1e6, best / 1e6);
            let compared = format!(
                "; the sources have {all:.1} Mbit/s, {best:.1} Mbit/s over channel `{name}` alone{bound}"
            );
            record.verdict_reason.push_str(&compared);
        }
        if all < best {
            record.notes.push(below(record, compiled, &name));
        }
    }
    record.best_channel_alone = Some(name);
}

fn below(record: &Record, compiled: &Compiled, name: &str) -> String {
    let multiple = record.best_channel_multiple.unwrap_or_default();
    let bound = bound(record, compiled);
    format!("the pipe has {multiple:.3} of the goodput of channel `{name}` alone{bound}")
}

fn bound(record: &Record, compiled: &Compiled) -> String {
    let plans = compiled.plan.sources.iter().zip(&record.sources).enumerate();
    let bounds = plans.filter_map(|(index, (plan, source))| {
        let SourceKind::Transport { rule, window_bytes, .. } = plan.kind else { return None };
        let binds = binds(index, rule, window_bytes, source, record);
        Some(format!("; source `{}` is bound by {binds}", source.name))
    });
    bounds.collect()
}

fn binds(
    index: usize,
    rule: WindowRule,
    window_bytes: u64,
    source: &SourceSummary,
    record: &Record,
) -> String {
    let kind = match rule {
        WindowRule::Reno => "reno",
        WindowRule::Cubic => "cubic",
    };
    let lost = record.packets_lost;
    if source.receive_window_share.is_some_and(|share| share > BOUND) {
        return format!(
            "its receive window of {window_bytes} B (`source.{index}.kind.{kind}.window`)"
        );
    }
    if source.packets_refused > source.packets_dropped_before.max(lost) {
        let refused = source.packets_refused;
        return format!(
            "a full queue before the sender, {refused} packets refused (`entry.limit`)"
        );
    }
    if source.packets_dropped_before >= lost && source.packets_dropped_before > 0 {
        let dropped = source.packets_dropped_before;
        return format!("the queue before the sender, {dropped} packets dropped (`entry.target`)");
    }
    if lost > 0 {
        return format!("{lost} packets lost on channels and not repaired (`stripe.repair`)");
    }
    "the growth of its congestion window".to_owned()
}
