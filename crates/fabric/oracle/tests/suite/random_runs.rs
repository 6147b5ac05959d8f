//! Random fabrics and traffic: conservation after every event, and identical bits for any order of
//! scheduling and any size of calls.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::common::{SLACK, in_transit, quiet_plan, spilling, stop_at, story, wormhole};
use gingham_kernel::{Purpose, Span, Stream, Time};
use gingham_net::traffic::{ArrivalPlan, DestinationPlan, LengthPlan, OtherHosts, SourcePlan};
use gingham_net::{Arbitration, ClassPlan, Plan, Priority, SegmentationPlan, Status, WhenFull};
use gingham_oracle::{Simulation, start};
use gingham_topology::EndpointId;
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{Algorithm, Form, InTransit, route};
use std::sync::Arc;

/// An irregular fabric with cables of several speeds and a mix of short and long messages; with odd
/// seeds the short ones go first, also at switches, and the long ones in segments.
fn random_plan(seed: u64) -> Plan {
    random_plan_of(seed, 3)
}

/// `switches` switches, and up to three more.
fn random_plan_of(seed: u64, switches: u32) -> Plan {
    let mut draw = Stream::new(seed, "random plan", Purpose::Topology);
    let switches = switches + u32::try_from(draw.below(4)).unwrap();
    let irregular =
        Irregular { switches, ports: 6, hosts_per_switch: 2, cables_per_pair_max: 1, rails: 1 };
    let mut plan = quiet_plan(Generator::Irregular(irregular).generate(seed).unwrap());
    for cable in plan.channels.chunks_mut(2) {
        let flit = Span::from_ps([5, 10, 10, 20][usize::try_from(draw.below(4)).unwrap()]);
        let delay = Span::from_ps(draw.below(60));
        for channel in cable {
            channel.flit = flit;
            channel.delay = delay;
            channel.slack = channel.slack.map(|slack| slack.scaled(flit, delay, Span::ZERO));
        }
    }
    let among: Arc<[EndpointId]> = plan.fabric.endpoint_ids().collect();
    for (name, load, lengths) in
        [("short", 0.2, LengthPlan::Fixed(12)), ("long", 0.5, LengthPlan::Exponential(90.0))]
    {
        let source = |endpoint: &EndpointId| {
            let own = endpoint.index()..endpoint.index() + 1;
            let others = OtherHosts { among: Arc::clone(&among), own };
            let destinations = DestinationPlan::Uniform(others);
            let arrivals = ArrivalPlan::Poisson { load };
            SourcePlan::drawn(*endpoint, arrivals, lengths.clone(), destinations)
        };
        let sources = among.iter().map(source).collect();
        let active = Time::ZERO..Time::MAX;
        plan.classes.push(ClassPlan {
            name: name.to_owned(),
            active,
            priority: Priority::default(),
            vc_class: None,
            segmentation: SegmentationPlan::None,
            policing: None,
            window: None,
            rate_limit: None,
            post: gingham_net::PostPlan::default(),
            sources,
        });
    }
    if seed % 2 == 1 {
        wormhole(&mut plan, |wormhole| wormhole.arbitration = Arbitration::StrictPriority);
        plan.classes[0].priority = Priority::new(1).unwrap();
        plan.classes[1].segmentation = SegmentationPlan::PerSwitch(12);
    }
    plan.seed = seed;
    plan.stop = stop_at(60_000);
    plan
}

/// In-transit hosts with small pools: three of four spill, the others stop their senders.
fn random_transit_plan(seed: u64) -> Plan {
    let mut plan = random_plan_of(seed, 10);
    let minimal = Algorithm::InTransit(InTransit::default());
    plan.routing.paths = vec![route(&plan.fabric, &minimal, Form::Source).unwrap()];
    let mut draw = Stream::new(seed, "random in-transit hosts", Purpose::Topology);
    let pool_bytes = [0, 40, 200, 5_000][usize::try_from(seed % 4).unwrap()];
    in_transit(&mut plan, [draw.below(80), draw.below(80), pool_bytes]);
    spilling(&mut plan, [draw.below(300), draw.below(4)]);
    let mark_bytes = u32::try_from(draw.below(4)).unwrap();
    wormhole(&mut plan, |wormhole| {
        wormhole.route_bytes = !seed.is_multiple_of(3);
        wormhole.mark_bytes = mark_bytes;
    });
    if seed % 4 == 3 {
        plan.in_transit.when_full = WhenFull::Stop;
        for channel in &mut plan.channels {
            channel.slack.get_or_insert(SLACK.scaled(channel.flit, channel.delay, Span::ZERO));
        }
    }
    plan
}

fn outcome(simulation: &mut dyn Simulation, call: u64) -> Vec<(usize, u64, u64, u64)> {
    while *simulation.advance(call) == Status::Running {}
    assert_eq!(*simulation.status(), Status::Ended);
    let mut records = simulation.take_messages();
    records.sort_by_key(|delivery| delivery.message.id());
    assert!(records.len() > 100, "{} messages", records.len());
    records.iter().map(story).collect()
}

#[test]
fn flits_are_conserved_after_every_event() {
    for seed in 0..6 {
        let mut simulation = start(Arc::new(random_plan(seed)));
        while *simulation.advance(1) == Status::Running {
            simulation.assert_invariants();
        }
        let stops: u64 = simulation.channel_counts().iter().map(|count| count.stops).sum();
        assert!(stops > 0, "seed {seed} never filled a buffer");
    }
}

#[test]
fn scheduling_order_does_not_change_results() {
    for seed in 0..12 {
        let plan = Arc::new(random_plan(seed));
        let straight = outcome(&mut *start(Arc::clone(&plan)), u64::MAX);
        let mut shuffled = start(plan);
        shuffled.shuffle_scheduling(seed);
        assert_eq!(straight, outcome(&mut *shuffled, u64::MAX));
    }
}

#[test]
fn in_transit_flits_are_conserved_without_pool_overflow() {
    let (mut reinjected, mut spilled) = (0, 0);
    for seed in 0..8 {
        let mut simulation = start(Arc::new(random_transit_plan(seed)));
        while *simulation.advance(1) == Status::Running {
            simulation.assert_invariants();
        }
        for host in simulation.plan().fabric.endpoint_ids() {
            let measured = simulation.collector().report().transit(host);
            reinjected += measured.reinjected_packets;
            spilled += measured.spilled_packets;
        }
    }
    assert!(reinjected > 200 && spilled > 50, "{reinjected} sent on, {spilled} spilled");
}

#[test]
fn scheduling_order_does_not_change_in_transit_results() {
    for seed in 0..16 {
        let plan = Arc::new(random_transit_plan(seed));
        let straight = outcome(&mut *start(Arc::clone(&plan)), u64::MAX);
        let mut shuffled = start(plan);
        shuffled.shuffle_scheduling(seed);
        assert_eq!(straight, outcome(&mut *shuffled, 23));
    }
}

#[test]
fn call_size_does_not_change_results() {
    let plan = Arc::new(random_plan(99));
    let whole = outcome(&mut *start(Arc::clone(&plan)), u64::MAX);
    assert_eq!(whole, outcome(&mut *start(plan), 17));
}
