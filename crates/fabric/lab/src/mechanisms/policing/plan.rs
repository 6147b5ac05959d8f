//! Plans of token buckets.

use super::checks::{Policed, of_keys};
use crate::check::check;
use crate::compile::classes::context::ClassContext;
use crate::compile::classes::lengths::checked_payload;
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::Excess;
use gingham_kernel::Span;
use gingham_net::traffic::SourcePlan;
use gingham_net::{self as net, ClassId, PolicingPlan, REFILL_BYTES};
use gingham_topology::EndpointId;

pub(crate) fn plan(
    context: &ClassContext<'_>,
    sources: &[SourcePlan],
    gathered: &mut Gathered,
) -> Result<Option<PolicingPlan>, LabError> {
    let Some(policing) = &context.class.policing else { return Ok(None) };
    check(&of_keys(), &context.subject(Policed { context, policing, sources }), gathered)?;
    let refill =
        |source: &SourcePlan| time_at(context, source.endpoint, policing.rate, REFILL_BYTES);
    Ok(Some(PolicingPlan {
        refill: sources.iter().map(refill).collect(),
        burst_bytes: checked_payload(policing.burst),
        longest_bytes: policing.longest.map_or(u32::MAX, checked_payload),
        excess: match &policing.excess {
            Excess::Delay => net::Excess::Delay,
            Excess::Drop => net::Excess::Drop,
            Excess::Demote(name) => {
                let class = context.class_called(name).expect("a check refuses unknown names");
                net::Excess::Demote(ClassId::new(class))
            }
        },
    }))
}

pub(crate) fn time_at(
    context: &ClassContext<'_>,
    host: EndpointId,
    share: f64,
    bytes: u64,
) -> Span {
    #[expect(clippy::cast_precision_loss, reason = "rounded to a picosecond in 64 KiB, once")]
    let span_ps = bytes as f64 * context.links.byte_ps(host) / share;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
    Span::from_ps(span_ps.round() as u64)
}
