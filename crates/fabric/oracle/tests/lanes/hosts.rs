//! Adapters: lanes in turn, policed classes, segments, and backlogged classes.

use crate::common::{backlogged, cable_flit, channel, deliveries, row, scheduled, stop_at, story};
use crate::packets::by_message;
use crate::{in_turn, lane_plan, lanes, on_lanes, packets, start, strict};
use gingham_kernel::Span;
use gingham_net::{
    Conformance, Delivery, Excess, Granularity, Injection, PolicingPlan, Priority, REFILL_BYTES,
    SegmentationPlan,
};
use gingham_topology::routing::LaneSet;
use std::sync::Arc;

#[test]
fn queue_starts_another_packet_when_the_first_is_blocked() {
    // Two lanes of three flits, and packets of four.
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    lanes(&mut plan, |lanes| lanes.depths_flits = [3; 16]);
    packets(&mut plan, 0, 1, &[(0, 4), (0, 4)]);
    // Lane 0 has no credit left at 3: the second packet begins on lane 1, at 3, 4, 5. First:
    // crosses from 7 on, credits count from 11 on; its tail, on the cable at 11, crosses at 16:
    // whole at 205. Second: crosses from 10 on: whole at 145; its tail, on the cable at 14, is on
    // the link at 20.
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 205), (0, 30, 145, 235)]);
}

#[test]
fn self_traffic_passes_through_the_switch() {
    let mut plan = lane_plan(row(2, &[0, 1]), 1);
    packets(&mut plan, 0, 0, &[(0, 2), (0, 1)]);
    // As between two hosts: on the cable back at 8 and 9. The second head crosses at 11, three
    // ticks after the tail (8).
    let found = deliveries(plan, 2);
    assert_eq!(found.iter().map(story).collect::<Vec<_>>(), [(0, 0, 115, 125), (0, 20, 155, 155)]);
    assert!(found.iter().all(|found| found.hops == 1));
}

#[test]
fn one_at_a_time_waits_for_the_previous_packet() {
    // Lane 1 waits for the tail of the first, on the cable at 11: the second goes as the first did,
    // 12 ticks later.
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    lanes(&mut plan, |lanes| lanes.depths_flits = [3; 16]);
    lanes(&mut plan, |lanes| lanes.injection = Injection::OneAtATime);
    packets(&mut plan, 0, 1, &[(0, 4), (0, 4)]);
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 205), (0, 120, 235, 325)]);
}

#[test]
fn one_at_a_time_blocks_queues_of_other_lanes() {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 4)]);
    packets(&mut plan, 0, 2, &[(0, 4)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    // In turn on lanes 0 and 1: the tails are on the cable at 6 and 7.
    assert_eq!(by_message(plan.clone(), 2), [(0, 0, 115, 175), (0, 10, 125, 185)]);
    lanes(&mut plan, |lanes| lanes.injection = Injection::OneAtATime);
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 145), (0, 40, 155, 185)]);
}

#[test]
fn shared_lane_serves_the_queue_of_the_lowest_lanes() {
    // Both classes may use lane 1, the first lane to be served: that of lanes 0 and 1 (3 as a
    // number) after that of lane 1 alone (2).
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 2)]);
    packets(&mut plan, 0, 1, &[(0, 2), (0, 2)]);
    on_lanes(&mut plan, &[LaneSet::first_n(2), LaneSet::one(1)]);
    plan.lanes.adapter_port = strict(vec![0, 1]);
    let mut found = deliveries(plan, 3);
    found.sort_by_key(|found| found.entered);
    let of_class = |found: &Delivery| (found.message.class.index(), found.entered.as_ps());
    assert_eq!(found.iter().map(of_class).collect::<Vec<_>>(), [(1, 0), (1, 20), (0, 40)]);
}

#[test]
fn packet_granularity_keeps_an_adapter_on_its_lane() {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 4)]);
    packets(&mut plan, 0, 2, &[(0, 4)]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    lanes(&mut plan, |lanes| lanes.cut_through = LaneSet::first_n(2));
    plan.lanes.adapter_port = in_turn(Granularity::Packet);
    // The first from 0 to 3, the second from 4 to 7.
    assert_eq!(by_message(plan, 2), [(0, 0, 115, 145), (0, 40, 155, 185)]);
}

/// Bucket of 32 B that fills at half the rate of a link of 16 B in 10 ps.
fn policing() -> PolicingPlan {
    PolicingPlan {
        refill: [Span::from_ps(REFILL_BYTES * 10 / 8)].into(),
        burst_bytes: 32,
        longest_bytes: u32::MAX,
        excess: Excess::Delay,
    }
}

#[test]
fn packet_waiting_for_tokens_starts_at_a_tick() {
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    packets(&mut plan, 0, 1, &[(0, 2), (0, 1)]);
    plan.classes[0].policing = Some(policing());
    // A token takes 1.25 ps. The first takes all 32; the second has its 16 at 20, when the first
    // has just gone: it is not delayed.
    let found = deliveries(plan.clone(), 2);
    assert_eq!(found.iter().map(|found| found.entered.as_ps()).collect::<Vec<_>>(), [0, 20]);
    assert!(found.iter().all(|found| found.conformance == Conformance::Conforming));
    // With 25 B the second has its tokens at 31.25, and begins at tick 4.
    plan.classes.clear();
    scheduled(&mut plan, 0, 1, &[(0, 32), (0, 25)]);
    plan.classes[0].policing = Some(policing());
    let found = deliveries(plan, 2);
    assert_eq!(found.iter().map(|found| found.entered.as_ps()).collect::<Vec<_>>(), [0, 40]);
    assert_eq!(found[1].conformance, Conformance::Delayed);
}

#[test]
fn tokens_are_checked_when_the_flit_would_start() {
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    let cable = channel(&plan.fabric, "h0", "s0");
    cable_flit(&mut plan, cable, 16);
    scheduled(&mut plan, 0, 1, &[(0, 32), (0, 25)]);
    plan.classes[0].policing = Some(policing());
    // The first takes the cable until 32. At tick 3 a flit could begin at 32, when 31.25 ps have
    // brought the 25 tokens.
    let found = deliveries(plan, 2);
    assert_eq!(found.iter().map(|found| found.entered.as_ps()).collect::<Vec<_>>(), [0, 32]);
    assert!(found.iter().all(|found| found.conformance == Conformance::Conforming));
}

#[test]
fn waiting_for_tokens_does_not_block_other_classes() {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), 1);
    scheduled(&mut plan, 0, 1, &[(0, 32), (0, 32)]);
    packets(&mut plan, 0, 2, &[(0, 1), (0, 1), (0, 1)]);
    plan.classes[0].policing = Some(policing());
    // The second of the first class may begin at 40; the others go at ticks 2, 3 and 6, in one
    // level or a lower one.
    for level in [0, 1] {
        plan.classes[0].priority = Priority::new(level).unwrap();
        let mut found = deliveries(plan.clone(), 5);
        found.sort_by_key(|found| (found.message.class, found.message.id()));
        let entered: Vec<_> = found.iter().map(|found| found.entered.as_ps()).collect();
        assert_eq!(entered, [0, 40, 20, 30, 60]);
    }
}

#[test]
fn segments_take_the_lanes_in_turn() {
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    lanes(&mut plan, |lanes| lanes.overhead_bytes = 4);
    scheduled(&mut plan, 0, 1, &[(0, 64)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(28);
    // 28 + 4, 28 + 4 and 8 + 4 bytes: two, two and one flit, from 0, 2, 4 on, on lanes 0, 1, 0.
    // Third: there at 8, when the first tail crosses, crosses at 11: whole at 155. Second: on the
    // link at 10 and 11.
    let found = deliveries(plan, 1)[0];
    assert_eq!(story(&found), (0, 0, 155, 155));
    assert_eq!((found.packets, found.wire_bytes), (3, 80));
}

#[test]
fn backlogged_class_creates_the_next_at_each_start() {
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    let cable = channel(&plan.fabric, "h0", "s0");
    cable_flit(&mut plan, cable, 14);
    // The cycle is that of the fastest channel, 10 ps.
    backlogged(&mut plan, 0, 1, 32);
    plan.stop = stop_at(1_000);
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let mut found = simulation.take_messages();
    found.sort_by_key(|delivery| delivery.message.id());
    // Two flits of 14 ps each, back to back.
    for (place, delivery) in found.iter().enumerate() {
        let began = 28 * place as u64;
        assert_eq!(delivery.entered.as_ps(), began);
        assert_eq!(delivery.message.created.as_ps(), began.saturating_sub(28));
    }
    assert!(found.len() > 20, "{}", found.len());
}

#[test]
fn backlogged_single_flits_fill_every_tick() {
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    backlogged(&mut plan, 0, 1, 16);
    // Each packet creates the next when it begins, one a tick, with ten credits.
    plan.stop = stop_at(600);
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let mut found = simulation.take_messages();
    found.sort_by_key(|delivery| delivery.message.id());
    let entered: Vec<_> = found.iter().map(|found| found.entered.as_ps()).collect();
    assert_eq!(entered[..10], [0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    // The first crosses at 7 and its credit counts at 11; the second at 10, and at 14.
    assert_eq!(entered[10..12], [110, 140]);
}
