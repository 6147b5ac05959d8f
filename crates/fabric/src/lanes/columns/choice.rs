//! Which runs are stepped by columns.

use super::count::COUNT_MAX;
use super::group::RADIX_MAX;
use gingham_model::{
    Crossbar, Endpoints, PipelinePlan, Plan, Scheduler, SteppedBy, Stepping, WhenFull,
};

/// How a run is stepped.
pub(crate) fn choose(plan: &Plan, lanes: &PipelinePlan, endpoints: &Endpoints) -> Stepping {
    match refusal(plan, lanes, endpoints) {
        Some(because) => Stepping { by: SteppedBy::Ports, because },
        None => Stepping { by: SteppedBy::Columns, because: "every flit goes in turn" },
    }
}

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
