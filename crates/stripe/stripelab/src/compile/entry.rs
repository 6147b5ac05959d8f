//! Compiles the entry queue, which precedes the sender.

use crate::plan::{EntryPlan, Follows};
use crate::scenario::{Entry, EntryQueue, ScenarioSource};
use gingham_entry::FqCodelPlan;
use gingham_input::InputError;
use gingham_kernel::{Bytes, Span};

const FIFO_BYTES: u64 = 250_000;
const FLOWS_MAX: u32 = 1 << 16;
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
    let mut plan = FqCodelPlan {
        flows: entry.flows,
        limit_bytes: limit.0,
        ecn: entry.ecn,
        seed: source.scenario.seed,
        ..FqCodelPlan::of_packets(longest_bytes)
    };
    let given = |key, span: Option<Span>| span.map(|span| span_ns(source, key, span)).transpose();
    let target = given("entry.target", entry.target)?;
    let interval = given("entry.interval", entry.interval)?;
    let codel = &mut plan.codel;
    codel.target_ns = target.unwrap_or(codel.target_ns);
    codel.interval_ns = interval.unwrap_or(codel.interval_ns);
    let follows = Follows { target: target.is_none(), interval: interval.is_none() };
    Ok(EntryPlan::FqCodel { plan, follows })
}

fn check_fifo(source: &ScenarioSource) -> Result<(), InputError> {
    let (entry, usual) = (&source.scenario.entry, Entry::default());
    let changed = [
        ("entry.target", entry.target != usual.target),
        ("entry.interval", entry.interval != usual.interval),
        ("entry.flows", entry.flows != usual.flows),
        ("entry.ecn", entry.ecn != usual.ecn),
    ];
    match changed.iter().find(|(_, changed)| *changed) {
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
