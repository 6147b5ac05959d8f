//! Plans of windows and rate limits.

use super::checks::{Windowed, of_acks_and_responses, of_keys, of_rate_limit};
use crate::check::check;
use crate::compile::classes::checked_priority;
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::checked_payload;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::mechanisms::policing::time_at;
use gingham_net::{AckPlan, Priority, REFILL_BYTES, RateLimitPlan, WindowPlan};

pub(crate) fn window(
    context: &ClassContext<'_>,
    of_class: Priority,
    gathered: &mut Gathered,
) -> Result<Option<WindowPlan>, LabError> {
    let Some(window) = &context.class.window else { return Ok(None) };
    let subject = context.subject(Windowed { context, window });
    check(&of_keys(), &subject, gathered)?;
    check(&of_acks_and_responses(), &subject, gathered)?;
    let packets = |count| u32::try_from(count).expect("a check refuses counts above a million");
    Ok(Some(WindowPlan {
        packets: window.packets.map_or(u32::MAX, packets),
        acknowledged: window.acknowledged,
        ack: AckPlan {
            payload_bytes: checked_payload(window.ack.length),
            priority: window.ack.priority.map_or(of_class, checked_priority),
            vc_class: context.links.kind.lanes.vc_class_of_acks(context.index),
        },
        response: window.response.clone(),
    }))
}

/// Returns the rate limit of every endpoint, because any endpoint may send demoted messages of
/// another class in this class.
pub(crate) fn rate_limit(
    context: &ClassContext<'_>,
    gathered: &mut Gathered,
) -> Result<Option<RateLimitPlan>, LabError> {
    check(&of_rate_limit(), &context.subject(context), gathered)?;
    let response = context.class.window.as_ref().map(|window| &window.response);
    // A response that changes rates starts at the configured rate limit, or by default at the full
    // link rate.
    let full = response.filter(|of| of.changes_rate()).map(|_| 1.0);
    let Some(rate_limit) = context.class.rate_limit.or(full) else { return Ok(None) };
    let refill = |endpoint| time_at(context, endpoint, rate_limit, REFILL_BYTES);
    Ok(Some(RateLimitPlan { refill: context.fabric.endpoint_ids().map(refill).collect() }))
}
