//! Coverage of the random scenarios of virtual lanes.

use crate::case::Case;
use crate::ways;
use gingham_lab::compile;
use gingham_net::traffic::{ArrivalPlan, DestinationPlan, DrawnPlan, MessagePlan};
use gingham_net::{
    Allocator, Arbitration, Crossbar, Granularity, Injection, Islip, LanePlan, PipelinePlan, Plan,
    Reallocation, Reselect, Scheduler, Simulation, Status, SteppedBy, Switching, VcAllocator,
    WhenFull,
};
use gingham_topology::EndpointId;
use gingham_topology::routing::{DatelineRule, LaneRule, LaneSet, Lanes};
use std::collections::BTreeMap;
use std::sync::Arc;

#[test]
fn random_virtual_lanes_cover_every_parameter() {
    let mut reached: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..400 {
        let plan = compile(&Case::lanes(seed).source(), true).unwrap().plan;
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        let status = simulation.advance(u64::MAX).clone();
        let delivered = simulation.collector().delivered_messages();
        let lanes = &plan.lanes;
        let Switching::VirtualLanes(pipeline) = &plan.switching else { panic!("virtual lanes") };
        let all = LaneSet::first_n(lanes.count);
        let mut sets: Vec<_> = plan.classes.iter().map(|class| class.vc_class).collect();
        sets.sort();
        sets.dedup();
        let levels = plan.highest_priority().level() > 0;
        for (what, holds) in [
            ("a knot", matches!(status, Status::Deadlocked(_))),
            ("finished", status == Status::Finished),
            ("many messages", delivered > 50),
            ("one lane", lanes.count == 1),
            ("sixteen lanes", lanes.count == 16),
            ("lanes of several depths", has_several(&pipeline.depths_flits, lanes)),
            ("outputs of other depths", pipeline.output_depths_flits != pipeline.depths_flits),
            ("wormhole", pipeline.cut_through.is_empty()),
            ("virtual cut-through", pipeline.cut_through == all),
            ("both", !pipeline.cut_through.is_empty() && pipeline.cut_through != all),
            ("no cycle of routing", pipeline.routing_cycles == 0),
            ("a pipeline before the lanes", pipeline.pipeline_cycles > 0),
            ("a delay of credits", pipeline.credit_delay_cycles.is_some()),
            ("lanes given after the tail", pipeline.reallocation == Reallocation::AfterTail),
            ("lanes given by credits", pipeline.reallocation == Reallocation::TailCredit),
            ("iSLIP over lanes", matches!(pipeline.vc_allocator, VcAllocator::Islip(_))),
            ("iSLIP", matches!(pipeline.allocator, Allocator::Islip(_))),
            ("input first", pipeline.allocator == Allocator::SeparableInputFirst),
            ("several ways in", pipeline.input_speedup > 1),
            ("several ways out", pipeline.output_speedup > 1),
            ("credits paid to cross", pipeline.pays_at_crossing()),
            ("messages at cycles", drawn(&plan).any(is_at_cycles)),
            ("messages to oneself", drawn(&plan).any(is_to_itself)),
            ("one packet at a time", pipeline.injection == Injection::OneAtATime),
            ("a full crossbar", pipeline.crossbar == Crossbar::Full),
            ("a multiplexed crossbar", pipeline.crossbar == Crossbar::Multiplexed),
            ("datelines by hop", has_datelines(&lanes.allowed, DatelineRule::ByHop)),
            ("datelines by wrap", has_datelines(&lanes.allowed, DatelineRule::ByWrap)),
            ("levels at switches", levels && pipeline.arbitration == Arbitration::StrictPriority),
            ("classes on other lanes", sets.len() > 1),
            ("channels of several rates", plan.channels.iter().any(|of| of.flit > pipeline.cycle)),
        ] {
            *reached.entry(what.to_owned()).or_default() += u32::from(holds);
        }
        for (place, arbiter) in places(lanes, pipeline) {
            let by = if arbiter.facts().by == Granularity::Flit { "flit" } else { "packet" };
            *reached.entry(format!("{place} by the {by}")).or_default() += 1;
            *reached.entry(format!("{place}, {}", name(arbiter))).or_default() += 1;
        }
    }
    assert_eq!(reached.len(), 31 + 4 * (2 + 9), "{reached:#?}");
    assert!(reached.values().all(|cases| *cases >= 4), "{reached:#?}");
}

#[test]
fn column_stepping_covers_every_router_kind() {
    let mut reached: BTreeMap<&str, u32> = BTreeMap::new();
    for seed in 0..400 {
        let plan = ways::plain_case(seed).1;
        let by_columns = gingham_engine::start_by(Arc::clone(&plan), SteppedBy::Columns).is_ok();
        let Switching::VirtualLanes(pipeline) = &plan.switching else { panic!("virtual lanes") };
        let islip = match pipeline.allocator {
            Allocator::Islip(Islip { iterations }) => iterations,
            _ => 0,
        };
        let over_lanes = match pipeline.vc_allocator {
            VcAllocator::Islip(Islip { iterations }) if plan.lanes.count > 1 => iterations,
            _ => 0,
        };
        let is_cut = !pipeline.cut_through.is_empty();
        for (what, holds) in [
            ("a full crossbar", pipeline.crossbar == Crossbar::Full),
            ("virtual cut-through", is_cut && pipeline.crossbar == Crossbar::Multiplexed),
            ("virtual cut-through and full", is_cut && pipeline.crossbar == Crossbar::Full),
            ("lanes given after the tail", pipeline.reallocation == Reallocation::AfterTail),
            ("lanes given by credits", pipeline.reallocation == Reallocation::TailCredit),
            ("iSLIP", islip == 1),
            ("iSLIP in iterations", islip > 1),
            ("iSLIP over lanes", over_lanes == 1),
            ("iSLIP over lanes in iterations", over_lanes > 1),
            ("input first", pipeline.allocator == Allocator::SeparableInputFirst),
            ("output first", pipeline.allocator == Allocator::SeparableOutputFirst),
            ("credits paid to cross", pipeline.pays_at_crossing()),
            ("none of these", pipeline.gives_at_once() && !pipeline.takes_turns()),
        ] {
            *reached.entry(what).or_default() += u32::from(by_columns && holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 4), "{reached:#?}");
}

/// Number of cases in which lanes need more than 4, 5 or 6 counter planes.
#[test]
fn column_lanes_fill_beyond_the_low_counter_planes() {
    let mut reached = BTreeMap::new();
    for seed in 0..400 {
        let plan = ways::plain_case(seed).1;
        let by_columns = gingham_engine::start_by(Arc::clone(&plan), SteppedBy::Columns);
        let most = by_columns.map_or(0, |simulation| most_flits_of_a_lane(&plan, simulation));
        for flits in [15, 31, 63] {
            *reached.entry(flits).or_insert(0_u32) += u32::from(most > flits);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 4), "{reached:#?}");
}

/// Returns a lower bound: the flits of a port, averaged over all lanes.
fn most_flits_of_a_lane(plan: &Plan, mut simulation: Box<dyn Simulation>) -> u128 {
    let lanes = u128::from(plan.lanes.count);
    let (mut most, mut before) = (0, (simulation.now(), simulation.channel_counts()));
    while *simulation.advance(257) == Status::Running {
        let now = (simulation.now(), simulation.channel_counts());
        let passed_ps = u128::from(now.0.as_ps() - before.0.as_ps()) * lanes;
        for (now, before) in now.1.iter().zip(&before.1) {
            let held = now.occupancy_flit_ps - before.occupancy_flit_ps;
            most = most.max(held.checked_div(passed_ps).unwrap_or(0));
        }
        before = now;
    }
    most
}

fn drawn(plan: &Plan) -> impl Iterator<Item = &DrawnPlan> {
    let sources = plan.classes.iter().flat_map(|class| &class.sources);
    sources.filter_map(|source| match &source.messages {
        MessagePlan::Drawn(drawn) => Some(drawn),
        _ => None,
    })
}

fn is_at_cycles(drawn: &DrawnPlan) -> bool {
    matches!(drawn.arrivals, ArrivalPlan::Bernoulli { .. })
}

fn is_to_itself(drawn: &DrawnPlan) -> bool {
    matches!(&drawn.destinations, DestinationPlan::Uniform(others) if others.own.is_empty())
}

/// In 600 cases, because knots are rare.
#[test]
fn random_virtual_lanes_cover_in_transit_hosts() {
    let mut reached = BTreeMap::new();
    for seed in 0..600 {
        let plan = compile(&Case::lanes_in_transit(seed).source(), true).unwrap().plan;
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        let is_knot = matches!(simulation.advance(u64::MAX), Status::Deadlocked(_));
        let stops = plan.in_transit.when_full == WhenFull::Stop;
        let collector = simulation.collector().report();
        let hosts =
            || EndpointId::first(plan.fabric.endpoints().len()).map(|host| collector.transit(host));
        for (what, holds) in [
            ("sent on", hosts().any(|host| host.reinjected_packets > 0)),
            (
                "waited for a lane",
                hosts().any(|host| host.wait_mean_ps.is_some_and(|wait| wait > 0.0)),
            ),
            ("spilled", hosts().any(|host| host.spilled_packets > 0)),
            ("waited for room", stops && waited_for_room(&plan, &simulation.channel_counts())),
            ("a knot with hosts in it", stops && is_knot),
            ("two path sets", plan.routing.paths.len() == 2),
        ] {
            *reached.entry(what).or_insert(0_u32) += u32::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 10), "{reached:#?}");
}

/// The proof holds in each case, and enough cases show that its conditions are necessary.
#[test]
fn random_adaptive_cases_confirm_the_proof() {
    let mut reached = BTreeMap::new();
    for seed in 0..600 {
        let case = Case::adaptive(seed);
        let is_safe = compile(&case.source(), false).is_ok();
        let plan = compile(&case.source(), true).unwrap().plan;
        let mut simulation = gingham_engine::start(Arc::clone(&plan));
        let is_knot = matches!(simulation.advance(u64::MAX), Status::Deadlocked(_));
        assert!(!(is_safe && is_knot), "seed {seed}\n{}", case.to_toml());
        let Switching::VirtualLanes(pipeline) = &plan.switching else { panic!("virtual lanes") };
        let escape = match plan.lanes.allowed.rule() {
            LaneRule::Escape(escape) => escape.all_adaptive(),
            _ => LaneSet::EMPTY,
        };
        let comes_whole = escape.lanes().all(|lane| pipeline.cut_through.contains(lane));
        let at_switches = plan.routing.decision.at_switches();
        let is_for_good = at_switches.is_some_and(|of| of.reselect == Reselect::Never);
        let is_empty_first = pipeline.reallocation == Reallocation::TailCredit;
        for (what, holds) in [
            ("safe without escape lanes", is_safe && escape.is_empty()),
            ("safe by cut-through", is_safe && !escape.is_empty() && comes_whole),
            ("safe by empty buffers", is_safe && !escape.is_empty() && !comes_whole),
            ("refused for what stands behind another", {
                !is_safe && !escape.is_empty() && !comes_whole && !is_empty_first
            }),
            ("a knot", is_knot),
            ("a knot of choices for good", is_knot && is_for_good),
            ("safe with choices for good", is_safe && is_for_good && escape.is_empty()),
            (
                "safe with escape lanes beside choices for good",
                is_safe && is_for_good && !escape.is_empty(),
            ),
        ] {
            *reached.entry(what).or_insert(0_u32) += u32::from(holds);
        }
    }
    assert!(reached.values().all(|cases| *cases >= 10), "{reached:#?}");
}

fn waited_for_room(plan: &Plan, counts: &[gingham_net::measure::ChannelCount]) -> bool {
    let into_host = |index: &usize| {
        let channel = gingham_topology::ChannelId::new(*index);
        !plan.is_switch(plan.ends(channel).target.node)
    };
    (0..counts.len()).filter(into_host).any(|index| counts[index].occupancy_flit_ps > 0)
}

fn has_several(by_lane: &[u32], lanes: &LanePlan) -> bool {
    by_lane[..usize::from(lanes.count)].iter().any(|value| *value != by_lane[0])
}

fn has_datelines(lanes: &Lanes, rule: DatelineRule) -> bool {
    matches!(lanes.rule(), LaneRule::Datelines(datelines) if datelines.rule() == rule)
}

fn places<'a>(
    lanes: &'a LanePlan,
    pipeline: &'a PipelinePlan,
) -> impl Iterator<Item = (&'static str, &'a Scheduler)> {
    [
        ("crossbar input", Some(&pipeline.crossbar_input)),
        ("crossbar output", pipeline.crossbar_output.as_ref()),
        ("link output", Some(&lanes.link_output)),
        ("adapter port", Some(&lanes.adapter_port)),
    ]
    .into_iter()
    .filter_map(|(place, arbiter)| Some((place, arbiter?)))
}

fn name(arbiter: &Scheduler) -> &'static str {
    match arbiter {
        Scheduler::RoundRobin(_) => "round robin",
        Scheduler::WeightedRoundRobin(_) => "weighted round robin",
        Scheduler::SurplusRoundRobin(_) => "surplus round robin",
        Scheduler::DeficitRoundRobin(_) => "deficit round robin",
        Scheduler::VirtualClock(_) => "VirtualClock",
        Scheduler::FirstComeFirstServed(_) => "first come first served",
        Scheduler::StrictPriority(_) => "strict priority",
        Scheduler::PriorityWeightedRoundRobin(_) => "priority weighted round robin",
        Scheduler::InfiniBand(_) => "InfiniBand's tables",
    }
}
