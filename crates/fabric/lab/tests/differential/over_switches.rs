//! Paths of two legs over random intermediate switches.
//!
//! Scenarios cannot request these paths, so that plans are modified.

use crate::agreement::difference;
use crate::case::{Case, pick};
use crate::{closed, ends, number, packets, throttled};
use gingham_kernel::{Purpose, Stream};
use gingham_lab::compile;
use gingham_net::{
    ClassPlan, ContentionPlan, Decision, KeptMessages, MeasurePlan, PathId, Plan, RoutingScheme,
    SegmentationPlan, Status, Switching,
};
use gingham_topology::EndpointId;
use gingham_topology::routing::{Ejection, Routes, prove_between_hosts};
use std::collections::BTreeMap;
use std::sync::Arc;

const VIAS_MAX: u64 = 4;

/// Returns the plan with random alternative paths, if an endpoint at a switch is joined with all
/// others.
fn with_intermediate_switches(plan: &Plan, seed: u64) -> Option<Plan> {
    let mut draw = Stream::new(seed, "over switches", Purpose::Shuffle);
    let mut plan = plan.clone();
    let mut candidates: Vec<EndpointId> =
        plan.fabric.endpoint_ids().filter(|via| is_joined(&plan, *via)).collect();
    if candidates.is_empty() {
        return None;
    }
    let count = (1 + draw.below(VIAS_MAX)).min(candidates.len() as u64);
    let mut drawn = || {
        let place = usize::try_from(draw.below(candidates.len() as u64)).unwrap();
        candidates.swap_remove(place)
    };
    let vias = (0..count).map(|_| drawn()).collect();
    // Whole packets do not measure contention.
    let kinds = if matches!(plan.switching, Switching::Packets(_)) { 4 } else { 5 };
    let has_loads = !matches!(plan.switching, Switching::Wormhole(_));
    let decision = match draw.below(kinds) {
        1 | 2 if has_loads => {
            Decision::ByLoad { threshold_bytes: pick(&mut draw, &[0, 1, 64, 200, 1_000]) }
        }
        0 => Decision::ByLength { below_bytes: pick(&mut draw, &[1, 20, 64, 200]) },
        4 => Decision::ByContention(ContentionPlan {
            alpha: pick(&mut draw, &[0.0, 0.3, 0.7]),
            beta: pick(&mut draw, &[0.0, 0.5, 0.95]),
            above: pick(&mut draw, &[1.1, 1.3, 1.5]),
            below: 1.05,
            start: pick(&mut draw, &[1.0, 2.0]),
        }),
        _ => Decision::AtRandom { alternative: pick(&mut draw, &[0.1, 0.5, 0.9, 1.0]) },
    };
    let routes = plan.routing.paths.remove(0);
    plan.routing = RoutingScheme::over_switches(routes, vias, decision);
    let is_by_leg = draw.below(4) > 0;
    if is_by_leg {
        plan.lanes.allowed = plan.lanes.allowed.with_legs(plan.routing.legs_over_switches());
    }
    let needed_flits = longest_flits_over_switches(&plan);
    if let Switching::VirtualLanes(pipeline) = &mut plan.switching {
        // The scenario was checked for direct paths and the lanes of the first leg only; any lane
        // that holds whole packets has to hold the longest.
        let pipeline = Arc::make_mut(pipeline);
        for depths in [&mut pipeline.depths_flits, &mut pipeline.output_depths_flits] {
            let deepest = *depths.iter().max().unwrap();
            for depth in depths.iter_mut().filter(|_| is_by_leg) {
                *depth = deepest;
            }
        }
        for depth in &mut pipeline.depths_flits {
            *depth = needed_flits.map_or(*depth, |needed| needed.max(*depth));
        }
    }
    Some(plan)
}

/// Flits of the longest packet, if packets are longer on longer paths.
fn longest_flits_over_switches(plan: &Plan) -> Option<u32> {
    let Switching::VirtualLanes(pipeline) = &plan.switching else { return None };
    let grows = |class: &&ClassPlan| {
        !matches!(class.segmentation, SegmentationPlan::None | SegmentationPlan::Fixed(_))
    };
    let ends = || plan.fabric.endpoint_ids();
    let pairs = ends().flat_map(|source| ends().map(move |to| (source, to)));
    let switches_max = pairs.map(|(source, to)| plan.switches(source, to)).max().unwrap();
    let longest = plan.classes.iter().filter(grows).flat_map(|class| {
        let messages = class.sources.iter().map(|source| *source.payload_bytes().end());
        let message_bytes = messages.max().unwrap_or(1);
        let bytes = move |switches| message_bytes.min(class.longest_packet_bytes(|| switches));
        (1..=switches_max).map(bytes)
    });
    longest.max().map(|bytes| u32::try_from(pipeline.packet_flits(bytes)).unwrap())
}

fn is_joined(plan: &Plan, via: EndpointId) -> bool {
    let fabric = &plan.fabric;
    let leads = |from, to| plan.path(PathId::PRIMARY, from, to).is_some();
    plan.is_switch(fabric.target(fabric.endpoint_channel(via)).node)
        && fabric.endpoint_ids().all(|end| leads(end, via) && leads(via, end))
}

fn compiled(case: &Case, seed: u64) -> Plan {
    let plan = compile(&case.source(), true).unwrap().plan;
    if seed.is_multiple_of(3) { closed::with_closed_loops(&plan, seed) } else { (*plan).clone() }
}

fn worms(seed: u64) -> Option<Plan> {
    with_intermediate_switches(&compiled(&Case::random(seed), seed), seed)
}

fn over_lanes(seed: u64) -> Option<Plan> {
    let plan = with_intermediate_switches(&compiled(&Case::lanes(seed), seed), seed)?;
    Some(if seed.is_multiple_of(4) { throttled::with_throttle(&plan, seed) } else { plan })
}

fn whole_packets(seed: u64) -> Option<Plan> {
    let plan = packets::with_whole_packets(&compiled(&Case::lanes(seed), seed), seed);
    with_intermediate_switches(&plan, seed)
}

fn diverted(seed: u64) -> Option<Plan> {
    let plan = match seed % 3 {
        0 => whole_packets(seed),
        1 => worms(seed),
        _ => over_lanes(seed),
    };
    Some(ends::with_ends_of_switches(&plan?, seed))
}

#[test]
fn engine_and_oracle_agree_on_worms_over_switches() {
    agree_on(worms);
}

#[test]
fn engine_and_oracle_agree_on_virtual_lanes_over_switches() {
    agree_on(over_lanes);
}

#[test]
fn engine_and_oracle_agree_on_whole_packets_over_switches() {
    agree_on(whole_packets);
}

#[test]
fn engine_and_oracle_agree_on_diverted_packets_over_switches() {
    agree_on(diverted);
}

/// Asserts agreement, and no deadlock if the proof excludes it.
fn agree_on(draw: fn(u64) -> Option<Plan>) {
    let (cases, first) = (number("CASES", 60), number("FIRST", 0));
    let mut reached: BTreeMap<&str, u64> = BTreeMap::new();
    for seed in first..first + cases {
        let Some(plan) = draw(seed) else { continue };
        let found = std::panic::catch_unwind(|| difference(&plan));
        let found = found.unwrap_or_else(|_| Some("panic".into()));
        assert_eq!(found, None, "seed {seed}: {:?}", plan.routing.decision);
        for (what, holds) in reaches(plan, seed) {
            *reached.entry(what).or_default() += u64::from(holds);
        }
    }
    let needed = cases / 30;
    assert!(reached.values().all(|cases| *cases >= needed), "{needed}: {reached:?}");
}

fn reaches(plan: Plan, seed: u64) -> [(&'static str, bool); 5] {
    let lanes = plan.switching.has_lanes().then_some(&plan.lanes.allowed);
    let is_free =
        prove_between_hosts(&plan.fabric, plan.routing.route_set(lanes, Ejection::Always))
            .is_free();
    let is_by_table = matches!(plan.routing.paths[0], Routes::Table(_));
    let measure = MeasurePlan { messages: KeptMessages::All, ..plan.measure };
    let plan = Arc::new(Plan { measure, ..plan });
    let mut simulation = gingham_engine::start(Arc::clone(&plan));
    let status = simulation.advance(u64::MAX).clone();
    // A lost update of credits stops a channel for ever.
    let is_lossless =
        !matches!(&plan.switching, Switching::Packets(of) if of.credit_loss.is_some());
    if is_free && is_lossless {
        assert!(!matches!(status, Status::Deadlocked(_)), "seed {seed}: {status:?}");
    }
    let found = simulation.take_messages();
    let direct = |source, destination| {
        let first = plan.fabric.target(plan.fabric.endpoint_channel(source)).node;
        plan.length_from(PathId::PRIMARY, first, destination).switches
    };
    let by_detour = found
        .iter()
        .filter(|of| usize::from(of.hops) > direct(of.message.source, of.message.destination));
    let detours = by_detour.count();
    [
        ("a detour", detours > 0),
        ("many detours", detours > 10),
        ("a detour by tables", detours > 0 && is_by_table),
        ("a detour by source routes", detours > 0 && !is_by_table),
        ("free of deadlock", is_free),
    ]
}
