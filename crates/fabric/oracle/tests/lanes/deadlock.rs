//! Deadlock over lanes: knots if all possible lanes are in them, and none with datelines.

use crate::common::{along, backlogged, channel, in_transit, row, stop_at};
use crate::{lane_plan, lanes, on_lanes, packets, start};
use gingham_net::{Plan, Status, WhenFull};
use gingham_topology::generate::{Generator, Torus};
use gingham_topology::routing::{
    Algorithm, Buffer, DatelineRule, Datelines, DimensionOrder, Form, LaneSet, Lanes, route,
};
use std::sync::Arc;

/// Ring of five switches with a host each, without traffic: messages one or two switches onwards
/// turn one way.
pub(crate) fn quiet_circle(count: u8) -> Plan {
    let torus = Torus { dimensions: vec![5], hosts_per_switch: 1, rails: 1 };
    let mut plan = lane_plan(Generator::Torus(torus).generate(1).unwrap(), count);
    let algorithm = Algorithm::DimensionOrder(DimensionOrder::default());
    plan.routing.paths = vec![route(&plan.fabric, &algorithm, Form::Source).unwrap()];
    plan
}

/// Ring with packets of `flits` flits two switches onwards.
fn ring(count: u8, flits: u32) -> Plan {
    let mut plan = quiet_circle(count);
    for host in 0..5 {
        backlogged(&mut plan, host, (host + 2) % 5, 16 * flits);
    }
    plan.stop = stop_at(200_000);
    plan
}

fn ends_as(plan: &Plan) -> (Status, u64) {
    let mut simulation = start(Arc::new(plan.clone()));
    let status = simulation.advance(u64::MAX).clone();
    simulation.assert_invariants();
    (status, simulation.collector().delivered_messages())
}

/// Buffers of the deadlock that ends the run.
fn knot(plan: &Plan) -> Vec<Buffer> {
    match ends_as(plan) {
        (Status::Deadlocked(cycle), _) => cycle.buffers,
        (status, delivered) => panic!("ended as {status:?} after {delivered} messages"),
    }
}

fn onward(plan: &Plan, from: usize) -> Buffer {
    let names = [from, (from + 1) % 5].map(|n| format!("s{n}"));
    channel(&plan.fabric, &names[0], &names[1]).into()
}

#[test]
fn long_packets_on_one_lane_deadlock_a_ring() {
    let plan = ring(1, 100);
    assert_eq!(ends_as(&plan).1, 0, "every packet blocks at its second switch");
    // The head in the lane buffer from s0 to s1 waits for the lane to s2, held by h1's packet at
    // s1. Its input lane waits for the full lane buffer from s1 to s2, and so on.
    let ring = knot(&plan);
    let from_host =
        |n: usize| -> Buffer { channel(&plan.fabric, &format!("h{n}-0"), &format!("s{n}")).into() };
    let around: Vec<Buffer> =
        (0..5).flat_map(|n| [onward(&plan, n), from_host((n + 1) % 5)]).collect();
    let start = around.iter().position(|buffer| *buffer == ring[0]).unwrap();
    let expected: Vec<_> = (0..10).map(|step| around[(start + step) % 10]).collect();
    assert_eq!(ring, expected);
}

#[test]
fn ring_deadlocks_once_all_free_lanes_are_taken() {
    // On lanes of 3 flits each host has begun a packet on either lane at 3; by 9 they hold both
    // lanes onwards, and the first heads request at the next switch at 14.
    let mut plan = ring(2, 100);
    lanes(&mut plan, |lanes| lanes.depths_flits = [3; 16]);
    let of_both: Vec<u8> = knot(&plan).iter().map(|buffer| buffer.lane).collect();
    assert!(of_both.len() >= 10, "{of_both:?}");
    assert_eq!(ends_as(&plan).1, 0);
}

#[test]
fn datelines_prevent_the_ring_deadlock() {
    for rule in [DatelineRule::ByHop, DatelineRule::ByWrap] {
        let mut plan = ring(2, 100);
        lanes(&mut plan, |lanes| lanes.depths_flits = [3; 16]);
        let datelines = Datelines::new(&plan.fabric, rule).unwrap();
        plan.lanes.allowed = Lanes::by_datelines(datelines, &[LaneSet::first_n(2)]);
        let (status, delivered) = ends_as(&plan);
        assert_eq!(status, Status::Ended);
        assert!(delivered > 50, "{delivered}");
    }
}

#[test]
fn classes_on_separate_lanes_survive_a_deadlock() {
    let mut plan = ring(2, 100);
    backlogged(&mut plan, 0, 1, 160);
    let bound = [LaneSet::one(0); 5].into_iter().chain([LaneSet::one(1)]);
    on_lanes(&mut plan, &bound.collect::<Vec<_>>());
    let (status, delivered) = ends_as(&plan);
    assert!(matches!(status, Status::Deadlocked(_)), "ended as {status:?}");
    assert!(delivered > 3, "the other class went on: {delivered}");
    assert!(knot(&plan).iter().all(|buffer| buffer.lane == 0));
}

#[test]
fn missing_credits_deadlock_packets_holding_no_lane() {
    // Packets of 8 on lanes of 10 with virtual cut-through: each waits for credits of the next
    // buffer.
    let mut plan = ring(1, 8);
    lanes(&mut plan, |lanes| lanes.cut_through = LaneSet::one(0));
    let mut found = knot(&plan);
    found.sort_unstable();
    let mut expected: Vec<Buffer> = (0..5).map(|n| onward(&plan, n)).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    // On two lanes with datelines no packet waits forever.
    let mut plan = ring(2, 8);
    let datelines = Datelines::new(&plan.fabric, DatelineRule::ByHop).unwrap();
    lanes(&mut plan, |lanes| lanes.cut_through = LaneSet::first_n(2));
    plan.lanes.allowed = Lanes::by_datelines(datelines, &[LaneSet::first_n(2)]);
    assert_eq!(ends_as(&plan).0, Status::Ended);
}

#[test]
fn stopping_hosts_take_part_in_a_deadlock() {
    // h0 sends to h3 over h1 and h2, and h3 to h0 over h2 and h1. Each pool holds one packet, which
    // waits for the other's lane buffer, headed by a packet that waits for that pool: 40 flits
    // exceed two lane buffers and the output lane between them.
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 1);
    let mut ways = lane_plan(row(1, &[0, 0, 0, 0]), 1);
    along(
        &mut ways,
        &[&["s0", "h1", "s0", "h2", "s0", "h3"], &["s0", "h2", "s0", "h1", "s0", "h0"]],
    );
    plan.routing.paths = ways.routing.paths;
    in_transit(&mut plan, [60, 40, 16 * 40]);
    plan.in_transit.when_full = WhenFull::Stop;
    packets(&mut plan, 0, 3, &[(0, 40); 4]);
    packets(&mut plan, 3, 0, &[(0, 40); 4]);
    plan.stop = stop_at(100_000);
    let ring = knot(&plan);
    let on = |from, to| Buffer::from(channel(&plan.fabric, from, to));
    assert!(ring.contains(&on("s0", "h1")) && ring.contains(&on("s0", "h2")), "{ring:?}");
    // Pools for all packets.
    plan.in_transit.pool_bytes = 16 * 40 * 8;
    assert_eq!(ends_as(&plan).0, Status::Finished);
}

#[test]
fn waiting_for_credits_in_flight_is_no_deadlock() {
    // Five flits with virtual cut-through to the next switch, then five to the one after it.
    let mut plan = quiet_circle(1);
    for host in 0..5 {
        packets(&mut plan, host, (host + 1) % 5, &[(0, 5)]);
        packets(&mut plan, host, (host + 2) % 5, &[(0, 5)]);
    }
    lanes(&mut plan, |lanes| lanes.cut_through = LaneSet::one(0));
    // First packets: on the links of the ring from 8 to 12, there from 12 to 16, gone from 15 to
    // 19; credits count from 19 to 23. Second packets: there from 19 on, request at 21, when all
    // places of the next buffer are taken or on their way back, granted at 23. The waits are
    // examined at 215 ps.
    plan.stop = stop_at(215 * 64);
    assert_eq!(ends_as(&plan), (Status::Finished, 10));
}

#[test]
fn waiting_for_a_buffer_with_space_is_no_deadlock() {
    // Packets of three fit the lane buffers, and output lanes hold one flit. All heads cross at one
    // tick into output lanes without credits; the flits behind them wait for the credits, four
    // ticks.
    let mut plan = quiet_circle(1);
    for host in 0..5 {
        packets(&mut plan, host, (host + 2) % 5, &[(0, 3)]);
    }
    lanes(&mut plan, |lanes| {
        lanes.depths_flits[0] = 3;
        lanes.output_depths_flits[0] = 1;
    });
    // Examined at every tick.
    plan.stop = stop_at(10 * 64);
    assert_eq!(ends_as(&plan), (Status::Finished, 5));
}
