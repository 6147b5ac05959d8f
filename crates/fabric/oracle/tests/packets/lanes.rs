//! Lanes share a link, packet by packet.

use crate::common::lanes::on_lanes;
use crate::common::packets::{cable_byte, packets, packets_plan, sends};
use crate::common::{channel, deliveries, row, story};
use crate::last_starts;
use gingham_net::scheduler::{FirstComeFirstServed, StrictPriority};
use gingham_net::{Granularity, Plan, Scheduler};
use gingham_topology::routing::LaneSet;

/// h0 and h1 send packets of 10 bytes to h2, each on its own lane.
fn two_lanes() -> Plan {
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 2);
    sends(&mut plan, 0, 0, &[(0, 2, 10); 3]);
    sends(&mut plan, 1, 0, &[(5, 2, 10); 3]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    plan
}

fn sources(plan: &Plan) -> Vec<usize> {
    last_starts(plan, 6).into_iter().map(|(source, _)| source).collect()
}

#[test]
fn link_output_chooses_among_lanes() {
    // There at 25, 125, 225, and at 30, 130, 230.
    let mut plan = two_lanes();
    assert_eq!(last_starts(&plan, 2), [(0, 125), (1, 225)]);
    assert_eq!(sources(&plan), [0, 1, 0, 1, 0, 1]);
    let by = Granularity::Packet;
    plan.lanes.link_output = Scheduler::StrictPriority(StrictPriority { levels: vec![0, 1], by });
    assert_eq!(sources(&plan), [0, 1, 1, 1, 0, 0]);
}

#[test]
fn link_output_orders_by_first_byte_arrival() {
    // h3 keeps the output busy from 125 to 1,125. h0's three are there since 35, 135 and 235, h1's
    // since 325 and later. In turn, lane 1 follows lane 0.
    let mut plan = packets_plan(row(1, &[0; 4]), 2);
    sends(&mut plan, 0, 0, &[(10, 2, 10); 3]);
    sends(&mut plan, 1, 0, &[(300, 2, 10); 3]);
    sends(&mut plan, 3, 0, &[(0, 2, 100)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1), LaneSet::one(0)]);
    assert_eq!(sources(&plan), [3, 1, 0, 1, 0, 1]);
    let first_come = FirstComeFirstServed { by: Granularity::Packet };
    plan.lanes.link_output = Scheduler::FirstComeFirstServed(first_come);
    assert_eq!(sources(&plan), [3, 0, 0, 0, 1, 1]);
}

#[test]
fn lane_without_space_does_not_block_others() {
    // h0's packets leave by a slow cable and fill lane 0 at s1; h1's on lane 1 pass them.
    let mut plan = packets_plan(row(2, &[0, 0, 1, 1]), 2);
    packets(&mut plan, |packets| packets.buffer_blocks = [1; 16]);
    let slow = channel(&plan.fabric, "s1", "h2");
    cable_byte(&mut plan, slow, 100);
    sends(&mut plan, 0, 0, &[(0, 2, 64), (0, 2, 64)]);
    sends(&mut plan, 1, 0, &[(0, 3, 64), (0, 3, 64)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    // h0's first: s0 at 125, s1 at 250, left at 6,650, known at 6,675. h1's first: s0 at 765, s1 at
    // 890, left at 1,530, known at 1,555. h1's second: enters when 1,405 is known, at 1,430, ready
    // at 1,555, s1 at 1,680. h0's second: s1 at 6,800.
    let starts: Vec<_> =
        deliveries(plan, 4).iter().map(story).map(|(source, _, _, at)| (source, at)).collect();
    assert_eq!(starts, [(1, 890 + 665), (1, 1_680 + 665), (0, 250 + 6_425), (0, 6_800 + 6_425)]);
}

#[test]
fn any_lane_with_space_is_used() {
    // Both lanes are open: the first on lane 0, the second on lane 1, the third on the lane free
    // first.
    let mut plan = packets_plan(row(1, &[0, 0]), 2);
    packets(&mut plan, |packets| packets.buffer_blocks = [1; 16]);
    sends(&mut plan, 0, 0, &[(0, 1, 64); 3]);
    // Lane 0: 0, left at 125 + 640, known at 790. Lane 1: 640, left at 1,405, known at 1,430.
    let entered: Vec<u64> = deliveries(plan, 3).iter().map(|delivery| story(delivery).1).collect();
    assert_eq!(entered, [0, 640, 1_280]);
}

#[test]
fn adapter_prefers_the_queue_of_the_lowest_lanes() {
    // A queue of lane 0 and one of lanes 0 and 1. By round robin lane 0 is first, possible for
    // both.
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, |packets| packets.buffer_blocks = [1; 16]);
    sends(&mut plan, 0, 0, &[(0, 1, 64), (0, 1, 64)]);
    sends(&mut plan, 0, 0, &[(0, 2, 64), (0, 2, 64)]);
    on_lanes(&mut plan, &[LaneSet::first_n(2), LaneSet::one(0)]);
    let found = deliveries(plan, 4);
    let mut entered: Vec<_> = found
        .iter()
        .map(|delivery| (story(delivery).1, delivery.message.destination.index()))
        .collect();
    entered.sort_unstable();
    // 0: lane 0, to h2, known again at 790. 640: lane 1, to h1, known at 1,430. 1,280: lane 0, to
    // h2. 1,920: lane 1, to h1.
    assert_eq!(entered, [(0, 2), (640, 1), (1_280, 2), (1_920, 1)]);
}
