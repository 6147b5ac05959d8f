//! Streams of a class: what they send, how many a host has, and where each goes.
//!
//! ```text
//!   data ─► DataPlan ─► mean rate ─┐
//!   load, link rate ───────────────┴► streams a host ─► placement ─► a SourcePlan each
//! ```
//!
//! Invariants: streams of a host stand together, in the order of their numbers; what they would take
//! of memory is told before it is taken.

use crate::compile::classes::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::Streams;
use gingham_kernel::{Span, Time};
use gingham_net::traffic::{DataPlan, LaterPlan, MessagePlan, SourcePlan, StreamPlan};
use std::ops::Range;
use std::sync::Arc;

/// The sources of a class of streams.
pub(crate) fn streams(
    context: &ClassContext<'_>,
    active: &Range<Time>,
    gathered: &mut Gathered,
) -> Result<Vec<SourcePlan>, LabError> {
    let streams = context.class.streams.as_ref().expect("it has streams");
    check_beside(context)?;
    let data = Arc::new(super::data::stream_data(context, streams, gathered)?);
    let later = stream_start(context, streams, &data, active)?;
    check_rest(context, streams, &data)?;
    let placed = super::placement::placed(context, streams, &data, gathered)?;
    note_frames(context, &data, later, active, gathered);
    let mut sources = Vec::with_capacity(placed.len());
    let mut before = None;
    let mut number = 0;
    for (endpoint, destination) in placed {
        number = if before == Some(endpoint) { number + 1 } else { 0 };
        before = Some(endpoint);
        let (data, lifetime) = (Arc::clone(&data), streams.lifetime);
        let (solicits, crashes) = (streams.solicits, streams.crashes);
        let plan = StreamPlan { destination, number, data, later, lifetime, solicits, crashes };
        sources.push(SourcePlan { endpoint, messages: MessagePlan::Stream(plan) });
    }
    Ok(sources)
}

/// Streams say themselves what is sent, how long it is and where to.
fn check_beside(context: &ClassContext<'_>) -> Result<(), LabError> {
    for key in ["arrivals", "length", "destinations", "stagger"] {
        if context.source.tree.get(&context.path(key)).is_some() {
            let message = format!("streams tell this themselves; leave `{key}` out");
            return Err(context.error(key, message).into());
        }
    }
    Ok(())
}

/// How much later than its class each stream starts.
fn stream_start(
    context: &ClassContext<'_>,
    streams: &Streams,
    data: &DataPlan,
    active: &Range<Time>,
) -> Result<LaterPlan, LabError> {
    let left = left(context, active);
    let turn = streams.start.unwrap_or(Span::ZERO);
    if streams.start.is_some() && turn >= left {
        let message = format!("streams start {turn} after their class, which sends for {left}");
        return Err(context.error("streams.start", message).into());
    }
    let has_phase = streams.start.is_none() && data.frames().is_some();
    let jitter = if has_phase { streams.interval() } else { Span::ZERO };
    Ok(LaterPlan { turn, jitter })
}

/// For how long a class sends in a run.
fn left(context: &ClassContext<'_>, active: &Range<Time>) -> Span {
    let end = Time::ZERO + context.source.scenario.stop.time;
    active.end.min(end).since(active.start)
}

/// Refuses what no stream can last or solicit.
fn check_rest(
    context: &ClassContext<'_>,
    streams: &Streams,
    data: &DataPlan,
) -> Result<(), LabError> {
    let refuse = |key: &str, message: String| -> Result<(), LabError> {
        Err(context.error(&format!("streams.{key}"), message).into())
    };
    let solicits = streams.solicits;
    if !(solicits > 0.0 && solicits.is_finite()) {
        let message = format!(
            "a stream solicits a multiple of its mean rate, above 0, such as 1, not {solicits}"
        );
        return refuse("solicits", message);
    }
    let crashes = streams.crashes;
    if !(0.0..=1.0).contains(&crashes) {
        let message = format!("a share of the streams crashes, from 0 to 1, not {crashes}");
        return refuse("crashes", message);
    }
    if data.frames().is_none() {
        return Ok(());
    }
    let interval = streams.interval();
    if let Some(lifetime) = streams.lifetime.filter(|lifetime| *lifetime < interval) {
        let message = format!(
            "a stream of {lifetime} has no frame, of which each takes {interval}: let it last for one at least"
        );
        return refuse("lifetime", message);
    }
    Ok(())
}

/// Says where a run is too short for any frame to be counted.
fn note_frames(
    context: &ClassContext<'_>,
    data: &DataPlan,
    later: LaterPlan,
    active: &Range<Time>,
    gathered: &mut Gathered,
) {
    let Some(frames) = data.frames() else { return };
    let left = left(context, active).as_ps().saturating_sub(later.turn.as_ps());
    let streams = context.class.streams.as_ref();
    let lifetime = streams.and_then(|streams| streams.lifetime).unwrap_or(TIME_MAX);
    let begun = left.min(lifetime.as_ps()).div_ceil(frames.interval.as_ps());
    let warm_up = u64::from(frames.deadlines.warm_up_frames);
    if begun <= warm_up {
        let text = format!(
            "a stream has at most {begun} frames in this run, and the first {warm_up} of each are not counted, so that \
             nothing is said of deadlines; traffic.{}.streams.deadline.warm_up_frames counts fewer out, a longer run has more",
            context.index
        );
        context.note(gathered, text);
    }
}
