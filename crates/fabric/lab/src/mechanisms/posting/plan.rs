//! Plans of adapters and posts.

use super::checks::{Posted, of_buffer, of_class, of_dma};
use crate::check::{Subject, check};
use crate::compile::classes::context::ClassContext;
use crate::compile::gathered::Gathered;
use crate::compile::network::Links;
use crate::error::LabError;
use crate::mechanisms::policing::time_at;
use crate::mechanisms::throttle;
use crate::scenario::{Adapters, Credits, Dma, LaneName, RefusedPost, Retry, ScenarioSource};
use gingham_kernel::Span;
use gingham_net::traffic::SourcePlan;
use gingham_net::{
    self as net, AdapterPlan, DmaPlan, LaneChoice, PolicingPlan, PostPlan, REFILL_BYTES, Refused,
};

pub(crate) fn adapters(
    source: &ScenarioSource,
    links: Links<'_>,
    gathered: &mut Gathered,
) -> Result<Option<AdapterPlan>, LabError> {
    let Some(adapters) = source.scenario.network.adapters else { return Ok(None) };
    let written = Subject::of_table(source, "network.adapters", adapters);
    check(&of_buffer(), &written, gathered)?;
    let throttle = throttle::plan(source, links, adapters.congestion_control, gathered)?;
    check(&of_dma(), &written, gathered)?;
    let dma = |Dma { rate, setup }: Dma| {
        let refill = rate.flit_time(REFILL_BYTES).span;
        DmaPlan { setup, refill }
    };
    let send_buffer = checked_count(adapters.send_buffer);
    Ok(Some(AdapterPlan { send_buffer, dma: adapters.dma.map(dma), throttle }))
}

pub(crate) fn post(
    context: &ClassContext<'_>,
    sources: &[SourcePlan],
    policing: Option<&PolicingPlan>,
    gathered: &mut Gathered,
) -> Result<PostPlan, LabError> {
    check(&of_class(), &context.subject(Posted { context, sources, policing }), gathered)?;
    let lane = lane_choice(context);
    let Some(adapters) = context.source.scenario.network.adapters else {
        return Ok(PostPlan { lane, ..PostPlan::default() });
    };
    let credits = credits(context, adapters, sources);
    Ok(PostPlan { credits, refused: refused(context, sources), lane })
}

fn credits(context: &ClassContext<'_>, adapters: Adapters, sources: &[SourcePlan]) -> net::Credits {
    let everywhere =
        |count: i64| vec![checked_count(count); context.fabric.endpoints().len()].into();
    match context.class.post.and_then(|post| post.credits) {
        None => net::Credits::OfBuffer,
        Some(Credits::Exempt) => net::Credits::Exempt,
        Some(Credits::PerHost(count)) => net::Credits::OfClass(everywhere(count)),
        Some(Credits::PerFlow(count)) => net::Credits::OfFlow(everywhere(count)),
        Some(Credits::ByRate) => {
            let stream = sources.iter().find_map(SourcePlan::stream);
            let bytes_per_ps = stream.expect("a check finds streams").solicited_bytes_per_ps();
            let share = |endpoint| bytes_per_ps * context.links.byte_ps(endpoint);
            let credits = |endpoint| credits_of(share(endpoint), adapters.send_buffer);
            net::Credits::OfFlow(context.fabric.endpoint_ids().map(credits).collect())
        }
    }
}

fn refused(context: &ClassContext<'_>, sources: &[SourcePlan]) -> Refused {
    let refused = context.class.post.unwrap_or_default().refused;
    let RefusedPost::Retry(Retry { after }) = refused else { return Refused::Wait };
    let longest = sources.iter().map(|sender| *sender.payload_bytes().end()).max();
    let longest = u64::from(longest.unwrap_or(1));
    let period = |endpoint| match after {
        Some(after) => after,
        None => time_at(context, endpoint, 1.0, longest).max(Span::from_ps(1)),
    };
    Refused::Retry(context.fabric.endpoint_ids().map(period).collect())
}

fn lane_choice(context: &ClassContext<'_>) -> LaneChoice {
    let lanes = || context.links.kind.lanes.single_vc_classes(context.index);
    match context.class.lane {
        LaneName::Any => LaneChoice::Any,
        LaneName::AtRandom => LaneChoice::AtRandom(lanes()),
        LaneName::OfFlow => LaneChoice::OfFlow(lanes()),
    }
}

fn checked_count(count: i64) -> u32 {
    u32::try_from(count).expect("a check refuses counts above a million, and below 1")
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a send buffer is small, and what is beyond all credits saturates"
)]
fn credits_of(share: f64, send_buffer: i64) -> u32 {
    // The factor compensates for rounding errors if the share is a whole number of messages.
    ((share * send_buffer as f64 * (1.0 + 1e-9)) as u32).max(1)
}
