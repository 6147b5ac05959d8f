//! Plans of windows and rate limits.

use super::checks::{Windowed, of_answers_and_responses, of_keys, of_pace};
use crate::check::check;
use crate::compile::classes::checked_priority;
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::checked_payload;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::mechanisms::policing::time_at;
use gingham_net::{AckPlan, PacePlan, Priority, REFILL_BYTES, WindowPlan};

/// Returns the window of a class of this priority, if it has one.
pub(crate) fn window(
    context: &ClassContext<'_>,
    of_class: Priority,
    gathered: &mut Gathered,
) -> Result<Option<WindowPlan>, LabError> {
    let Some(window) = &context.class.window else { return Ok(None) };
    let subject = context.subject(Windowed { context, window });
    check(&of_keys(), &subject, gathered)?;
    check(&of_answers_and_responses(), &subject, gathered)?;
    let packets = |count| u32::try_from(count).expect("a check refuses counts above a million");
    Ok(Some(WindowPlan {
        packets: window.packets.map_or(u32::MAX, packets),
        acknowledged: window.answered,
        ack: AckPlan {
            payload_bytes: checked_payload(window.answer.length),
            priority: window.answer.priority.map_or(of_class, checked_priority),
            vc_class: context.links.kind.lanes.vc_class_of_acks(context.index),
        },
        response: window.response.clone(),
    }))
}

/// Returns the rate limit of a class at every endpoint, since excess of another class may be sent
/// as this class.
pub(crate) fn pace(
    context: &ClassContext<'_>,
    gathered: &mut Gathered,
) -> Result<Option<PacePlan>, LabError> {
    check(&of_pace(), &context.subject(context), gathered)?;
    let response = context.class.window.as_ref().map(|window| &window.response);
    // A response that changes rates starts at the pace of the class, or else at the full rate.
    let full = response.filter(|of| of.is_paced()).map(|_| 1.0);
    let Some(pace) = context.class.pace.or(full) else { return Ok(None) };
    let refill = |endpoint| time_at(context, endpoint, pace, REFILL_BYTES);
    Ok(Some(PacePlan { refill: context.fabric.endpoint_ids().map(refill).collect() }))
}
