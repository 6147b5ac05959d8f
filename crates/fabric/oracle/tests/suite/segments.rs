//! Messages in several packets, and their order: priority at the host and at the switch.

use crate::common::{backlogged, deliveries, quiet_plan, row, scheduled, story, wormhole};
use gingham_net::{Arbitration, Priority, SegmentationPlan};

fn level(level: u8) -> Priority {
    Priority::new(level).expect("a level that exists")
}

#[test]
fn last_segment_completes_the_delivery() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.overhead_bytes = 2);
    scheduled(&mut plan, 0, 1, &[(40, 13)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(5);
    // Packets of 5 + 2, 5 + 2 and 3 + 2 flits enter at 40, 110 and 180. First: header whole at 75,
    // leaves at 175, tail gone at 245. Second: leaves at 345, gone at 415. Third: leaves at 515,
    // whole at 550, its tail four flits later.
    let delivery = deliveries(plan, 1)[0];
    assert_eq!(story(&delivery), (0, 40, 550, 590));
    assert_eq!((delivery.packets, delivery.wire_bytes), (3, 19));
    assert_eq!(delivery.latency().as_ps(), 550);
}

#[test]
fn longest_payload_follows_the_switch_count() {
    let by_hops = SegmentationPlan::ByHops([4, 6].into());
    for (segmentation, packets) in
        [(SegmentationPlan::PerSwitch(4), [3, 2, 1]), (by_hops, [3, 2, 2])]
    {
        // From h0 over one, two and three switches to h1, h2 and h3.
        let mut plan = quiet_plan(row(3, &[0, 0, 1, 2]));
        for (to, at) in [(1, 0), (2, 10_000), (3, 20_000)] {
            scheduled(&mut plan, 0, to, &[(at, 12)]);
            plan.classes[to - 1].segmentation = segmentation.clone();
        }
        let found = deliveries(plan, 3);
        assert_eq!(found.iter().map(|d| d.packets).collect::<Vec<_>>(), packets);
        assert_eq!(found.iter().map(|d| d.hops).collect::<Vec<_>>(), [1, 2, 3]);
        // Without headers the segments add nothing.
        assert!(found.iter().all(|delivery| delivery.wire_bytes == 12));
    }
}

#[test]
fn higher_priority_goes_between_segments_at_the_host() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 15)]);
    scheduled(&mut plan, 0, 2, &[(20, 3)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(5);
    plan.classes[1].priority = level(1);
    // The first segment is on the cable until 50; the message of 20 enters then, the other segments
    // at 80 and 130. At the switch the first tail is gone at 185; the header behind it leaves at
    // 285 to h2, its tail is gone at 315. Second segment: 415 to 465; third: 565.
    let found: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(found, [(0, 50, 320, 340), (0, 0, 600, 640)]);
}

#[test]
fn priority_level_is_fifo_across_classes() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 15)]);
    scheduled(&mut plan, 0, 2, &[(20, 3)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(5);
    // The message of 20 enters behind all three segments, at 150.
    let entered: Vec<_> = deliveries(plan, 2).iter().map(|d| story(d).1).collect();
    assert_eq!(entered, [0, 150]);
}

/// h0 and h1 send to h3 while h2's worm holds the output until both wait.
fn two_wait(arbitration: Arbitration) -> Vec<usize> {
    let mut plan = quiet_plan(row(1, &[0, 0, 0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.arbitration = arbitration);
    scheduled(&mut plan, 2, 3, &[(0, 20)]);
    scheduled(&mut plan, 0, 3, &[(50, 5), (100, 5)]);
    scheduled(&mut plan, 1, 3, &[(50, 5), (100, 5)]);
    plan.classes[2].priority = level(3);
    deliveries(plan, 5).iter().map(|delivery| delivery.message.source.index()).collect()
}

#[test]
fn switch_uses_priorities_only_with_strict_priority() {
    // h2: header whole at 35, tail gone at 335. h0 (port 1) and h1 (port 2) wait; the search goes
    // on behind port 3, and wraps to h0. The second message of a host is read when the first has
    // left, in time for the next turn.
    assert_eq!(two_wait(Arbitration::RoundRobin), [2, 0, 1, 0, 1]);
    // h1 is of level 3: the header of its second message is read when the first has left, and
    // granted ahead of h0.
    assert_eq!(two_wait(Arbitration::StrictPriority), [2, 1, 1, 0, 0]);
}

#[test]
fn worm_in_transmission_is_not_interrupted() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.arbitration = Arbitration::StrictPriority);
    scheduled(&mut plan, 0, 2, &[(0, 50)]);
    scheduled(&mut plan, 1, 2, &[(100, 5)]);
    plan.classes[1].priority = level(7);
    // h0: header whole at 35, leaves at 135, tail gone at 635. h1: header whole at 135, leaves at
    // 735, whole at 770, tail at 810.
    let found: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(found, [(0, 0, 170, 660), (1, 100, 770, 810)]);
}

#[test]
fn backlogged_class_creates_at_the_first_segment_start() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    backlogged(&mut plan, 0, 1, 10);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(5);
    let found = deliveries(plan, 3);
    let created: Vec<_> = found.iter().map(|d| d.message.created.as_ps()).collect();
    let entered: Vec<_> = found.iter().map(|d| d.entered.as_ps()).collect();
    // The switch takes 5 flits every 150 ps, and 10 come in 100: the 17th arrives at 245, STOP is
    // received at 280. Until then two segments take 100 ps.
    assert_eq!((created, entered), (vec![0, 0, 100], vec![0, 100, 200]));
}
