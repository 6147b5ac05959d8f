//! Which runs are stepped by columns.

use super::count::COUNT_MAX;
use super::group::RADIX_MAX;
use gingham_model::{
    ClassId, Crossbar, Endpoints, PipelinePlan, Plan, Scheduler, SteppedBy, Stepping, WhenFull,
};
use gingham_topology::{Fabric, NodeId};
use std::collections::VecDeque;

/// Why a run is not stepped by columns, if it is not.
pub(crate) fn refusal(
    plan: &Plan,
    lanes: &PipelinePlan,
    endpoints: &Endpoints,
) -> Option<&'static str> {
    let round_robin = Scheduler::default();
    let count = usize::from(plan.lanes.count);
    let depths = lanes.depths_flits[..count].iter().chain(&lanes.output_depths_flits[..count]);
    let radix = |node| plan.fabric.channels_from(node).count();
    let refusals = [
        (lanes.crossbar == Crossbar::Full, "the crossbar is a full one"),
        (lanes.crossbar_output.is_some(), "crossbar outputs have arbiters of lanes"),
        (
            lanes.crossbar_input != round_robin || plan.lanes.link_output != round_robin,
            "switches have arbiters of lanes other than round robin by the flit",
        ),
        (!lanes.cut_through.is_empty(), "lanes have virtual cut-through"),
        (plan.in_transit.when_full == WhenFull::Stop, "hosts may stop their senders"),
        (
            plan.channels.iter().any(|channel| channel.flit != lanes.cycle),
            "channels differ in their rates",
        ),
        (depths.copied().max().is_some_and(|depth| depth > COUNT_MAX), "lanes are deep"),
        (plan.fabric.switches().any(|node| radix(node) > RADIX_MAX), "switches have many ports"),
        (endpoints.wanted().read, "heads are looked at in switches"),
        (!plan.gathered_channels().is_empty(), "full buffers are counted"),
    ];
    refusals.into_iter().find_map(|(is_so, why)| is_so.then_some(why))
}

/// How a run is stepped: by columns, if they take it and the flits that are expected to move in a
/// tick are worth what columns cost whatever moves.
pub(crate) fn choose(plan: &Plan, lanes: &PipelinePlan, endpoints: &Endpoints) -> Stepping {
    if let Some(because) = refusal(plan, lanes, endpoints) {
        return Stepping { by: SteppedBy::Ports, because };
    }
    let saved = flits_entering(plan) * switches_passed(plan) * SAVED_BY_COLUMNS;
    if saved < cost_of_columns(plan) {
        return Stepping { by: SteppedBy::Ports, because: "few flits move in a tick" };
    }
    Stepping { by: SteppedBy::Columns, because: "every flit goes in turn, and many move in a tick" }
}

/// Instructions that a flit costs less at a switch by columns than by ports. Counted on the rows
/// `lanes-mesh-8x8` and `lanes-mesh-16x16` of `benches/bench.py`.
const SAVED_BY_COLUMNS: f64 = 290.0;

/// Instructions of a tick that columns cost whatever moves: counted on the same rows at loads near
/// zero, for a port, for a lane of it, and for a pair of ports and a lane of it.
const COST_OF_PORT: f64 = 120.0;
const COST_OF_LANE: f64 = 60.0;
const COST_OF_PAIR: f64 = 8.0;
const COST_OF_PAIR_AND_LANE: f64 = 4.0;

/// What columns cost in a tick whatever moves, in instructions.
#[expect(clippy::cast_precision_loss, reason = "they are far fewer than 2^52")]
fn cost_of_columns(plan: &Plan) -> f64 {
    let mut radixes: Vec<usize> =
        plan.fabric.switches().map(|node| plan.fabric.channels_from(node).count()).collect();
    radixes.sort_unstable();
    let lanes = f64::from(plan.lanes.count.next_power_of_two());
    let of_group = |switches: &[usize]| {
        let radix = switches.last().copied().unwrap_or(0) as f64;
        radix * (COST_OF_PORT + COST_OF_LANE * lanes)
            + radix * radix * (COST_OF_PAIR + COST_OF_PAIR_AND_LANE * lanes)
    };
    radixes.chunks(64).map(of_group).sum()
}

/// Flits that hosts are expected to send in a tick. What is not known, as of a class that sends as
/// much as it can, is taken for the full rate.
#[expect(clippy::cast_precision_loss, reason = "hosts are far fewer than 2^52")]
fn flits_entering(plan: &Plan) -> f64 {
    let of_class = |class: ClassId| {
        let senders = plan.classes[class.index()].senders().count() as f64;
        senders * plan.offered_load(class).unwrap_or(1.0)
    };
    ClassId::first(plan.classes.len()).map(of_class).sum()
}

/// How many switches a packet passes, if it takes a shortest path: the mean over all hosts as
/// destinations, and some as sources.
#[expect(clippy::cast_precision_loss, reason = "hosts are far fewer than 2^52")]
fn switches_passed(plan: &Plan) -> f64 {
    let fabric = &plan.fabric;
    let hosts: Vec<_> = fabric
        .endpoint_ids()
        .map(|id| fabric.target(fabric.endpoint_channel(id)).node)
        .filter(|node| fabric.node(*node).is_switch())
        .collect();
    let (mut passed, mut pairs) = (0, 0);
    for source in hosts.iter().step_by(hosts.len().div_ceil(SOURCES).max(1)) {
        let distances = switches_to(fabric, *source);
        let reached = hosts.iter().filter_map(|node| distances[node.index()]);
        for switches in reached {
            passed += switches;
            pairs += 1;
        }
    }
    passed as f64 / f64::from(pairs.max(1))
}

/// Hosts from which paths are looked at.
const SOURCES: usize = 8;

/// By node: the switches on a shortest path from a switch, both ends included, where there is one.
fn switches_to(fabric: &Fabric, source: NodeId) -> Vec<Option<u64>> {
    let mut switches = vec![None; fabric.nodes().len()];
    switches[source.index()] = Some(1);
    let mut queue = VecDeque::from([source]);
    while let Some(node) = queue.pop_front() {
        let next = switches[node.index()].map(|switches| switches + 1);
        for channel in fabric.channels_from(node) {
            let target = fabric.target(channel).node;
            if fabric.node(target).is_switch() && switches[target.index()].is_none() {
                switches[target.index()] = next;
                queue.push_back(target);
            }
        }
    }
    switches
}
