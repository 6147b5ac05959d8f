//! Outputs of a multiplexed crossbar that choose among their lanes.

use crate::common::row;
use crate::packets::by_message;
use crate::{in_turn, lane_plan, lanes, on_lanes, packets, strict};
use gingham_net::scheduler::WeightedRoundRobin;
use gingham_net::{Granularity, PipelinePlan, Plan, ProbePlan, Scheduler};
use gingham_topology::routing::LaneSet;
use gingham_topology::{ChannelId, EndpointId};

fn weighted(weights: &[u32]) -> Scheduler {
    let (weights, by) = (weights.to_vec(), Granularity::Flit);
    Scheduler::WeightedRoundRobin(WeightedRoundRobin { weights, by })
}

/// Hosts 0 and 1 send six flits to host 2, each on its own lane. Flit k is there at 4 + k; both
/// heads are granted at 6, and the chosen one crosses from 7 on.
fn two_lanes_to_one(change: impl FnOnce(&mut PipelinePlan)) -> Vec<(usize, u64, u64, u64)> {
    let mut plan: Plan = lane_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, 0, 2, &[(0, 6)]);
    packets(&mut plan, 1, 2, &[(0, 6)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    lanes(&mut plan, change);
    by_message(plan, 2)
}

#[test]
fn output_lane_weights_share_the_output() {
    // Lane 0 crosses at 7, 8, 9, lane 1 at 10; lane 0 at 11, 12, 13, lane 1 from 14 to 18. On the
    // link a tick later.
    let found = two_lanes_to_one(|of| of.crossbar_output = Some(weighted(&[3, 1])));
    assert_eq!(found, [(0, 0, 115, 175), (1, 0, 145, 225)]);
}

#[test]
fn input_weights_do_not_affect_output_shares() {
    // Ports in turn, each with one lane: 7 and 8, 9 and 10, to 17 and 18.
    let in_turn = [(0, 0, 115, 215), (1, 0, 125, 225)];
    assert_eq!(two_lanes_to_one(|_| ()), in_turn);
    assert_eq!(two_lanes_to_one(|of| of.crossbar_input = weighted(&[3, 1])), in_turn);
}

#[test]
fn packet_granularity_keeps_an_output_on_its_lane() {
    // Lane 0 crosses from 7 to 12, lane 1 from 13 to 18.
    let found = two_lanes_to_one(|of| {
        of.cut_through = LaneSet::first_n(2);
        of.crossbar_output = Some(in_turn(Granularity::Packet));
    });
    assert_eq!(found, [(0, 0, 115, 165), (1, 0, 175, 225)]);
}

#[test]
fn output_with_rejected_grant_grants_another() {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 2);
    packets(&mut plan, 0, 2, &[(0, 2)]);
    packets(&mut plan, 0, 3, &[(0, 1)]);
    packets(&mut plan, 1, 3, &[(10, 1)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1), LaneSet::one(0)]);
    lanes(&mut plan, |lanes| {
        lanes.crossbar_input = strict(vec![1, 0]);
        lanes.crossbar_output = Some(strict(vec![0, 1]));
    });
    // h0's head to h2 crosses at 7, its tail is there at 6. h0's flit to h3 and h1's are granted at
    // 7. At 8 h3's output grants lane 1, its higher one, held by h0; h0 chooses its own higher
    // lane, 0: its tail crosses to h2. Then h3's output grants lane 0, and h1's flit crosses at 8,
    // too; that of h0 at 9.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 115, 125), (0, 10, 135, 135), (1, 10, 125, 125)]);
}

#[test]
fn output_arbiter_advances_on_match_not_on_grant() {
    let mut plan = lane_plan(row(1, &[0, 0, 0, 0]), 2);
    packets(&mut plan, 0, 2, &[(0, 6)]);
    packets(&mut plan, 0, 3, &[(10, 1)]);
    packets(&mut plan, 1, 3, &[(60, 1)]);
    on_lanes(&mut plan, &[LaneSet::one(1), LaneSet::one(0), LaneSet::one(1)]);
    lanes(&mut plan, |lanes| {
        lanes.crossbar_input = strict(vec![0, 1]);
        lanes.crossbar_output = Some(in_turn(Granularity::Flit));
    });
    // h0's six flits to h2, on the cable at 0 and from 2 to 6, cross from 7 to 12. That to h3, on
    // the cable at 1, has lane 0 at 7 and is granted the output from 8 on, but h0 chooses lane 1,
    // the higher. h1's, on the cable at 6, has lane 1 of that output at 12. At 13 the output has
    // matched no lane, and lane 0 comes first: h0's crosses at 13, h1's at 14.
    let found = by_message(plan, 3);
    assert_eq!(found, [(0, 0, 115, 165), (0, 10, 175, 175), (1, 60, 185, 185)]);
}

/// Hosts 1 and 2 send eight flits to host 0, on lanes 0 and 1, which share its output 3 to 1. A
/// packet of one flit from host 0 to host 1 is received at 115; if it is to weigh, a probe then
/// orders a weight of 1 for lane 0 at the output to host 0.
fn eight_flits_each(weigh_every: u64) -> Vec<(usize, u64, u64, u64)> {
    let mut plan: Plan = lane_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 1)]);
    packets(&mut plan, 1, 0, &[(0, 8)]);
    packets(&mut plan, 2, 0, &[(0, 8)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(0), LaneSet::one(1)]);
    lanes(&mut plan, |of| of.crossbar_output = Some(weighted(&[3, 1])));
    plan.probe =
        Some(ProbePlan { control_every: 0, control_bytes: 1, divert_every: 0, weigh_every });
    let mut channels = ChannelId::first(plan.channels.len());
    let first = channels.find(|channel| plan.is_switch(plan.ends(*channel).source.node)).unwrap();
    let host = plan.fabric.endpoint_at(plan.ends(first).target);
    assert_eq!(host, Some(EndpointId::new(0)));
    by_message(plan, 3)
}

#[test]
fn changed_weight_applies_after_the_round() {
    // Lane 0 crosses at 7, 8, 9, lane 1 at 10; lane 0 at 11. At 115, before tick 12, lane 0 is to
    // have a weight of 1; the round goes on with 12 and 13, and lane 1 at 14. Then turns: lane 0 at
    // 15 and 17, its last, lane 1 at 16 and from 18 to 22. Orders at 215 and later are of another
    // output.
    assert_eq!(eight_flits_each(1), [(0, 0, 115, 115), (1, 0, 115, 215), (2, 0, 145, 265)]);
    // Unchanged, lane 0 crosses at 15 and 16, lane 1 from 17 on.
    assert_eq!(eight_flits_each(0), [(0, 0, 115, 115), (1, 0, 115, 205), (2, 0, 145, 265)]);
}
