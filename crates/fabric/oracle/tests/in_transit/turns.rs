//! Order of worms at an in-transit host.

use super::common::{
    cable_flit, channel, deliveries, in_transit, scheduled, stop_at, story, wormhole,
};
use super::{DETECTION, POOL, PROGRAMMING, measured, over_h1};
use gingham_net::{Plan, Priority};

fn stories(plan: &Plan, count: usize) -> Vec<(usize, u64, u64, u64)> {
    deliveries(plan.clone(), count).iter().map(story).collect()
}

#[test]
fn begun_own_packet_is_not_interrupted() {
    let mut plan = over_h1();
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 1, 3, &[(200, 20)]);
    // h1's own 20: leave from 200 to 400, off s0 until 535, at h3 from 370 to 560. In transit:
    // ready at 270, leaves at 400, read at s0 at 535, at h2 from 670 to 710.
    assert_eq!(stories(&plan, 2), [(1, 200, 370, 560), (0, 0, 670, 710)]);
    let measured = measured(plan, 1);
    assert_eq!((measured.reinjected_packets, measured.wait_mean_ps), (1, Some(130.0)));
}

#[test]
fn in_transit_worms_precede_own_packets_of_any_priority() {
    let mut plan = over_h1();
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 1, 3, &[(200, 20)]);
    scheduled(&mut plan, 1, 3, &[(210, 5)]);
    plan.classes[2].priority = Priority::new(7).unwrap();
    // As before; h1's second waits until the worm in transit has left, at 450, is read at s0 at
    // 685, at h3 from 820 to 860.
    let expected = [(1, 200, 370, 560), (0, 0, 670, 710), (1, 450, 820, 860)];
    assert_eq!(stories(&plan, 3), expected);
}

#[test]
fn unready_worm_does_not_block_own_packets() {
    let mut plan = over_h1();
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    let mut tie = plan.clone();
    scheduled(&mut plan, 1, 3, &[(269, 5)]);
    // h1's own leaves a picosecond before the worm is ready, until 319: off s0 until 454, at h3
    // from 439 to 479. The worm leaves at 319, is read at 454, at h2 from 589 to 629.
    assert_eq!(stories(&plan, 2), [(1, 269, 439, 479), (0, 0, 589, 629)]);
    // The worm, just ready, leaves until 320, off s0 until 455. h1's own leaves at 320, is read at
    // 455, at h3 from 590 to 630.
    scheduled(&mut tie, 1, 3, &[(270, 5)]);
    assert_eq!(stories(&tie, 2), [(0, 0, 440, 480), (1, 320, 590, 630)]);
}

#[test]
fn in_transit_worms_leave_back_to_back_in_arrival_order() {
    let mut plan = over_h1();
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    scheduled(&mut plan, 1, 3, &[(200, 40)]);
    // Both request the output to h1 at 35. h0, at the lower port: at h1 at 170, ready at 270. h3:
    // behind its tail, gone at 185: at h1 at 320, ready at 420. h1's own keeps the cable from 200
    // to 600; the others leave at 600 and 650. Off s0: h1's own at 335 to 735, the first at 835 to
    // 885, the second at 985.
    let expected = [(1, 200, 370, 760), (0, 0, 870, 910), (3, 0, 1_020, 1_060)];
    assert_eq!(stories(&plan, 3), expected);
    let measured = measured(plan, 1);
    assert_eq!((measured.reinjected_packets, measured.pool_peak_bytes), (2, 10));
    // 600 - 270 and 650 - 420.
    assert_eq!(measured.wait_mean_ps, Some(280.0));
}

#[test]
fn bubbles_of_a_slow_feeder_stay_unfilled() {
    let mut plan = over_h1();
    in_transit(&mut plan, [10, 0, POOL]);
    let feeder = channel(&plan.fabric, "h0", "s0");
    cable_flit(&mut plan, feeder, 30);
    scheduled(&mut plan, 0, 2, &[(0, 10)]);
    scheduled(&mut plan, 1, 3, &[(255, 5)]);
    // Flit i is at s0 at 55 + 30 i, and off from 155 on: six at 155 to 205, then at 235, 265, 295,
    // 325. At h1 the first, at 190, is ready at 200: six leave at 200 to 250, the others as they
    // arrive, at 270, 300, 330, 360; h1's own, of 255, leaves at 370 only. Off s0: all ten at 335
    // to 435, at h2 from 370 to 460; h1's own, read at 435, at 535, at h3 from 570 to 610.
    assert_eq!(stories(&plan, 2), [(0, 0, 370, 460), (1, 370, 570, 610)]);
}

#[test]
fn worm_holds_the_cable_while_its_mark_arrives() {
    let mut plan = over_h1();
    in_transit(&mut plan, [0, 0, POOL]);
    wormhole(&mut plan, |wormhole| wormhole.mark_bytes = 3);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 1, 3, &[(180, 5)]);
    // Ready at 170, with the first flit of the mark at h1; the first behind the mark leaves at 200:
    // at s0 at 235, off until 385, at h2 from 370 to 410. h1's own has the cable at 250, is read at
    // s0 at 385, at h3 from 520 to 560.
    assert_eq!(stories(&plan, 2), [(0, 0, 370, 410), (1, 250, 520, 560)]);
    assert_eq!(measured(plan, 1).wait_mean_ps, Some(0.0));
}

#[test]
fn transit_counts_cover_only_the_window() {
    let mut plan = over_h1();
    let messages = [0, 2_000, 4_000, 6_000, 8_000].map(|created| (created, 5));
    scheduled(&mut plan, 0, 2, &messages);
    plan.stop = stop_at(10_000);
    assert_eq!(DETECTION + PROGRAMMING, 100, "sent on 270 after they began");
    assert_eq!(measured(plan.clone(), 1).reinjected_packets, 5);
    // A warm-up of half the run leaves the last two.
    plan.stop.warm_up = Some(gingham_kernel::Time::from_ps(5_000));
    assert_eq!(measured(plan, 1).reinjected_packets, 2);
}
