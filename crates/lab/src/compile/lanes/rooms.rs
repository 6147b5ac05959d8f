//! Whether every packet on a lane with virtual cut-through fits into that lane.
//!
//! It goes on only where there is room for all of it, so that one that is longer than the lane
//! would wait for ever.

use crate::compile::longest::{destinations, longest_anywhere, longest_as, sent_as};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_kernel::Bytes;
use gingham_model::traffic::SourcePlan;
use gingham_model::{ClassPlan, PipelinePlan, Plan};
use gingham_topology::EndpointId;

/// Refuses packets that are longer than a lane with virtual cut-through on which they may go.
pub(super) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
) -> Result<(), LabError> {
    if pipeline.cut_through.is_empty() {
        return Ok(());
    }
    for (index, class) in plan.classes.iter().enumerate() {
        for other in sent_as(plan, class) {
            let Some((lane, depth)) = shallowest(plan, pipeline, other) else { continue };
            let Some(found) = too_long(plan, pipeline, (class, other), depth) else { continue };
            let has = match found {
                u32::MAX => "may be of any length".to_owned(),
                _ => format!(
                    "may have {} of payload, {} flits",
                    Bytes(found.into()),
                    pipeline.packet_flits(found)
                ),
            };
            let message = format!(
                "a packet of class `{}` {has}, and lane {lane} with virtual cut-through holds {depth} flits, so that it would \
                 wait for ever: raise network.lanes.depth, or cut packets with traffic.{index}.segmentation",
                class.name
            );
            return Err(source.refuse("network.lanes.depth", message).into());
        }
    }
    Ok(())
}

/// The lane with virtual cut-through that holds least of those of a class.
fn shallowest(plan: &Plan, pipeline: &PipelinePlan, class: &ClassPlan) -> Option<(u8, u32)> {
    let with_depth = |lane: u8| (lane, pipeline.depths_flits[usize::from(lane)]);
    (plan.lanes_of(class) & pipeline.cut_through)
        .lanes()
        .map(with_depth)
        .min_by_key(|(_, depth)| *depth)
}

/// The payload of a packet of messages of one class, sent as those of the other, that has more
/// flits than `depth`.
fn too_long(
    plan: &Plan,
    pipeline: &PipelinePlan,
    (class, other): (&ClassPlan, &ClassPlan),
    depth: u32,
) -> Option<u32> {
    let is_too_long = |payload: &u32| pipeline.packet_flits(*payload) > u64::from(depth);
    class.sources.iter().find_map(|source: &SourcePlan| {
        let message = *source.payload_bytes().end();
        Some(longest_anywhere(other, message)).filter(is_too_long)?;
        let over =
            |to: EndpointId| longest_as(other, message, || plan.switches(source.endpoint, to));
        destinations(plan, source).map(over).find(is_too_long)
    })
}
