//! Packets that meet: in one lane, at one output, at one input.

use crate::common::{deliveries, row, story};
use crate::{in_turn, lane_plan, lanes, on_lanes, packets, strict};
use gingham_net::{Arbitration, Crossbar, Delivery, Granularity, Plan, Priority};
use gingham_topology::routing::LaneSet;

/// Deliveries in the order of creation.
pub(crate) fn by_message(plan: Plan, count: usize) -> Vec<(usize, u64, u64, u64)> {
    let mut found: Vec<Delivery> = deliveries(plan, count);
    found.sort_by_key(|delivery| delivery.message.id());
    found.iter().map(story).collect()
}

#[test]
fn head_crosses_three_ticks_after_the_previous_tail() {
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    packets(&mut plan, 0, 1, &[(0, 2), (0, 2)]);
    // First: on the link at 8 and 9. Second: there at 6 and 7, requests two ticks after the tail,
    // at 8 + 2 = 10, crosses at 11 and 12: whole at 155 and 165.
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 125), (0, 20, 155, 165)]);
}

#[test]
fn head_on_another_lane_does_not_wait() {
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 2), (0, 2)]);
    // The second is sent on lane 1, next in turn: granted lane 1 at 8, it crosses at 9 and 10,
    // after the first at 7 and 8.
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 125), (0, 20, 135, 145)]);
}

/// Hosts 0 and 1 send a packet of four flits to host 2 at once.
fn two_to_one(count: u8) -> Plan {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), count);
    packets(&mut plan, 0, 2, &[(0, 4)]);
    packets(&mut plan, 1, 2, &[(0, 4)]);
    plan
}

#[test]
fn inputs_sharing_one_lane_wait_for_tails() {
    // Both heads request at 6; h0's port is first. Its flits cross from 7 to 10; the tail releases
    // the lane to the other head: 11 to 14.
    assert_eq!(by_message(two_to_one(1), 2), [(0, 0, 115, 145), (1, 0, 155, 185)]);
}

#[test]
fn two_inputs_alternate_on_two_lanes() {
    // Both are granted at 6, lanes 0 and 1. Ports take turns from 7 to 14.
    assert_eq!(by_message(two_to_one(2), 2), [(0, 0, 115, 175), (1, 0, 125, 185)]);
}

#[test]
fn packet_granularity_keeps_the_link_on_its_lane() {
    let mut plan = two_to_one(2);
    lanes(&mut plan, |lanes| {
        lanes.crossbar = Crossbar::Full;
        lanes.cut_through = LaneSet::first_n(2);
    });
    plan.lanes.link_output = in_turn(Granularity::Packet);
    // Both cross from 7 to 10. The link takes h0's from 8 to 11, the other from 12 to 15.
    assert_eq!(by_message(plan.clone(), 2), [(0, 0, 115, 145), (1, 0, 155, 185)]);
    // By the flit they take turns: 8, 10, 12, 14 and 9, 11, 13, 15.
    plan.lanes.link_output = in_turn(Granularity::Flit);
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 175), (1, 0, 125, 185)]);
}

#[test]
fn packet_granularity_link_waits_for_late_flits() {
    let mut plan = two_to_one(2);
    lanes(&mut plan, |lanes| {
        lanes.cut_through = LaneSet::first_n(2);
    });
    plan.lanes.link_output = in_turn(Granularity::Packet);
    // h0's flits cross at 7, 9, 11, 13, the others at 8, 10, 12, 14. The link takes h0's at 8, 10,
    // 12, 14, nothing in between, then the others: 15 to 18.
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 175), (1, 0, 185, 215)]);
}

/// Host 0 sends four flits to host 1 on lane 0 and four to host 2 on lane 1, in turn: there at 4,
/// 6, 8, 10 and at 5, 7, 9, 11.
fn one_to_two(crossbar: Crossbar) -> Plan {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 4)]);
    packets(&mut plan, 0, 2, &[(0, 4)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    lanes(&mut plan, |lanes| lanes.crossbar = crossbar);
    plan
}

#[test]
fn lanes_of_an_input_share_a_multiplexed_crossbar() {
    // Lane 0 crosses at 7, lane 1, whose turn it is, at 8, and so on, 9, 11, 13 and 10, 12, 14.
    let plan = one_to_two(Crossbar::Multiplexed);
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 175), (0, 10, 125, 185)]);
}

#[test]
fn full_crossbar_lanes_do_not_wait_for_each_other() {
    // Lane 0 crosses at 7, 8, 9 and, there at 10, at 11. Lane 1 a tick later each.
    let plan = one_to_two(Crossbar::Full);
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 155), (0, 10, 125, 165)]);
}

#[test]
fn packet_granularity_keeps_an_input_on_its_lane() {
    let mut plan = one_to_two(Crossbar::Multiplexed);
    lanes(&mut plan, |lanes| {
        lanes.cut_through = LaneSet::first_n(2);
        lanes.crossbar_input = in_turn(Granularity::Packet);
    });
    // Lane 0 crosses at 7, 8, 9, 11; at 10 its last flit is just there. Lane 1 crosses from 12 to
    // 15.
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 155), (0, 10, 165, 195)]);
}

#[test]
fn higher_priority_is_granted_the_lane_first() {
    let mut plan = two_to_one(1);
    plan.classes[1].priority = Priority::new(3).unwrap();
    lanes(&mut plan, |lanes| lanes.arbitration = Arbitration::StrictPriority);
    // As without priorities, the other way round.
    assert_eq!(by_message(plan.clone(), 2), [(0, 0, 155, 185), (1, 0, 115, 145)]);
    lanes(&mut plan, |lanes| lanes.arbitration = Arbitration::RoundRobin);
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 145), (1, 0, 155, 185)]);
}

#[test]
fn each_priority_has_its_own_turn() {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 1);
    lanes(&mut plan, |lanes| lanes.arbitration = Arbitration::StrictPriority);
    for (host, at) in [(0, 0), (1, 0), (2, 0)] {
        packets(&mut plan, host, 3, &[(at, 2)]);
    }
    plan.classes[2].priority = Priority::new(1).unwrap();
    // h2, last in the order of ports, goes first: 7 and 8. Turns of the level below do not move: at
    // 8 h0 is granted the lane, crosses at 9 and 10, h1 at 11 and 12.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 135, 145), (1, 0, 155, 165), (2, 0, 115, 125)]);
}

#[test]
fn third_input_takes_the_first_lane_released() {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 2);
    for host in 0..3 {
        packets(&mut plan, host, 3, &[(0, 2)]);
    }
    // At 6 the first two are granted lanes 0 and 1, and cross in turn: 7, 9 and 8, 10. At 9 lane 0
    // is released to the third, but at 10 it is the second port's turn: the third crosses at 11 and
    // 12.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 115, 135), (1, 0, 125, 145), (2, 0, 155, 165)]);
}

#[test]
fn matching_continues_until_nothing_is_left() {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 2);
    packets(&mut plan, 0, 2, &[(0, 2)]);
    packets(&mut plan, 0, 3, &[(0, 1)]);
    packets(&mut plan, 1, 3, &[(10, 1)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1), LaneSet::one(0)]);
    lanes(&mut plan, |lanes| {
        lanes.crossbar_input = strict(vec![1, 0]);
    });
    // h0's head to h2 crosses at 7, its tail is there at 6. h0's flit to h3 and h1's are granted at
    // 7. At 8 both outputs grant h0, which chooses lane 0, the higher: its tail crosses to h2. Then
    // h3's output grants h1, whose flit crosses at 8, too; that of h0 at 9.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 115, 125), (0, 10, 135, 135), (1, 10, 125, 125)]);
}

#[test]
fn output_skips_a_lane_closed_by_packet_granularity() {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 4)]);
    packets(&mut plan, 0, 2, &[(0, 4)]);
    packets(&mut plan, 3, 2, &[(0, 4)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1), LaneSet::one(0)]);
    lanes(&mut plan, |lanes| {
        lanes.cut_through = LaneSet::first_n(2);
        lanes.crossbar_input = in_turn(Granularity::Packet);
    });
    // h0 is in the middle of its packet to h1 from 7 to 11. h3's flits for h2 cross from 7 to 10
    // although it is the turn of h0, whose lane 1 follows from 12 on.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 115, 155), (0, 10, 165, 195), (3, 0, 115, 145)]);
}

#[test]
fn lanes_are_granted_in_turn() {
    // From s0 to s1 lane 1 holds one flit. The adapter prefers lane 0.
    let mut plan = lane_plan(row(2, &[0, 1]), 2);
    lanes(&mut plan, |lanes| lanes.depths_flits[1] = 1);
    plan.lanes.adapter_port = strict(vec![1, 0]);
    packets(&mut plan, 0, 1, &[(0, 1), (1_000, 2)]);
    // The second is on the cable at 100 and 101, granted lane 1 at 106. The head crosses s1 at 115,
    // on the last cable at 116: the tail has a credit at 119, is there at 123, on the last cable at
    // 125.
    assert_eq!(by_message(plan, 2), [(0, 0, 195, 195), (0, 1_000, 1_195, 1_285)]);
}

#[test]
fn output_grants_start_after_its_last_matched_port() {
    // h0 has two flits for h2 (lane 0) and h3 (lane 1), h1 one for h3 (lane 0).
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 2);
    packets(&mut plan, 0, 2, &[(0, 2)]);
    packets(&mut plan, 0, 3, &[(0, 2)]);
    packets(&mut plan, 1, 3, &[(20, 1)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1), LaneSet::one(0)]);
    // h0's heads cross at 7 and 8; its second flits are there at 6 (lane 0) and 7 (lane 1). h1's is
    // granted lane 0 of h3's output at 8. At 9 h2's output grants h0; h3's, last matched with h0 at
    // 8, grants h1 first, and h0 at 10.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 115, 135), (0, 10, 125, 145), (1, 20, 135, 135)]);
}
