//! Plans of streams.
//!
//! Invariants: the streams of a host are adjacent, in the order of their numbers; their memory is
//! checked before it is allocated.

use super::checks::{Streaming, of_class, of_data, of_frames, of_rest};
use super::placement::placed;
use super::trace::trace_sizes;
use crate::check::check;
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::checked_payload;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::{Mpeg2, OnOffData, StreamData, Streams};
use gingham_kernel::{Bytes, Span, Time};
use gingham_net::traffic::{
    DataPlan, DeadlinePlan, FramePlan, FrameSizes, LaterPlan, MessagePlan, OnOffStream, PeriodLaw,
    PeriodPlan, SourcePlan, StreamPlan,
};
use std::ops::Range;
use std::sync::Arc;

pub(crate) fn streams(
    context: &ClassContext<'_>,
    active: &Range<Time>,
    gathered: &mut Gathered,
) -> Result<Vec<SourcePlan>, LabError> {
    let streams = context.class.streams.as_ref().expect("it has streams");
    let streaming = Streaming { context, streams, active };
    let subject = context.subject(&streaming);
    check(&of_class(), &subject, gathered)?;
    let trace = match &streams.data {
        StreamData::Trace(trace) => Some(trace_sizes(context, trace, gathered)?),
        StreamData::Mpeg2(_) | StreamData::OnOff(_) => None,
    };
    check(&of_data(), &subject, gathered)?;
    check(&of_rest(), &subject, gathered)?;
    let data = Arc::new(data(streams, trace));
    let later = later(streams, &data);
    let placed = placed(&streaming, &data, gathered)?;
    check(&of_frames(), &subject, gathered)?;
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

fn data(streams: &Streams, trace: Option<FrameSizes>) -> DataPlan {
    let message_bytes = checked_payload(streams.message);
    let sizes = match (&streams.data, trace) {
        (StreamData::OnOff(of), _) => {
            let law = of.shape.map_or(PeriodLaw::Exponential, |shape| PeriodLaw::Pareto { shape });
            let periods = PeriodPlan { on_mean: of.on, off_mean: of.off, law };
            let interval_ps = interval_ps(of, streams.message);
            return DataPlan::OnOff(OnOffStream { periods, interval_ps, message_bytes });
        }
        (StreamData::Mpeg2(Mpeg2 { mean, deviation }), _) => {
            let [mean, deviation] = [mean.0, deviation.0]
                .map(|bytes| f64::from(u32::try_from(bytes).expect("a check refuses longer ones")));
            FrameSizes::Normal { mean, deviation }
        }
        (StreamData::Trace(_), trace) => trace.expect("a trace has been read"),
    };
    let deadline = streams.deadline.clone().unwrap_or_default();
    let frames = u32::try_from(deadline.warm_up_frames);
    let warm_up_frames = frames.expect("a check refuses more frames than a million");
    DataPlan::Frames(FramePlan {
        sizes,
        interval: streams.interval(),
        message_bytes,
        spread: streams.spread.unwrap_or_default(),
        deadlines: DeadlinePlan { warm_up_frames, slack: deadline.slack },
    })
}

pub(super) fn interval_ps(bursts: &OnOffData, message: Bytes) -> f64 {
    let OnOffData { rate, on, off, .. } = *bursts;
    let periods = PeriodPlan { on_mean: on, off_mean: off, law: PeriodLaw::Exponential };
    f64::from(checked_payload(message)) * rate.byte_time().byte_ps() * periods.share_on()
}

fn later(streams: &Streams, data: &DataPlan) -> LaterPlan {
    let has_phase = streams.start.is_none() && data.frames().is_some();
    let jitter = if has_phase { streams.interval() } else { Span::ZERO };
    LaterPlan { turn: streams.start.unwrap_or(Span::ZERO), jitter }
}

pub(super) fn sends_for(context: &ClassContext<'_>, active: &Range<Time>) -> Span {
    let end = Time::ZERO + context.source.scenario.stop.time;
    active.end.min(end).since(active.start)
}
