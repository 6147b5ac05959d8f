//! Plans over virtual lanes.

use super::{FLIT, quiet_plan, scheduled};
use gingham_kernel::Span;
use gingham_net::scheduler::{RoundRobin, StrictPriority};
use gingham_net::{
    Allocator, Arbitration, Crossbar, Granularity, Injection, LanePlan, PipelinePlan, Plan,
    Reallocation, Scheduler, Switching, VcAllocator,
};
use gingham_topology::Fabric;
use gingham_topology::routing::{LaneSet, Lanes, VcClass};
use std::sync::Arc;

/// Plan without traffic: every packet may take any of `count` lanes.
pub(crate) fn lane_plan(fabric: Fabric, count: u8) -> Plan {
    let mut plan = quiet_plan(fabric);
    for channel in &mut plan.channels {
        channel.slack = None;
    }
    plan.lanes = LanePlan::free(count);
    plan.switching = Switching::VirtualLanes(Arc::new(PipelinePlan {
        vc_allocator: VcAllocator::Maximal,
        flit_bytes: 16,
        overhead_bytes: 0,
        cycle: Span::from_ps(FLIT),
        depths_flits: [10; 16],
        output_depths_flits: [10; 16],
        cut_through: LaneSet::EMPTY,
        pipeline_cycles: 0,
        routing_cycles: 1,
        credit_delay_cycles: None,
        reallocation: Reallocation::Tail,
        crossbar: Crossbar::Multiplexed,
        allocator: Allocator::Maximal,
        input_speedup: 1,
        output_speedup: 1,
        arbitration: Arbitration::RoundRobin,
        crossbar_input: Scheduler::default(),
        crossbar_output: None,
        injection: Injection::default(),
    }));
    plan
}

pub(crate) fn in_turn(by: Granularity) -> Scheduler {
    Scheduler::RoundRobin(RoundRobin { by })
}

pub(crate) fn strict(levels: Vec<u8>) -> Scheduler {
    Scheduler::StrictPriority(StrictPriority { levels, by: Granularity::Flit })
}

pub(crate) fn lanes(plan: &mut Plan, change: impl FnOnce(&mut PipelinePlan)) {
    let Switching::VirtualLanes(pipeline) = &mut plan.switching else {
        panic!("a plan of virtual lanes")
    };
    change(Arc::make_mut(pipeline));
}

/// Each packet is given by its time and its flits.
pub(crate) fn packets(plan: &mut Plan, from: usize, to: usize, packets: &[(u64, u32)]) {
    let messages: Vec<_> = packets.iter().map(|(ps, flits)| (*ps, 16 * flits)).collect();
    scheduled(plan, from, to, &messages);
}

/// Gives each class its own set of lanes.
pub(crate) fn on_lanes(plan: &mut Plan, sets: &[LaneSet]) {
    plan.lanes.allowed = Lanes::free(sets);
    for (vc_class, class) in (0..).map(VcClass).zip(&mut plan.classes) {
        class.vc_class = Some(vc_class);
    }
}
