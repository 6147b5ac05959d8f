//! Random fabrics, switches and traffic: conservation after every event, and identical bits for any
//! order of scheduling and any size of calls.

use crate::common::packets::{cable_many, packets, packets_plan, pausing, window};
use crate::common::{stop_at, story};
use gingham_kernel::{Bytes, Purpose, Rate, Span, Stream, Time};
use gingham_net::scheduler::{
    DeficitRoundRobin, FirstComeFirstServed, LaneRate, RoundRobin, VirtualClock,
};
use gingham_net::traffic::{ArrivalPlan, DestinationPlan, LengthPlan, OtherHosts, SourcePlan};
use gingham_net::{
    Among, Arbitration, ClassPlan, CreditLossPlan, Excess, Granularity, OvertakingPlan, Plan,
    PolicingPlan, Priority, ProbePlan, REFILL_BYTES, Read, Scheduler, SegmentationPlan, Status,
};
use gingham_oracle::{Simulation, start};
use gingham_topology::generate::{Generator, Irregular};
use gingham_topology::routing::{LaneSet, Lanes, VcClass};
use gingham_topology::{ChannelId, EndpointId};
use std::sync::Arc;

const LANES: u8 = 3;

fn one_of<T: Clone>(draw: &mut Stream, among: &[T]) -> T {
    among[usize::try_from(draw.below(among.len() as u64)).unwrap()].clone()
}

fn arbiter(draw: &mut Stream) -> Scheduler {
    let by = Granularity::Packet;
    let reserved = LaneRate::Reserved(Rate::from_bytes_per_second(1_000_000_000));
    let schedulers = [
        Scheduler::RoundRobin(RoundRobin { by }),
        Scheduler::DeficitRoundRobin(DeficitRoundRobin { quanta: vec![Bytes(70); 3], by }),
        Scheduler::VirtualClock(VirtualClock { rates: vec![reserved; 3], by }),
        Scheduler::FirstComeFirstServed(FirstComeFirstServed { by }),
    ];
    one_of(draw, &schedulers)
}

fn draw_switches(draw: &mut Stream, plan: &mut Plan) {
    plan.lanes.link_output = arbiter(draw);
    plan.lanes.adapter_port = arbiter(draw);
    plan.lanes.allowed = Lanes::free(&[LaneSet::first_n(2), LaneSet::from_bits(0b110)]);
    let held: Vec<u32> = (0..LANES).map(|_| 2 + u32::try_from(draw.below(5)).unwrap()).collect();
    packets(plan, |packets| {
        packets.overhead_bytes = u32::try_from(draw.below(20)).unwrap();
        packets.forwarding_delay = Span::from_ps(30 + draw.below(200));
        packets.head_interval = Span::from_ps(one_of(draw, &[0, 40, 300]));
        packets.credit_delay = Span::from_ps(one_of(draw, &[0, 70]));
        packets.buffer_blocks[..held.len()].copy_from_slice(&held);
        packets.read = one_of(draw, &[Read::Any, Read::One]);
        let among = one_of(draw, &[Among::SameOutput, Among::AnyOutput]);
        packets.overtaking = OvertakingPlan { at_most: one_of(draw, &[0, 1, 3, u32::MAX]), among };
        let orders =
            [Arbitration::OldestFirst, Arbitration::RoundRobin, Arbitration::StrictPriority];
        packets.arbitration = one_of(draw, &orders);
    });
    if draw.below(3) == 0 {
        let sent = Time::from_ps(5_000)..Time::from_ps(15_000 + draw.below(15_000));
        let period = Some(Span::from_ps(100 + draw.below(3_000)));
        let probability = one_of(draw, &[0.05, 0.5]);
        let loss = CreditLossPlan { probability, sent, period };
        packets(plan, |packets| packets.credit_loss = Some(loss));
    } else if draw.below(2) == 0 {
        // Headroom for packets of 120 bytes and a round trip of 400 ps at 1.5 ps a byte.
        pausing(plan, [100 + draw.below(500), draw.below(100)]);
        packets(plan, |packets| packets.buffer_blocks = [20; 16]);
    }
    if draw.below(3) == 0 {
        let held = 2 + u32::try_from(draw.below(9)).unwrap();
        packets(plan, |packets| {
            packets.read = Read::Any;
            packets.output_blocks = Some([held; 16]);
        });
    }
}

/// An irregular fabric with cables of several speeds; short messages, policed, and long ones in
/// segments, with a window.
fn random_plan(seed: u64) -> Plan {
    let mut draw = Stream::new(seed, "random packets", Purpose::Topology);
    let switches = 3 + u32::try_from(draw.below(4)).unwrap();
    let irregular =
        Irregular { switches, ports: 6, hosts_per_switch: 2, cables_per_pair_max: 1, rails: 1 };
    let mut plan = packets_plan(Generator::Irregular(irregular).generate(seed).unwrap(), LANES);
    for cable in ChannelId::first(plan.channels.len()).step_by(2) {
        let many_ps = one_of(&mut draw, &[655_360, 655_360, 900_001, 1_310_720, 98_304]);
        cable_many(&mut plan, cable, many_ps);
        let delay = Span::from_ps(draw.below(60));
        plan.channels[cable.index()].delay = delay;
        plan.channels[cable.index() + 1].delay = delay;
    }
    draw_switches(&mut draw, &mut plan);
    let among: Arc<[EndpointId]> = plan.fabric.endpoint_ids().collect();
    for (name, load, vc_class) in [("short", 0.1, VcClass(0)), ("long", 0.3, VcClass(1))] {
        let source = |endpoint: &EndpointId| {
            let own = endpoint.index()..endpoint.index() + 1;
            let others = OtherHosts { among: Arc::clone(&among), own };
            let lengths =
                if load < 0.2 { LengthPlan::Fixed(30) } else { LengthPlan::Exponential(150.0) };
            let destinations = DestinationPlan::Uniform(others);
            SourcePlan::drawn(*endpoint, ArrivalPlan::Poisson { load }, lengths, destinations)
        };
        plan.classes.push(ClassPlan {
            name: name.to_owned(),
            active: Time::ZERO..Time::MAX,
            priority: Priority::default(),
            vc_class: Some(vc_class),
            segmentation: SegmentationPlan::Fixed(100),
            policing: None,
            window: None,
            rate_limit: None,
            post: gingham_net::PostPlan::default(),
            sources: among.iter().map(source).collect(),
        });
    }
    plan.classes[0].priority = Priority::new(1).unwrap();
    plan.classes[0].policing = Some(PolicingPlan {
        refill: vec![Span::from_ps(REFILL_BYTES * 50); among.len()].into(),
        burst_bytes: 64,
        longest_bytes: 64,
        excess: one_of(&mut draw, &[Excess::Delay, Excess::Drop]),
    });
    plan.classes[1].window = (draw.below(2) == 0).then(|| window(2, 5));
    plan.probe =
        Some(ProbePlan { control_every: 7, control_bytes: 3, divert_every: 0, weigh_every: 2 });
    plan.seed = seed;
    plan.stop = stop_at(30_000);
    plan
}

type Outcome = (Status, Vec<(usize, u64, u64, u64)>, Vec<gingham_net::Noted>);

fn outcome(simulation: &mut dyn Simulation, call: u64) -> Outcome {
    while *simulation.advance(call) == Status::Running {}
    let mut records = simulation.take_messages();
    records.sort_by_key(|delivery| delivery.message.id());
    let stories: Vec<_> = records.iter().map(story).collect();
    (simulation.status().clone(), stories, simulation.endpoints().noted().to_vec())
}

#[test]
fn packets_and_space_are_conserved_after_every_event() {
    for seed in 0..24 {
        let mut simulation = start(Arc::new(random_plan(seed)));
        while *simulation.advance(1) == Status::Running {
            simulation.assert_invariants();
        }
        let counts = simulation.channel_counts();
        let occupancy: u128 = counts.iter().map(|count| count.occupancy_flit_ps).sum();
        assert!(occupancy > 0, "seed {seed} never filled a buffer");
    }
}

#[test]
fn scheduling_order_does_not_change_results() {
    for seed in 0..32 {
        let plan = Arc::new(random_plan(seed));
        let straight = outcome(&mut *start(Arc::clone(&plan)), u64::MAX);
        assert_eq!(straight.0, Status::Ended, "seed {seed}");
        assert!(straight.1.len() > 30, "seed {seed}: {} messages", straight.1.len());
        let mut shuffled = start(plan);
        shuffled.shuffle_scheduling(seed);
        shuffled.advance(1);
        assert_eq!(straight, outcome(&mut *shuffled, 17), "seed {seed}");
    }
}
