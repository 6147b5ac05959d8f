//! The pool of an in-transit host, and packets that do not fit into it.

use super::common::{along, deliveries, in_transit, scheduled, spilling, story, wormhole};
use super::{DETECTION, PROGRAMMING, measured, over_h1};
use gingham_net::Plan;

/// A worm of 5, and one from h3 behind it: at h1 from 170, and from 320 on.
fn two_of_five(programming: u64, pool_bytes: u64) -> Plan {
    let mut plan = over_h1();
    in_transit(&mut plan, [DETECTION, programming, pool_bytes]);
    spilling(&mut plan, [1_000, 3]);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    plan
}

#[test]
fn worm_larger_than_the_pool_spills() {
    let mut plan = over_h1();
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    spilling(&mut plan, [1_000, 3]);
    in_transit(&mut plan, [DETECTION, PROGRAMMING, 5]);
    assert_eq!(story(&deliveries(plan.clone(), 1)[0]), (0, 0, 440, 480));
    assert_eq!(measured(plan.clone(), 1).pool_peak_bytes, 5);
    in_transit(&mut plan, [DETECTION, PROGRAMMING, 4]);
    // Tail at h1 at 210; ready 1,000 and 2 x 5 x 3 later, at 1,240: at h2 from 1,410 to 1,450.
    assert_eq!(story(&deliveries(plan.clone(), 1)[0]), (0, 0, 1_410, 1_450));
    let measured = measured(plan, 1);
    assert_eq!((measured.reinjected_packets, measured.spilled_packets), (1, 1));
    assert_eq!((measured.wait_mean_ps, measured.pool_peak_bytes), (Some(0.0), 0));
}

#[test]
fn in_transit_mark_needs_no_pool_space() {
    let mut plan = over_h1();
    wormhole(&mut plan, |wormhole| {
        wormhole.route_bytes = true;
        wormhole.mark_bytes = 2;
    });
    // A route byte for s0, a mark of two, a route byte for s0 and 5: six are sent on.
    in_transit(&mut plan, [DETECTION, PROGRAMMING, 6]);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    let measured = measured(plan, 1);
    assert_eq!((measured.spilled_packets, measured.pool_peak_bytes), (0, 6));
}

#[test]
fn spilled_worm_is_ready_after_detection_and_programming() {
    let mut plan = over_h1();
    spilling(&mut plan, [0, 0]);
    in_transit(&mut plan, [300, 400, 4]);
    scheduled(&mut plan, 0, 2, &[(0, 5)]);
    // Whole at 210, but ready at 170 + 700 = 870: at h2 from 1,040 to 1,080.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 1_040, 1_080));
}

#[test]
fn freed_pool_space_is_available_at_the_same_instant() {
    // The first leaves from 270 to 320, when the second's head arrives: ready at 420, at h2 from
    // 590 to 630.
    let stories = |plan| deliveries(plan, 2).iter().map(story).collect::<Vec<_>>();
    let plan = two_of_five(PROGRAMMING, 5);
    assert_eq!(stories(plan.clone()), [(0, 0, 440, 480), (3, 0, 590, 630)]);
    assert_eq!(measured(plan, 1).spilled_packets, 0);
    // A picosecond later there is no space. Whole at 360, the second is ready 1,030 later, at
    // 1,390: at h2 from 1,560 to 1,600.
    let plan = two_of_five(PROGRAMMING + 1, 5);
    assert_eq!(stories(plan.clone()), [(0, 0, 441, 481), (3, 0, 1_560, 1_600)]);
    assert_eq!(measured(plan, 1).spilled_packets, 1);
}

#[test]
fn fitting_worm_overtakes_a_spilled_one() {
    let mut plan = over_h1();
    in_transit(&mut plan, [DETECTION, PROGRAMMING, 5]);
    spilling(&mut plan, [1_000, 3]);
    scheduled(&mut plan, 0, 2, &[(0, 8)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    // The 8: at h1 from 170 to 240, ready at 240 + 1,000 + 48 = 1,288. The 5: behind them at s0,
    // gone at 215: at h1 at 350, ready at 450, at h2 from 620 to 660.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(3, 0, 620, 660), (0, 0, 1_458, 1_528)]);
}

#[test]
fn waiting_worms_leave_in_order_of_readiness() {
    let mut plan = over_h1();
    in_transit(&mut plan, [DETECTION, PROGRAMMING, 5]);
    spilling(&mut plan, [1_000, 3]);
    scheduled(&mut plan, 0, 2, &[(0, 8)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    scheduled(&mut plan, 1, 3, &[(400, 100)]);
    // As before, but h1's own has the cable from 400 to 1,400; then the 5, ready at 450, until
    // 1,450, and the 8, ready at 1,288. Off s0: h1's own at 535 to 1,535, the 5 at 1,635 to 1,685,
    // the 8 at 1,785 to 1,865.
    let stories: Vec<_> = deliveries(plan.clone(), 3).iter().map(story).collect();
    let expected = [(1, 400, 570, 1_560), (3, 0, 1_670, 1_710), (0, 0, 1_820, 1_890)];
    assert_eq!(stories, expected);
    // 1,400 - 450 and 1,450 - 1,288.
    assert_eq!(measured(plan, 1).wait_mean_ps, Some(f64::midpoint(950.0, 162.0)));
}

#[test]
fn worms_ready_together_leave_in_arrival_order() {
    let mut plan = over_h1();
    along(&mut plan, &[&["s0", "h1", "s0", "h2"], &["s0", "h1", "s0", "h3"]]);
    in_transit(&mut plan, [DETECTION, PROGRAMMING, 5]);
    // The 8, ready at 240 + 162 + 48 = 450 like the 5 behind them.
    spilling(&mut plan, [162, 3]);
    scheduled(&mut plan, 0, 2, &[(0, 8)]);
    scheduled(&mut plan, 3, 2, &[(0, 5)]);
    // The 8: leave h1 from 450 to 530, at h2 from 620 to 690. The 5: read at s0 at 665, at h2 from
    // 800 to 840.
    let stories: Vec<_> = deliveries(plan.clone(), 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 620, 690), (3, 0, 800, 840)]);
    // The 5 waited for 80.
    assert_eq!(measured(plan, 1).wait_mean_ps, Some(40.0));
}
