//! What streams send: frames of a trace or drawn ones, or bursts.

use crate::compile::classes::arrivals::{PERIOD_MAX, SHAPE_MIN};
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::payload;
use crate::compile::gathered::Gathered;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::{Mpeg2, OnOffData, StreamData, Streams, Trace};
use gingham_kernel::{Bytes, Span};
use gingham_net::traffic::{
    DataPlan, DeadlinePlan, FirstFrame, FramePlan, FrameSizes, OnOffStream, PeriodLaw, PeriodPlan,
};

/// On periods that pass by without a message cost time and mean nothing.
const PERIODS_PER_MESSAGE_MAX: f64 = 1_000.0;
/// Frames that are counted out at the most.
const WARM_UP_MAX: u32 = 1_000_000;

/// What each stream of the class sends.
pub(crate) fn stream_data(
    context: &ClassContext<'_>,
    streams: &Streams,
    gathered: &mut Gathered,
) -> Result<DataPlan, LabError> {
    let message_bytes = frame_bytes(context, "streams.message", streams.message, "a message")?;
    let sizes = match &streams.data {
        StreamData::Trace(trace) => trace_sizes(context, trace, gathered)?,
        StreamData::Mpeg2(mpeg2) => drawn_sizes(context, mpeg2)?,
        StreamData::OnOff(of) => {
            check_no_frames(context, streams)?;
            return Ok(DataPlan::OnOff(bursts(context, of, message_bytes)?));
        }
    };
    let interval = streams.interval();
    if interval == Span::ZERO || interval > TIME_MAX {
        let message =
            format!("frames come from 1 ps to {TIME_MAX} after each other, not {interval}");
        return Err(context.error("streams.interval", message).into());
    }
    let (spread, deadlines) = (streams.spread.unwrap_or_default(), deadlines(context, streams)?);
    Ok(DataPlan::Frames(FramePlan { sizes, interval, message_bytes, spread, deadlines }))
}

/// A payload under a key.
fn frame_bytes(
    context: &ClassContext<'_>,
    key: &str,
    bytes: Bytes,
    what: &str,
) -> Result<u32, LabError> {
    payload(bytes.0).ok_or_else(|| {
        let message = format!("{what} has from 1 B to 1024 MiB, not {bytes}");
        context.error(key, message).into()
    })
}

fn trace_sizes(
    context: &ClassContext<'_>,
    trace: &Trace,
    gathered: &mut Gathered,
) -> Result<FrameSizes, LabError> {
    let bytes = super::trace::read_trace(context, &trace.file, gathered)?;
    let first = match trace.first {
        None => FirstFrame::Drawn,
        Some(first) => {
            let place = usize::try_from(first).ok().filter(|place| *place < bytes.len());
            FirstFrame::At(place.ok_or_else(|| {
                let last = bytes.len() - 1;
                let message = format!(
                    "the trace has frames 0 to {last}, and streams are to begin with {first}; leave the key out to draw one \
                     for each"
                );
                context.error("streams.data.trace.first", message)
            })?)
        }
    };
    Ok(FrameSizes::Trace { bytes, first })
}

fn drawn_sizes(context: &ClassContext<'_>, mpeg2: &Mpeg2) -> Result<FrameSizes, LabError> {
    let Mpeg2 { mean, deviation } = *mpeg2;
    let mean_bytes = frame_bytes(context, "streams.data.mpeg2.mean", mean, "a mean frame")?;
    let deviation_bytes = payload(deviation.0 + 1).ok_or_else(|| {
        let message = format!("a deviation is less than 1024 MiB, not {deviation}");
        context.error("streams.data.mpeg2.deviation", message)
    })? - 1;
    let (mean, deviation) = (f64::from(mean_bytes), f64::from(deviation_bytes));
    Ok(FrameSizes::Normal { mean, deviation })
}

fn deadlines(context: &ClassContext<'_>, streams: &Streams) -> Result<DeadlinePlan, LabError> {
    let deadline = streams.deadline.clone().unwrap_or_default();
    let frames = u32::try_from(deadline.warm_up_frames).ok();
    let warm_up_frames = frames.filter(|frames| *frames <= WARM_UP_MAX).ok_or_else(|| {
        let message = format!(
            "from 0 to {WARM_UP_MAX} frames of a stream are not counted, not {}",
            deadline.warm_up_frames
        );
        context.error("streams.deadline.warm_up_frames", message)
    })?;
    if deadline.slack > TIME_MAX {
        let message = format!("a slack is {TIME_MAX} at most, not {}", deadline.slack);
        return Err(context.error("streams.deadline.slack", message).into());
    }
    Ok(DeadlinePlan { warm_up_frames, slack: deadline.slack })
}

/// Refuses what is said of frames where there are none.
fn check_no_frames(context: &ClassContext<'_>, streams: &Streams) -> Result<(), LabError> {
    let written = [
        ("deadline", streams.deadline.is_some(), "a deadline is that of a frame"),
        ("interval", streams.interval.is_some(), "an interval lies between frames"),
        ("spread", streams.spread.is_some(), "what is spread are the messages of a frame"),
    ];
    match written.iter().find(|(_, is_written, _)| *is_written) {
        None => Ok(()),
        Some((key, _, why)) => {
            let message = format!(
                "{why}, and bursts (on-off) have no frames: leave `{key}` out, or send a trace or mpeg2"
            );
            Err(context.error(&format!("streams.{key}"), message).into())
        }
    }
}

fn bursts(
    context: &ClassContext<'_>,
    of: &OnOffData,
    message_bytes: u32,
) -> Result<OnOffStream, LabError> {
    let refuse = |key: &str, message: String| -> LabError {
        context.error(&format!("streams.data.on-off.{key}"), message).into()
    };
    if of.on == Span::ZERO {
        let message = "an on period must last; nothing is sent otherwise";
        return Err(refuse("on", message.to_owned()));
    }
    for (key, period) in [("on", of.on), ("off", of.off)] {
        if period > PERIOD_MAX {
            let message = format!("a period lasts {PERIOD_MAX} at most, not {period}");
            return Err(refuse(key, message));
        }
    }
    if let Some(shape) = of.shape.filter(|shape| !(*shape >= SHAPE_MIN && shape.is_finite())) {
        let message = format!("a tail index is above 1, from {SHAPE_MIN} on, not {shape}");
        return Err(refuse("shape", message));
    }
    let law = of.shape.map_or(PeriodLaw::Exponential, |shape| PeriodLaw::Pareto { shape });
    let periods = PeriodPlan { on_mean: of.on, off_mean: of.off, law };
    let interval_ps = f64::from(message_bytes) * of.rate.byte_time().byte_ps() * periods.share_on();
    #[expect(clippy::cast_precision_loss, reason = "a ratio needs few digits")]
    let periods_per_message = interval_ps / of.on.as_ps() as f64;
    if periods_per_message > PERIODS_PER_MESSAGE_MAX {
        let message = format!(
            "{periods_per_message:.0} on periods of {} pass between two messages of a stream; at most \
             {PERIODS_PER_MESSAGE_MAX} may, so make the periods longer or the rate higher",
            of.on
        );
        return Err(refuse("on", message));
    }
    Ok(OnOffStream { periods, interval_ps, message_bytes })
}
