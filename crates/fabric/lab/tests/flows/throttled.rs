//! Congestion control at hosts, by the lanes of the first switch or the number of full buffers.
//! Flits take 10 ps, cables 25, switches 100 from the grant to the first flit.

use crate::common::lanes::{lane_plan, on_lanes, packets as lane_packets};
use crate::common::packets::{packets, packets_plan, sends};
use crate::common::{backlogged, quiet_plan, row, scheduled, stop_at};
use crate::support::{Run, run};
use gingham_kernel::Span;
use gingham_net::{AdapterPlan, Credits, Plan, SegmentationPlan, SelfTunedPlan, ThrottlePlan};
use gingham_topology::routing::LaneSet;

fn throttled(plan: &mut Plan, throttle: ThrottlePlan) {
    plan.adapters = Some(AdapterPlan { send_buffer: 9, dma: None, throttle: Some(throttle) });
    plan.stop = stop_at(20_000);
}

/// Returns the times of entry and delivery, in ps.
fn entered(run: &Run, class: usize) -> Vec<(u64, u64)> {
    let messages = run.messages(class).into_iter();
    messages.map(|(_, entered, delivered)| (entered, delivered)).collect()
}

/// h0, h1 and h3 on s0, h2 on s1. The worm of h0 has 100 flits: its head is at s0 at 35, which
/// grants it the cable to s1 then; its tail starts there at 135 + 990 and has left at 1,135.
fn worms() -> Plan {
    let mut plan = quiet_plan(row(2, &[0, 0, 1, 0]));
    scheduled(&mut plan, 0, 2, &[(0, 100)]);
    throttled(&mut plan, ThrottlePlan::AtLeastOne);
    plan
}

/// A message of 10 flits created at 200 begins at 1,135: its head is at s0 at 1,170, at s1 at 1,305
/// and at h2 at 1,440, and its tail 90 later. Two held hosts both begin.
#[test]
fn worm_is_held_until_its_output_is_free() {
    let mut plan = worms();
    scheduled(&mut plan, 1, 2, &[(200, 10)]);
    assert_eq!(entered(&run(&plan), 1), [(1_135, 1_530)]);
    scheduled(&mut plan, 3, 2, &[(200, 10)]);
    let found = run(&plan);
    assert_eq!(entered(&found, 1), [(1_135, 1_530)]);
    // It waits at s0 until the previous tail has left, at 1,270 + 100.
    assert_eq!(entered(&found, 2), [(1_135, 1_730)]);
}

/// The switch grants the output to the worm of h0 at 35.
#[test]
fn worm_in_flight_takes_no_output_before_its_grant() {
    for (created, begins) in [(30, 30), (34, 34), (35, 1_135)] {
        let mut plan = worms();
        scheduled(&mut plan, 1, 2, &[(created, 10)]);
        assert_eq!(entered(&run(&plan), 1)[0].0, begins, "{created}");
    }
    let mut plan = worms();
    scheduled(&mut plan, 1, 0, &[(200, 10)]);
    assert_eq!(entered(&run(&plan), 1)[0].0, 200);
}

/// A begun message continues: its second packet starts as the first has left, at 80.
#[test]
fn exempt_and_begun_messages_are_not_held() {
    let mut plan = worms();
    scheduled(&mut plan, 1, 2, &[(200, 10)]);
    plan.classes[1].post.credits = Credits::Exempt;
    assert_eq!(entered(&run(&plan), 1)[0].0, 200);
    let mut plan = worms();
    scheduled(&mut plan, 1, 2, &[(30, 10)]);
    plan.classes[1].segmentation = SegmentationPlan::Fixed(5);
    let found = run(&plan);
    let began: Vec<u64> = found.began(1, crate::support::Kind::Data);
    assert_eq!(began, [30, 80]);
}

/// Over one lane, 20 flits of h0: the head is at s0 at tick 4, is granted the lane to s1 in step 4
/// of tick 6, and crosses at tick 7, so that the tail crosses at tick 26. Hosts send in step 2.
#[test]
fn lane_throttling_sees_the_state_of_the_previous_tick() {
    for (created, begins) in [(60, 60), (61, 270), (100, 270), (260, 270), (300, 300)] {
        let mut plan = lane_plan(row(2, &[0, 0, 1]), 1);
        lane_packets(&mut plan, 0, 2, &[(0, 20)]);
        lane_packets(&mut plan, 1, 2, &[(created, 3)]);
        throttled(&mut plan, ThrottlePlan::AtLeastOne);
        assert_eq!(entered(&run(&plan), 1)[0].0, begins, "{created}");
    }
}

#[test]
fn class_inspects_only_its_own_lanes() {
    for (lane, begins) in [(0, 270), (1, 100)] {
        let mut plan = lane_plan(row(2, &[0, 0, 1]), 2);
        lane_packets(&mut plan, 0, 2, &[(0, 20)]);
        lane_packets(&mut plan, 1, 2, &[(100, 3)]);
        on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(lane)]);
        throttled(&mut plan, ThrottlePlan::AtLeastOne);
        assert_eq!(entered(&run(&plan), 1)[0].0, begins, "lane {lane}");
    }
}

/// Buffers of one block, packets of one. That of h0 starts from s0 at 25 + 100, from s1 at 250, and
/// has left at 890, which s0 knows at 915. That of h1 is at s0 at 940, starts there at 1,040, at s1
/// at 1,165, and has arrived 665 later.
#[test]
fn packet_is_held_until_the_next_buffer_has_space() {
    for (created, begins) in [(100, 100), (125, 125), (126, 915), (200, 915)] {
        let mut plan = packets_plan(row(2, &[0, 0, 1]), 1);
        packets(&mut plan, |of| of.buffer_blocks = [1; 16]);
        sends(&mut plan, 0, 0, &[(0, 2, 64)]);
        sends(&mut plan, 1, 0, &[(created, 2, 64)]);
        throttled(&mut plan, ThrottlePlan::AtLeastOne);
        let found = entered(&run(&plan), 1);
        assert_eq!(found[0].0, begins, "{created}");
        if begins == 915 {
            assert_eq!(found, [(915, 1_830)]);
        }
    }
}

/// Counts every 100 ps, known 100 later, and a constant threshold.
fn self_tuned(threshold_millionths: u32) -> SelfTunedPlan {
    SelfTunedPlan {
        gather: Span::from_ps(100),
        side_band: Span::from_ps(100),
        tuning_gathers: 3,
        threshold_millionths,
        increase_millionths: 0,
        decrease_millionths: 0,
        drop_millionths: 1_000_000,
        patience: 5,
    }
}

/// Two hosts a switch, send buffers of one message; two buffers between the switches. Of the six,
/// four are full at 100 and, since two worms of 15 flits have left, two at 200. From 200 on the
/// estimate is 4 and rises; from 300 on it is 2 and falls by 2 in 100 ps: it is 1 at 350.
#[test]
fn message_is_held_until_the_estimate_reaches_the_threshold() {
    let mut plan = quiet_plan(row(2, &[0, 0, 1, 1]));
    scheduled(&mut plan, 0, 1, &[(0, 50)]);
    scheduled(&mut plan, 1, 0, &[(0, 50)]);
    scheduled(&mut plan, 2, 3, &[(0, 15), (210, 5)]);
    scheduled(&mut plan, 3, 2, &[(0, 15)]);
    throttled(&mut plan, ThrottlePlan::SelfTuned(self_tuned(166_667)));
    plan.adapters.as_mut().unwrap().send_buffer = 1;
    // At s1 at 385, from there at 485; the tail of five flits has arrived at 560.
    assert_eq!(entered(&run(&plan), 2), [(0, 310), (350, 560)]);
    // With half of all buffers as the threshold the message goes when the count of two is known;
    // one created before the first count is known goes at once.
    plan.adapters.as_mut().unwrap().throttle = Some(ThrottlePlan::SelfTuned(self_tuned(500_000)));
    assert_eq!(entered(&run(&plan), 2)[1].0, 300);
    plan.adapters.as_mut().unwrap().throttle = Some(ThrottlePlan::SelfTuned(self_tuned(1_000_000)));
    assert_eq!(entered(&run(&plan), 2)[1].0, 210);
}

/// Returns the start of a message of h1 to h0, with a free path. Threshold 0, so that one full
/// buffer holds all hosts.
fn behind_one_full_buffer(mut plan: Plan, created: u64) -> u64 {
    let class = plan.classes.len();
    scheduled(&mut plan, 1, 0, &[(created, 16)]);
    throttled(&mut plan, ThrottlePlan::SelfTuned(self_tuned(0)));
    entered(&run(&plan), class)[0].0
}

/// h3 occupies the cable to h2 until 135 + 200 * 10. The worm of h0 fills the buffer at s1 from 170
/// on: its 17th flit is there at 330, and 23 flits until it leaves, from 2,235 on, so that 16 are
/// left from 2,295 on. One buffer is therefore full at the gathers from 400 to 2,200, which is
/// known 100 later.
#[test]
fn slack_buffer_is_full_above_its_stop_mark() {
    for (created, begins) in [(499, 499), (500, 2_400), (2_399, 2_400), (2_400, 2_400)] {
        let mut plan = quiet_plan(row(2, &[0, 0, 1, 1]));
        scheduled(&mut plan, 3, 2, &[(0, 200)]);
        scheduled(&mut plan, 0, 2, &[(0, 100)]);
        assert_eq!(behind_one_full_buffer(plan, created), begins, "{created}");
    }
}

/// h3 occupies the lane to h2 until its tail crosses at tick 4 + 3 + 79. Flits of h0 are at s1 from
/// tick 12 on, ten of them from 21 to 87. One buffer is therefore full at the gathers from 300 to
/// 800.
#[test]
fn lane_buffer_is_full_without_a_free_place() {
    for (created, begins) in [(390, 390), (391, 1_000), (400, 1_000), (990, 1_000)] {
        let mut plan = lane_plan(row(2, &[0, 0, 1, 1]), 1);
        lane_packets(&mut plan, 3, 2, &[(0, 80)]);
        lane_packets(&mut plan, 0, 2, &[(0, 60)]);
        assert_eq!(behind_one_full_buffer(plan, created), begins, "{created}");
    }
}

/// s0 knows at 915 that the buffer of one block is free again: it is full at the gathers from 200
/// to 900.
#[test]
fn packet_buffer_is_full_without_space() {
    for (created, begins) in [(299, 299), (300, 1_100), (1_050, 1_100), (1_100, 1_100)] {
        let mut plan = packets_plan(row(2, &[0, 0, 1, 1]), 1);
        packets(&mut plan, |of| of.buffer_blocks = [1; 16]);
        sends(&mut plan, 0, 0, &[(0, 2, 64)]);
        assert_eq!(behind_one_full_buffer(plan, created), begins, "{created}");
    }
}

fn crowded() -> [Plan; 3] {
    let fabric = || row(2, &[0, 0, 1, 1]);
    let mut plans = [quiet_plan(fabric()), lane_plan(fabric(), 2), packets_plan(fabric(), 2)];
    for plan in &mut plans {
        for host in [0, 1, 3] {
            backlogged(plan, host, 2, 64);
        }
        plan.adapters = Some(AdapterPlan { send_buffer: 3, dma: None, throttle: None });
        plan.stop = stop_at(50_000);
    }
    plans
}

#[test]
fn threshold_of_all_buffers_holds_nothing_back() {
    for mut plan in crowded() {
        let without = run(&plan).deliveries;
        assert!(without.len() > 50, "{}", without.len());
        let throttle = ThrottlePlan::SelfTuned(self_tuned(1_000_000));
        plan.adapters.as_mut().unwrap().throttle = Some(throttle);
        assert_eq!(run(&plan).deliveries, without);
        plan.adapters.as_mut().unwrap().throttle = Some(ThrottlePlan::SelfTuned(self_tuned(0)));
        assert_ne!(run(&plan).deliveries, without, "one of none does");
    }
}

/// Each host sends its next message after the last has arrived.
#[test]
fn at_least_one_holds_nothing_on_an_uncontended_star() {
    let star = || row(1, &[0, 0, 0, 0]);
    for mut plan in [quiet_plan(star()), lane_plan(star(), 1), packets_plan(star(), 1)] {
        for host in 0..4 {
            let messages: Vec<(u64, u32)> = (0..20).map(|n| (n * 3_000 + 7, 64)).collect();
            scheduled(&mut plan, host, (host + 1) % 4, &messages);
        }
        plan.adapters = Some(AdapterPlan { send_buffer: 9, dma: None, throttle: None });
        plan.stop = stop_at(100_000);
        let without = run(&plan).deliveries;
        assert_eq!(without.len(), 80);
        plan.adapters.as_mut().unwrap().throttle = Some(ThrottlePlan::AtLeastOne);
        assert_eq!(run(&plan).deliveries, without);
    }
}
