//! Random fabrics, switches and traffic: conservation after every event, no deadlock with
//! deadlock-free routes, and identical bits for any order of scheduling and any size of calls.

use crate::common::{in_transit, spilling, stop_at, story};
use crate::{lane_plan, lanes};
use gingham_kernel::{Bytes, Purpose, Rate, Span, Stream, Time};
use gingham_net::scheduler::{
    DeficitRoundRobin, FirstComeFirstServed, LaneRate, RoundRobin, SurplusRoundRobin, VirtualClock,
    WeightedRoundRobin,
};
use gingham_net::traffic::{ArrivalPlan, DestinationPlan, LengthPlan, OtherHosts, SourcePlan};
use gingham_net::{
    Allocator, Arbitration, ClassPlan, Crossbar, Excess, Granularity, Injection, Islip, Plan,
    PolicingPlan, Priority, REFILL_BYTES, Reallocation, Scheduler, SegmentationPlan, Status,
    Switching, WhenFull,
};
use gingham_oracle::{Simulation, start};
use gingham_topology::EndpointId;
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{Algorithm, Form, InTransit, LaneSet, Lanes, VcClass, route};
use std::sync::Arc;

const LANES: u8 = 4;
const LONGEST_FLITS: u32 = 7;

fn one_of<T: Clone>(draw: &mut Stream, among: &[T]) -> T {
    among[usize::try_from(draw.below(among.len() as u64)).unwrap()].clone()
}

fn arbiter(draw: &mut Stream, by: Granularity) -> Scheduler {
    let reserved = LaneRate::Reserved(Rate::from_bytes_per_second(1_000_000_000));
    let rates = vec![reserved, LaneRate::BestEffort, reserved, reserved];
    let bytes = |quanta: [u64; 4]| quanta.map(Bytes).to_vec();
    let schedulers = [
        Scheduler::RoundRobin(RoundRobin { by }),
        Scheduler::WeightedRoundRobin(WeightedRoundRobin { weights: vec![1, 2, 3, 4], by }),
        Scheduler::SurplusRoundRobin(SurplusRoundRobin { quanta: bytes([16, 160, 32, 48]), by }),
        Scheduler::DeficitRoundRobin(DeficitRoundRobin { quanta: bytes([112, 16, 32, 64]), by }),
        Scheduler::VirtualClock(VirtualClock { rates, by }),
        Scheduler::FirstComeFirstServed(FirstComeFirstServed { by }),
    ];
    one_of(draw, &schedulers)
}

fn draw_switches(draw: &mut Stream, plan: &mut Plan) {
    let Switching::VirtualLanes(pipeline) = &mut plan.switching else { panic!("virtual lanes") };
    let pipeline = Arc::make_mut(pipeline);
    pipeline.cycle = Span::from_ps(10);
    let by_packet = draw.below(3) == 0;
    pipeline.cut_through = if by_packet {
        LaneSet::first_n(LANES)
    } else {
        LaneSet::from_bits(one_of(draw, &[0, 0, 0b0101, 0b1111]))
    };
    for lane in 0..LANES {
        let place = usize::from(lane);
        let least = if pipeline.cut_through.contains(lane) { LONGEST_FLITS } else { 1 };
        pipeline.depths_flits[place] = least + u32::try_from(draw.below(9)).unwrap();
        pipeline.output_depths_flits[place] = 1 + u32::try_from(draw.below(4)).unwrap();
    }
    pipeline.pipeline_cycles = u32::try_from(draw.below(3)).unwrap();
    pipeline.routing_cycles = u32::try_from(draw.below(3)).unwrap();
    // A copy of the draws leaves the others unchanged.
    let mut own = draw.clone();
    pipeline.credit_delay_cycles = one_of(&mut own, &[None, None, Some(0), Some(11)]);
    pipeline.reallocation =
        one_of(&mut own, &[Reallocation::Tail, Reallocation::AfterTail, Reallocation::TailCredit]);
    pipeline.overhead_bytes = u32::try_from(draw.below(20)).unwrap();
    pipeline.injection = one_of(&mut draw.clone(), &[Injection::OneALane, Injection::OneAtATime]);
    pipeline.crossbar = one_of(draw, &[Crossbar::Full, Crossbar::Multiplexed]);
    pipeline.arbitration = one_of(draw, &[Arbitration::RoundRobin, Arbitration::StrictPriority]);
    let by_lane = draw.below(2) == 0;
    let mut place = || {
        let kinds = [Granularity::Flit, Granularity::Packet];
        let granularity = if by_packet { one_of(draw, &kinds) } else { Granularity::Flit };
        arbiter(draw, granularity)
    };
    // Arbiters other than turns go with the plain crossbar alone.
    let has_turns = pipeline.crossbar == Crossbar::Multiplexed && own.below(2) == 0;
    if has_turns {
        pipeline.allocator = one_of(
            &mut own,
            &[
                Allocator::Maximal,
                Allocator::Islip(Islip { iterations: 2 }),
                Allocator::SeparableInputFirst,
                Allocator::SeparableOutputFirst,
            ],
        );
        [pipeline.input_speedup, pipeline.output_speedup] =
            [0; 2].map(|_| one_of(&mut own, &[1, 1, 2, 3, LANES]));
    }
    pipeline.crossbar_input = place();
    pipeline.crossbar_output =
        (pipeline.crossbar == Crossbar::Multiplexed).then(&mut place).filter(|_| by_lane);
    if has_turns {
        (pipeline.crossbar_input, pipeline.crossbar_output) = (Scheduler::default(), None);
    }
    plan.lanes.link_output = place();
    plan.lanes.adapter_port = place();
    plan.lanes.allowed = Lanes::free(&[LaneSet::first_n(2), LaneSet::from_bits(0b1110)]);
}

/// An irregular fabric with cables of several speeds; short messages, policed, and long ones in
/// segments.
fn random_plan(seed: u64, switches: u32) -> Plan {
    let mut draw = Stream::new(seed, "random lanes", Purpose::Topology);
    let switches = switches + u32::try_from(draw.below(4)).unwrap();
    let irregular =
        Irregular { switches, ports: 6, hosts_per_switch: 2, cables_per_pair_max: 1, rails: 1 };
    let mut plan = lane_plan(Generator::Irregular(irregular).generate(seed).unwrap(), LANES);
    for cable in plan.channels.chunks_mut(2) {
        let flit = Span::from_ps(one_of(&mut draw, &[10, 10, 10, 13, 20, 27]));
        let delay = Span::from_ps(draw.below(60));
        for channel in cable {
            channel.flit = flit;
            channel.delay = delay;
        }
    }
    draw_switches(&mut draw, &mut plan);
    let among: Arc<[EndpointId]> = plan.fabric.endpoint_ids().collect();
    let long = LengthPlan::Exponential(150.0);
    for (name, load, lengths) in [("short", 0.1, LengthPlan::Fixed(30)), ("long", 0.3, long)] {
        let source = |endpoint: &EndpointId| {
            let own = endpoint.index()..endpoint.index() + 1;
            let others = OtherHosts { among: Arc::clone(&among), own };
            let destinations = DestinationPlan::Uniform(others);
            // Loads are of bytes a flit time.
            let arrivals = ArrivalPlan::Poisson { load };
            SourcePlan::drawn(*endpoint, arrivals, lengths.clone(), destinations)
        };
        let sources: Vec<_> = among.iter().map(source).collect();
        plan.classes.push(ClassPlan {
            name: name.to_owned(),
            active: Time::ZERO..Time::MAX,
            priority: Priority::default(),
            vc_class: None,
            segmentation: SegmentationPlan::Fixed(80),
            policing: None,
            window: None,
            rate_limit: None,
            post: gingham_net::PostPlan::default(),
            sources,
        });
    }
    for (class, vc_class) in plan.classes.iter_mut().zip([VcClass(0), VcClass(1)]) {
        class.vc_class = Some(vc_class);
    }
    if seed.is_multiple_of(2) {
        plan.classes[0].priority = Priority::new(1).unwrap();
        plan.classes[0].policing = Some(PolicingPlan {
            refill: vec![Span::from_ps(REFILL_BYTES * 5); among.len()].into(),
            burst_bytes: 64,
            longest_bytes: 64,
            excess: one_of(&mut draw, &[Excess::Delay, Excess::Drop]),
        });
    }
    plan.seed = seed;
    plan.stop = stop_at(12_000);
    plan
}

/// In-transit hosts with small pools: three of four spill, the others stop their senders.
fn random_transit_plan(seed: u64) -> Plan {
    let mut plan = random_plan(seed, 10);
    let minimal = Algorithm::InTransit(InTransit::default());
    plan.routing.paths = vec![route(&plan.fabric, &minimal, Form::Source).unwrap()];
    let mut draw = Stream::new(seed, "random in-transit hosts", Purpose::Topology);
    let pool_bytes = [0, 120, 400, 200][usize::try_from(seed % 4).unwrap()];
    in_transit(&mut plan, [draw.below(80), draw.below(80), pool_bytes]);
    spilling(&mut plan, [draw.below(300), draw.below(4)]);
    if seed % 4 == 3 {
        plan.in_transit.when_full = WhenFull::Stop;
    }
    plan
}

fn outcome(simulation: &mut dyn Simulation, call: u64) -> Vec<(usize, u64, u64, u64)> {
    while *simulation.advance(call) == Status::Running {}
    assert_eq!(*simulation.status(), Status::Ended);
    let mut records = simulation.take_messages();
    records.sort_by_key(|delivery| delivery.message.id());
    assert!(records.len() > 50, "{} messages", records.len());
    records.iter().map(story).collect()
}

#[test]
fn flits_and_credits_are_conserved_after_every_event() {
    for seed in 0..8 {
        let mut plan = if seed < 4 { random_plan(seed, 3) } else { random_transit_plan(seed) };
        plan.stop = stop_at(3_000);
        let mut simulation = start(Arc::new(plan));
        while *simulation.advance(1) == Status::Running {
            simulation.assert_invariants();
        }
        let occupancy: u128 =
            simulation.channel_counts().iter().map(|count| count.occupancy_flit_ps).sum();
        assert!(occupancy > 0, "seed {seed} never filled a buffer");
    }
}

#[test]
fn scheduling_order_does_not_change_results() {
    for seed in 0..16 {
        let plan = Arc::new(random_plan(seed, 3));
        let straight = outcome(&mut *start(Arc::clone(&plan)), u64::MAX);
        let mut shuffled = start(plan);
        shuffled.shuffle_scheduling(seed);
        assert_eq!(straight, outcome(&mut *shuffled, 17), "seed {seed}");
    }
}

#[test]
fn scheduling_order_does_not_change_in_transit_results() {
    let (mut reinjected, mut spilled) = (0, 0);
    for seed in 0..12 {
        let plan = Arc::new(random_transit_plan(seed));
        let straight = outcome(&mut *start(Arc::clone(&plan)), u64::MAX);
        let mut shuffled = start(plan);
        shuffled.shuffle_scheduling(seed);
        shuffled.advance(1);
        assert_eq!(straight, outcome(&mut *shuffled, 23), "seed {seed}");
        for host in shuffled.plan().fabric.endpoint_ids() {
            let measured = shuffled.collector().report().transit(host);
            reinjected += measured.reinjected_packets;
            spilled += measured.spilled_packets;
        }
    }
    assert!(reinjected > 100 && spilled > 50, "{reinjected} sent on, {spilled} spilled");
}

/// A crossbar with an input and an output for every lane is a full crossbar.
#[test]
fn speedup_of_one_port_per_lane_is_a_full_crossbar() {
    for seed in 0..8 {
        let mut full = random_plan(seed, 3);
        lanes(&mut full, |lanes| {
            (lanes.crossbar, lanes.allocator) = (Crossbar::Full, Allocator::Maximal);
            (lanes.crossbar_input, lanes.crossbar_output) = (Scheduler::default(), None);
            [lanes.input_speedup, lanes.output_speedup] = [1; 2];
        });
        let expected = outcome(&mut *start(Arc::new(full.clone())), u64::MAX);
        let allocators =
            [Allocator::Maximal, Allocator::SeparableOutputFirst, Allocator::SeparableInputFirst];
        for allocator in allocators {
            let mut plan = full.clone();
            lanes(&mut plan, |lanes| {
                (lanes.crossbar, lanes.allocator) = (Crossbar::Multiplexed, allocator);
                [lanes.input_speedup, lanes.output_speedup] = [LANES; 2];
            });
            let found = outcome(&mut *start(Arc::new(plan)), u64::MAX);
            assert_eq!(found, expected, "seed {seed}, {allocator:?}");
        }
    }
}
