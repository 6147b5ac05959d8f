//! Compilation of the five-stage switch: its parameters, limits and notes.

use super::rooms::{Room, check as check_rooms};
use super::section::{Section, count_of_lanes};
use super::{LaneFigures, limits, notes};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::mechanisms::arbiters::{self, Among};
use crate::scenario::{AdaptiveRouting, Parameters, PipelineParameters, ScenarioSource};
use gingham_kernel::Span;
use gingham_net::{PipelinePlan, Plan};
use gingham_topology::routing::LaneSet;

/// Returns the plan of five-stage switches, except their cycle, which depends on the channels, and
/// the lane settings.
pub(crate) fn plan(
    source: &ScenarioSource,
    parameters: &Parameters,
    switch: &PipelineParameters,
    overhead_bytes: u32,
    gathered: &mut Gathered,
) -> Result<(PipelinePlan, LaneFigures), LabError> {
    let of = Section { source };
    let count = count_of_lanes(source, &switch.lanes)?;
    let depths_flits = of.depths("depth", &switch.depth, count, 1)?;
    let output = of.output_depths(switch, count)?;
    let (flit_bytes, cut_through) = (of.flit_bytes(switch)?, of.cut_through(switch, count)?);
    let (allocator, [input_speedup, output_speedup]) = of.allocator(switch, count)?;
    let among = Among { count, flit_bytes, cut_through };
    let (crossbar_input, crossbar_output) = arbiters::crossbar(source, switch, among, gathered)?;
    let ports = arbiters::ports(source, &switch.lanes, among, gathered)?;
    let adaptive = source.scenario.routing.adaptive.as_ref();
    let pipeline = PipelinePlan {
        select: adaptive.map(|adaptive| adaptive.select),
        reselect: adaptive.map(AdaptiveRouting::reselect).unwrap_or_default(),
        vc_allocator: of.vc_allocator(switch)?,
        flit_bytes,
        overhead_bytes,
        cycle: Span::from_ps(1),
        depths_flits,
        output_depths_flits: output.unwrap_or(depths_flits),
        cut_through,
        pipeline_cycles: of.pipeline_cycles(switch)?,
        routing_cycles: of.routing_cycles(switch)?,
        credit_delay_cycles: of.credit_delay(switch)?,
        reallocation: switch.reallocation,
        crossbar: switch.crossbar,
        allocator,
        input_speedup,
        output_speedup,
        arbitration: parameters.arbitration,
        crossbar_input,
        crossbar_output,
        injection: switch.injection,
    };
    let lanes_per_vl = of.lanes_per_vl(count)?;
    let figures = LaneFigures::of(source, count, ports)?.with_lanes_per_vl(lanes_per_vl);
    Ok((pipeline, figures))
}

/// Returns the payload that the shallowest of some lanes holds, which adaptive segments count per
/// switch.
pub(crate) fn lane_bytes(pipeline: &PipelinePlan, lanes: LaneSet) -> u64 {
    let depths = lanes.lanes().map(|lane| pipeline.depths_flits[usize::from(lane)]);
    let bytes = pipeline.wire_bytes(depths.min().unwrap_or(1).into());
    bytes.saturating_sub(pipeline.overhead_bytes.into()).max(1)
}

/// Refuses plans that five-stage switches cannot run, and notes unexpected properties.
pub(crate) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    limits::check(source, plan, pipeline)?;
    let room = Room {
        lanes: pipeline.cut_through,
        holds: &pipeline.depths_flits,
        takes: &|payload| pipeline.packet_flits(payload),
        key: "network.lanes.depth",
        kind: " with virtual cut-through",
        unit: "flits",
    };
    check_rooms(source, plan, &room)?;
    notes::note_shallow(plan, pipeline, gathered);
    notes::note_unused(plan, gathered);
    Ok(())
}
