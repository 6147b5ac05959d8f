//! Whether every packet on a lane with virtual cut-through fits into that lane.
//!
//! It goes on only where there is room for all of it, so that one that is longer than the lane
//! would wait for ever.

use crate::compile::longest::{
    destinations, lanes_of_answers, longest_anywhere, longest_as, sent_as,
};
use crate::error::LabError;
use crate::scenario::ScenarioSource;
use gingham_kernel::Bytes;
use gingham_model::traffic::SourcePlan;
use gingham_model::{AnswerPlan, ClassPlan, PipelinePlan, Plan};
use gingham_topology::EndpointId;
use gingham_topology::routing::LaneSet;

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
            let lanes = plan.lanes_of(other);
            let Some((lane, depth)) = shallowest(pipeline, lanes) else { continue };
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
        if let Some(window) = &class.window {
            check_answer(source, plan, pipeline, (index, class), window.answer)?;
        }
    }
    Ok(())
}

/// The same of answers.
fn check_answer(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
    (index, class): (usize, &ClassPlan),
    answer: AnswerPlan,
) -> Result<(), LabError> {
    let shallowest = shallowest(pipeline, lanes_of_answers(plan, answer));
    let flits = pipeline.packet_flits(answer.payload_bytes);
    let Some((lane, depth)) = shallowest.filter(|(_, depth)| u64::from(*depth) < flits) else {
        return Ok(());
    };
    let message = format!(
        "an answer of class `{}` has {} of payload, {flits} flits, and lane {lane} with virtual cut-through holds {depth} \
         flits, so that it would wait for ever: raise network.lanes.depth, or make answers shorter \
         (traffic.{index}.window.answer.length)",
        class.name,
        Bytes(answer.payload_bytes.into())
    );
    Err(source.refuse("network.lanes.depth", message).into())
}

/// The lane with virtual cut-through that holds least of these.
fn shallowest(pipeline: &PipelinePlan, lanes: LaneSet) -> Option<(u8, u32)> {
    let with_depth = |lane: u8| (lane, pipeline.depths_flits[usize::from(lane)]);
    (lanes & pipeline.cut_through).lanes().map(with_depth).min_by_key(|(_, depth)| *depth)
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
