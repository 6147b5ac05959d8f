//! How messages of a class are posted: credits, what a refused one does, and lanes.

use crate::compile::classes::context::ClassContext;
use crate::compile::measure::TIME_MAX;
use crate::error::LabError;
use crate::scenario::{Adapters, CongestionControl, Credits, LaneName, RefusedPost, Retry};
use gingham_kernel::Span;
use gingham_net as net;
use gingham_net::traffic::SourcePlan;
use gingham_net::{LaneChoice, PolicingPlan, PostPlan, Refused};

/// Credits: as many as a send buffer has places.
const CREDITS_MAX: u32 = 1_000_000;

pub(crate) fn post(
    context: &ClassContext<'_>,
    sources: &[SourcePlan],
    policing: Option<&PolicingPlan>,
) -> Result<PostPlan, LabError> {
    let lane = lane_choice(context, policing)?;
    let Some(adapters) = context.source.scenario.network.adapters else {
        if context.class.post.is_some() {
            let message = "messages are posted to channel adapters, and there are none: add the table [network.adapters], or leave \
                           this out";
            return Err(context.error("post", message).into());
        }
        return Ok(PostPlan { lane, ..PostPlan::default() });
    };
    let credits = credits(context, adapters, sources)?;
    let refused = refused(context, sources)?;
    Ok(PostPlan { credits, refused, lane })
}

fn credits(
    context: &ClassContext<'_>,
    adapters: Adapters,
    sources: &[SourcePlan],
) -> Result<net::Credits, LabError> {
    let control = adapters.congestion_control;
    let written = context.class.post.and_then(|post| post.credits);
    let so_many = |key: &str, written: i64| -> Result<Box<[u32]>, LabError> {
        let credits = u32::try_from(written).ok();
        let credits = credits.filter(|credits| (1..=CREDITS_MAX).contains(credits));
        let credits = credits.ok_or_else(|| {
            let message = format!(
                "from 1 to 1,000,000 credits, not {written}: without any nothing could be sent"
            );
            context.error(key, message)
        })?;
        Ok(vec![credits; context.fabric.endpoints().len()].into())
    };
    match (control, written) {
        (_, Some(Credits::Exempt)) => Ok(net::Credits::Exempt),
        (CongestionControl::Credits, None) => {
            let message = format!(
                "class `{}` has no credits, so that it could send nothing: say post = {{ credits = {{ per-host = 200 }} }}, {{ per-flow \
                 = 1 }} or \"exempt\"",
                context.class.name
            );
            Err(context.error("post.credits", message).into())
        }
        (CongestionControl::Credits, Some(Credits::ByRate)) => {
            let Some(stream) = sources.iter().find_map(SourcePlan::stream) else {
                let message = "only streams solicit a rate: say { per-host = 200 } or { per-flow = 1 }, or make the class of streams";
                return Err(context.error("post.credits", message).into());
            };
            let bytes_per_ps = stream.solicited_bytes_per_ps();
            let share = |endpoint| bytes_per_ps * context.links.byte_ps(endpoint);
            let credits = |endpoint| credits_of(share(endpoint), adapters.send_buffer);
            Ok(net::Credits::OfFlow(context.fabric.endpoint_ids().map(credits).collect()))
        }
        (CongestionControl::Credits, Some(Credits::PerHost(credits))) => {
            Ok(net::Credits::OfClass(so_many("post.credits.per-host", credits)?))
        }
        (CongestionControl::Credits, Some(Credits::PerFlow(credits))) => {
            Ok(net::Credits::OfFlow(so_many("post.credits.per-flow", credits)?))
        }
        (_, None) => Ok(net::Credits::OfBuffer),
        (_, Some(_)) => {
            let message = "without credits all classes share the send buffer: say network.adapters.congestion_control = \
                           \"credits\", or leave this out";
            Err(context.error("post.credits", message).into())
        }
    }
}

fn refused(context: &ClassContext<'_>, sources: &[SourcePlan]) -> Result<Refused, LabError> {
    let refused = context.class.post.unwrap_or_default().refused;
    let RefusedPost::Retry(Retry { after }) = refused else { return Ok(Refused::Wait) };
    if let Some(after) = after.filter(|after| *after == Span::ZERO || *after > TIME_MAX) {
        let message = format!(
            "a message is posted again after more than 0 and at most {TIME_MAX}, not {after}"
        );
        return Err(context.error("post.refused.retry.after", message).into());
    }
    let longest = sources.iter().map(|sender| *sender.payload_bytes().end()).max();
    let longest = u64::from(longest.unwrap_or(1));
    let period = |endpoint| match after {
        Some(after) => after,
        None => crate::mechanisms::policing::time_at(context, endpoint, 1.0, longest)
            .max(Span::from_ps(1)),
    };
    Ok(Refused::Retry(context.fabric.endpoint_ids().map(period).collect()))
}

fn lane_choice(
    context: &ClassContext<'_>,
    policing: Option<&PolicingPlan>,
) -> Result<LaneChoice, LabError> {
    let lanes = &context.links.kind.lanes;
    let choice = match context.class.lane {
        LaneName::Any => return Ok(LaneChoice::Any),
        LaneName::AtRandom => LaneChoice::AtRandom(lanes.single_vc_classes(context.index)),
        LaneName::OfFlow => LaneChoice::OfFlow(lanes.single_vc_classes(context.index)),
    };
    let is_held = context.class.window.is_some()
        || context.class.pace.is_some()
        || policing.is_some_and(|of| of.excess == net::Excess::Delay);
    if is_held && context.class.lane == LaneName::AtRandom {
        let message = "packets of a flow that is held back, by a window, a pace or tokens, go one after the other on its lanes: say \
                       lane = \"of-flow\"";
        return Err(context.error("lane", message).into());
    }
    Ok(choice)
}

/// As many credits as a share of a link is of a send buffer, at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a send buffer is small, and what is beyond all credits saturates"
)]
fn credits_of(share: f64, send_buffer: i64) -> u32 {
    // A share that is a whole number of places but for the last digits is that number.
    ((share * send_buffer as f64 * (1.0 + 1e-9)) as u32).max(1)
}
