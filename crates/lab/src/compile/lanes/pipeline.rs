//! The switch of five stages: its figures, what is beyond them, and what of them surprises.

use super::section::Section;
use super::{LaneFigures, limits, notes, rooms};
use crate::compile::arbiters::{self, Among, Arbiters};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::{LaneParameters, Parameters, ScenarioSource};
use gingham_kernel::Span;
use gingham_model::{PipelinePlan, Plan};
use gingham_topology::routing::LaneSet;

/// The plan of such switches but for their cycle, which the channels decide on, and what is known of lanes.
pub(in crate::compile) fn plan(
    source: &ScenarioSource,
    parameters: &Parameters,
    lanes: &LaneParameters,
    overhead_bytes: u32,
    gathered: &mut Gathered,
) -> Result<(PipelinePlan, LaneFigures), LabError> {
    let of = Section { source };
    let count = of.count(lanes)?;
    let depths_flits = of.depths("depth", &lanes.depth, count)?;
    let output = lanes.output_depth.as_ref();
    let output = output.map(|output| of.depths("output_depth", output, count)).transpose()?;
    let (flit_bytes, cut_through) = (of.flit_bytes(lanes)?, of.cut_through(lanes, count)?);
    let among = Among { count, flit_bytes, cut_through, crossbar: lanes.crossbar };
    let Arbiters { crossbar_input, link_output, adapter_port } =
        Arbiters::of(source, lanes, among, gathered)?;
    let pipeline = PipelinePlan {
        flit_bytes,
        overhead_bytes,
        cycle: Span::from_ps(1),
        depths_flits,
        output_depths_flits: output.unwrap_or(depths_flits),
        cut_through,
        routing_cycles: of.routing_cycles(lanes)?,
        crossbar: lanes.crossbar,
        arbitration: parameters.arbitration,
        crossbar_input,
    };
    Ok((pipeline, LaneFigures::of(source, count, [link_output, adapter_port])?))
}

/// Payload that the shallowest of some lanes holds: what adaptive segments count for a switch.
pub(in crate::compile) fn lane_bytes(pipeline: &PipelinePlan, lanes: LaneSet) -> u64 {
    let depths = lanes.lanes().map(|lane| pipeline.depths_flits[usize::from(lane)]);
    let bytes = pipeline.wire_bytes(depths.min().unwrap_or(1).into());
    bytes.saturating_sub(pipeline.overhead_bytes.into()).max(1)
}

/// Refuses what such switches cannot do, and says what one might not expect of them.
pub(in crate::compile) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    limits::check(source, plan, pipeline.cycle)?;
    rooms::check(source, plan, pipeline)?;
    notes::note(plan, pipeline, gathered);
    arbiters::note(plan, pipeline, gathered);
    Ok(())
}
