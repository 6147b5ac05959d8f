//! Random lane tables: any VL for every service level and hop, any level for every pair; a VL may
//! own several lanes.

use gingham_kernel::{Purpose, Stream};
use gingham_net::scheduler::{InfiniBand, TableSlot};
use gingham_net::{Plan, Scheduler, Switching};
use gingham_topology::EndpointId;
use gingham_topology::routing::{
    LEVELS, LaneMap, LaneRow, LaneSet, Lanes, MANAGEMENT_LANE, ServiceLevels, VcClass,
};
use std::sync::Arc;

pub(crate) fn with_random_tables(plan: &Plan, seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "tables", Purpose::Permutation);
    let mut plan = plan.clone();
    make_alike(&mut plan);
    // A separate stream: other draws do not depend on it.
    let mut sets = Stream::new(seed, "lanes per VL", Purpose::Permutation);
    let lanes_per_vl = match sets.below(2) {
        0 => 1,
        _ => 1 + u8::try_from(sets.below(plan.lanes.count.min(4).into())).unwrap(),
    };
    let count = u64::from((plan.lanes.count / lanes_per_vl).min(MANAGEMENT_LANE));
    let fabric = &plan.fabric;
    let mut map = LaneMap::uniform(fabric, row(&mut draw, count));
    for switch in fabric.switches() {
        let ports = fabric.node(switch).ports;
        for (input, output) in (0..ports).flat_map(|input| (0..ports).map(move |to| (input, to))) {
            map.set_switch(switch, input + 1, output + 1, row(&mut draw, count));
        }
    }
    for endpoint in EndpointId::first(fabric.endpoints().len()) {
        map.set_endpoint(endpoint, row(&mut draw, count));
    }
    let levels = ServiceLevels::by_pair(fabric, 1, |_, _, _| level(&mut draw));
    for class in &mut plan.classes {
        class.vc_class = (draw.below(2) == 0).then(|| VcClass(level(&mut draw)));
    }
    let of_classes: Vec<VcClass> = plan.classes.iter().filter_map(|class| class.vc_class).collect();
    plan.lanes.allowed =
        Lanes::by_tables(fabric, map, levels, true, &of_classes).with_lanes_per_vl(lanes_per_vl);
    if lanes_per_vl > 1 {
        arbitrate_vls(&mut plan, &mut sets);
    }
    plan
}

fn arbitrate_vls(plan: &mut Plan, draw: &mut Stream) {
    let Switching::VirtualLanes(pipeline) = &mut plan.switching else { panic!("virtual lanes") };
    let lanes = &mut plan.lanes;
    if pipeline.cut_through != LaneSet::first_n(lanes.count) {
        return;
    }
    let slot = |lane| TableSlot { lane, weight: 1 + u8::try_from(draw.below(4)).unwrap() };
    let low: Vec<TableSlot> = (0..lanes.count.min(MANAGEMENT_LANE)).map(slot).collect();
    let high = low.iter().copied().filter(|slot| slot.weight > 3).collect();
    let tables = InfiniBand { high: Some(high), low: Some(low), ..InfiniBand::default() };
    // If no flit waits at an output, links must serve lanes in round robin.
    let waits = pipeline.output_depths_flits[0] > 0;
    let at_outputs = Arc::make_mut(pipeline).crossbar_output.iter_mut();
    let arbiters = [(&mut lanes.link_output, waits), (&mut lanes.adapter_port, true)];
    for (arbiter, may) in arbiters.into_iter().chain(at_outputs.map(|arbiter| (arbiter, true))) {
        if draw.below(2) == 0 && may {
            *arbiter = Scheduler::InfiniBand(tables.clone());
        }
    }
}

/// Makes all lanes alike, so that every packet fits wherever tables lead it.
fn make_alike(plan: &mut Plan) {
    let Switching::VirtualLanes(pipeline) = &mut plan.switching else { panic!("virtual lanes") };
    let (pipeline, lanes) = (Arc::make_mut(pipeline), &mut plan.lanes);
    let all = LaneSet::first_n(lanes.count);
    let deepest = pipeline.depths_flits.iter().copied().max().unwrap_or(1);
    pipeline.depths_flits = pipeline.depths_flits.map(|depth| if depth > 0 { deepest } else { 0 });
    if pipeline.cut_through != all {
        pipeline.cut_through = LaneSet::EMPTY;
    }
    let at_outputs = pipeline.crossbar_output.iter_mut();
    let arbiters = [&mut pipeline.crossbar_input, &mut lanes.link_output, &mut lanes.adapter_port];
    for arbiter in arbiters.into_iter().chain(at_outputs) {
        // Tables may lead to a lane that only this arbiter never serves.
        if arbiter.served(lanes.count) & all != all {
            *arbiter = Scheduler::default();
        }
    }
}

fn level(draw: &mut Stream) -> u8 {
    u8::try_from(draw.below(LEVELS as u64)).unwrap()
}

fn row(draw: &mut Stream, count: u64) -> LaneRow {
    [0; LEVELS].map(|_| u8::try_from(draw.below(count)).unwrap())
}
