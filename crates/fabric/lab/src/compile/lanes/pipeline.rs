//! Compilation of the five-stage switch.

use super::checks::{Laned, of_buffers, of_cycles};
use super::rooms::{Room, of_room};
use super::{LaneFigures, count_of_lanes, limits, notes};
use crate::check::{Subject, check as check_rows};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::mechanisms::arbiters::{self, Among};
use crate::scenario::{Forwarding, Parameters, PerLane, PipelineParameters, ScenarioSource};
use gingham_kernel::Span;
use gingham_net::{PipelinePlan, Plan};
use gingham_topology::routing::{LANES_MAX, LaneSet};

/// Returns the plan of five-stage switches without the cycle time, which depends on the channels.
pub(crate) fn plan(
    source: &ScenarioSource,
    parameters: &Parameters,
    switch: &PipelineParameters,
    overhead_bytes: u32,
    gathered: &mut Gathered,
) -> Result<(PipelinePlan, LaneFigures), LabError> {
    let count = count_of_lanes(source, &switch.lanes, gathered)?;
    let laned = &Subject::of_table(source, "network.lanes", Laned { switch, count });
    check_rows(&of_buffers(), laned, gathered)?;
    let depths_flits = depths(&switch.depth, count);
    let output = switch.output_depth.as_ref().map(|written| depths(written, count));
    let (flit_bytes, cut_through) = (checked(switch.flit.0), cut_through(switch, count));
    let among = Among { count, flit_bytes, cut_through };
    let (crossbar_input, crossbar_output) = arbiters::crossbar(source, switch, among, gathered)?;
    let ports = arbiters::ports(source, &switch.lanes, among, gathered)?;
    check_rows(&of_cycles(), laned, gathered)?;
    let pipeline = PipelinePlan {
        vc_allocator: switch.vc_allocator,
        flit_bytes,
        overhead_bytes,
        cycle: Span::from_ps(1),
        depths_flits,
        output_depths_flits: output.unwrap_or(depths_flits),
        cut_through,
        pipeline_cycles: checked(switch.pipeline_cycles),
        routing_cycles: checked(switch.routing_cycles),
        credit_delay_cycles: switch.credit_delay.map(checked),
        reallocation: switch.reallocation,
        crossbar: switch.crossbar,
        allocator: switch.allocator,
        input_speedup: checked(switch.input_speedup),
        output_speedup: checked(switch.output_speedup),
        arbitration: parameters.arbitration,
        crossbar_input,
        crossbar_output,
        injection: switch.injection,
    };
    let lanes_per_vl = source.scenario.network.lanes.per_vl.map(checked);
    let figures = LaneFigures::of(source, count, ports)?.with_lanes_per_vl(lanes_per_vl);
    Ok((pipeline, figures))
}

fn checked<T, N: TryFrom<T>>(number: T) -> N {
    N::try_from(number).ok().expect("a check refuses other numbers")
}

fn depths(written: &PerLane<i64>, count: u8) -> [u32; LANES_MAX as usize] {
    let mut depths = [0; LANES_MAX as usize];
    let values = written.by_lane(count.into()).expect("a check refuses other lists");
    depths.iter_mut().zip(values).for_each(|(depth, value)| *depth = checked(value));
    depths
}

fn cut_through(switch: &PipelineParameters, count: u8) -> LaneSet {
    let by_lane = switch.forwarding.by_lane(count.into()).expect("a check refuses other lists");
    let cut = (0..count).zip(by_lane);
    let cut = cut.filter(|(_, forwarding)| *forwarding == Forwarding::VirtualCutThrough);
    cut.map(|(lane, _)| lane).collect()
}

/// Returns the payload that fits into the shallowest of the given lanes; adaptive segments have up
/// to this payload per switch on their route.
pub(crate) fn lane_bytes(pipeline: &PipelinePlan, lanes: LaneSet) -> u64 {
    let depths = lanes.lanes().map(|lane| pipeline.depths_flits[usize::from(lane)]);
    let bytes = pipeline.wire_bytes(depths.min().unwrap_or(1).into());
    bytes.saturating_sub(pipeline.overhead_bytes.into()).max(1)
}

pub(crate) fn check(
    source: &ScenarioSource,
    plan: &Plan,
    pipeline: &PipelinePlan,
    gathered: &mut Gathered,
) -> Result<(), LabError> {
    let piped = &Subject::of_table(source, "", (plan, pipeline));
    check_rows(&limits::of_plan(), piped, gathered)?;
    let room = Room {
        plan,
        lanes: pipeline.cut_through,
        holds: &pipeline.depths_flits,
        takes: &|payload| pipeline.packet_flits(payload),
        key: "network.lanes.depth",
        kind: " with virtual cut-through",
        unit: "flits",
    };
    check_rows(&of_room(), &Subject::of_table(source, "", room), gathered)?;
    check_rows(&notes::of_depths(), piped, gathered)?;
    check_rows(&notes::of_lanes(), &Subject::of_table(source, "", plan), gathered)
}
