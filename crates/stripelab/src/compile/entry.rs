//! What waits before the sender.

use crate::plan::EntryPlan;
use crate::scenario::{Entry, EntryQueue, ScenarioSource};
use gingham_entry::{CoDelPlan, FqCodelPlan};
use gingham_input::InputError;
use gingham_kernel::{Bytes, Span};

/// What waits in one queue where nobody says.
const FIFO_BYTES: u64 = 250_000;
/// Flows at the most.
const FLOWS_MAX: u32 = 1 << 16;
/// The longest target and interval: a minute.
const SPAN_MAX: Span = Span::from_ps(60_000_000_000_000);

pub(super) fn entry(source: &ScenarioSource, longest_bytes: u32) -> Result<EntryPlan, InputError> {
    let entry = &source.scenario.entry;
    if entry.limit.is_some_and(|limit| limit.0 < u64::from(longest_bytes)) {
        let message = format!(
            "expected at least the longest packet of {longest_bytes} B (`stripe.longest_packet`)"
        );
        return Err(source.refuse("entry.limit", message));
    }
    let EntryQueue::FqCodel = entry.queue else {
        check_fifo(source)?;
        let limit_bytes = entry.limit.map_or(FIFO_BYTES.max(longest_bytes.into()), |limit| limit.0);
        return Ok(EntryPlan::Fifo { limit_bytes });
    };
    let limit_packets = FqCodelPlan::LIMIT_PACKETS;
    let limit = entry.limit.unwrap_or(Bytes(u64::from(limit_packets) * u64::from(longest_bytes)));
    if !(1..=FLOWS_MAX).contains(&entry.flows) {
        return Err(source.refuse("entry.flows", format!("expected 1 to {FLOWS_MAX} flows")));
    }
    let target = entry.target.map(|target| span_ns(source, "entry.target", target)).transpose()?;
    let codel = CoDelPlan {
        target_ns: target.unwrap_or(CoDelPlan::TARGET_NS),
        interval_ns: span_ns(source, "entry.interval", entry.interval)?,
        longest_bytes,
    };
    let plan = FqCodelPlan {
        codel,
        flows: entry.flows,
        quantum_bytes: longest_bytes,
        limit_bytes: limit.0,
        limit_packets,
        ecn: entry.ecn,
        seed: source.scenario.seed,
    };
    Ok(EntryPlan::FqCodel { plan, follows: target.is_none() })
}

/// Whether one queue is told what only queues by flow have.
fn check_fifo(source: &ScenarioSource) -> Result<(), InputError> {
    let (entry, usual) = (&source.scenario.entry, Entry::default());
    let told = [
        ("entry.target", entry.target != usual.target),
        ("entry.interval", entry.interval != usual.interval),
        ("entry.flows", entry.flows != usual.flows),
        ("entry.ecn", entry.ecn != usual.ecn),
    ];
    match told.iter().find(|(_, told)| *told) {
        None => Ok(()),
        Some((key, _)) => Err(source.refuse(
            key,
            "plays no part in one queue: leave it out, or set `entry.queue = \"fq-codel\"`",
        )),
    }
}

fn span_ns(source: &ScenarioSource, key: &str, span: Span) -> Result<u64, InputError> {
    if span < Span::from_ps(1_000) || span > SPAN_MAX {
        return Err(source.refuse(key, "expected 1 ns to a minute"));
    }
    Ok(span.as_ps() / 1_000)
}
