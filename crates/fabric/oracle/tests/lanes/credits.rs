//! Credits: exhaustion, return, and waits for all of them.

use crate::common::{cable_flit, channel, deliveries, row, stop_at, story};
use crate::packets::by_message;
use crate::{lane_plan, lanes, packets, start};
use gingham_kernel::Time;
use gingham_net::{Crossbar, Plan, Reallocation};
use gingham_topology::routing::LaneSet;
use std::sync::Arc;

#[test]
fn shallow_lane_carries_its_depth_per_round_trip() {
    // A flit on the cable at t is there at t + 4, crosses at t + 5, and its credit counts at t + 5
    // + 1 + D = t + 9: with D = 3 three credits carry three flits in 2 D + 3 = 9 ticks.
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    lanes(&mut plan, |lanes| lanes.depths_flits[0] = 3);
    packets(&mut plan, 0, 1, &[(0, 40)]);
    // Flits 0, 1, 2 cross at 7, 8, 9; credits count at 11, 12, 13, with the next three on the
    // cable: there at 15, 16, 17, they cross at 16, 17, 18. Flit 3 q + r crosses at 7 + 9 q + r:
    // the last, 3 x 13 + 0, at 7 + 117 = 124, on the link at 125: whole at 1,250 + 35.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 115, 1285));
}

#[test]
fn lane_as_deep_as_the_round_trip_carries_full_rate() {
    // Flit i crosses at 7 + i if it is on the cable at 2 + i. The first credit counts at 11: in
    // time for flit 9 = 2 D + 3. With a depth of 8 flit 8 is a tick late, and every eighth after it
    // once more: flit 39 four ticks.
    for (depth, late) in [(9, 0), (8, 4)] {
        let mut plan = lane_plan(row(2, &[0, 1]), 1);
        lanes(&mut plan, |lanes| lanes.depths_flits[0] = depth);
        packets(&mut plan, 0, 1, &[(0, 40)]);
        // The head is on the last cable at 16.
        let delivered = (16 + 39 + late) * 10 + 35;
        assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 195, delivered));
    }
}

#[test]
fn virtual_cut_through_waits_for_credits_of_whole_packet() {
    let mut plan = lane_plan(row(2, &[0, 1]), 1);
    lanes(&mut plan, |lanes| lanes.cut_through = LaneSet::one(0));
    packets(&mut plan, 0, 1, &[(0, 8), (0, 8)]);
    // First: on the last cable from 16 to 23: whole at 195 and 265. Second: h0 has two of ten
    // credits left, and 8 at 16, as those of the first count from 11 on. It requests at s0 at 22,
    // with two credits left there, and 8 at 24, counting from 15 + 4 = 19 on. Granted then, it is
    // on the last cable at 34: whole at 375, its tail 7 ticks later.
    assert_eq!(by_message(plan, 2), [(0, 0, 195, 265), (0, 160, 375, 445)]);
}

#[test]
fn credits_are_promised_once() {
    // h0 and h1 send four flits each to h2 over s0 and s1, on one lane of six places.
    let mut plan = lane_plan(row(2, &[0, 0, 1]), 1);
    lanes(&mut plan, |lanes| {
        lanes.cut_through = LaneSet::one(0);
        lanes.depths_flits[0] = 6;
    });
    packets(&mut plan, 0, 2, &[(0, 4)]);
    packets(&mut plan, 1, 2, &[(0, 4)]);
    // The first is on the last cable from 16 to 19. At 10 its tail releases the output; three
    // credits are taken and one is promised: two of six are left. It crosses s1 from 15 on, credits
    // count from 19 on: 3 at 19, 4 at 20. The second is granted the lane then, on the last cable at
    // 30.
    assert_eq!(by_message(plan, 2), [(0, 0, 195, 225), (1, 0, 335, 365)]);
}

#[test]
fn full_output_lane_blocks_the_crossbar() {
    // The output lane holds two flits, and the cable behind it takes 50 ps a flit.
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    lanes(&mut plan, |lanes| lanes.output_depths_flits[0] = 2);
    let out = channel(&plan.fabric, "s0", "h1");
    cable_flit(&mut plan, out, 50);
    packets(&mut plan, 0, 1, &[(0, 12)]);
    let mut simulation = start(Arc::new(plan));
    while simulation.now() < Time::from_ps(200) {
        simulation.advance(1);
        simulation.assert_invariants();
    }
    // On the link at 8, 13 (at 12 it is free at 130, not before), 18, 23, ...: flit k begins at 80
    // + 50 k.
    simulation.advance(u64::MAX);
    let found = simulation.take_messages();
    assert_eq!(story(&found[0]), (0, 0, 80 + 50 + 25, 80 + 11 * 50 + 50 + 25));
}

#[test]
fn unbuffered_output_takes_the_credit_at_the_crossing() {
    // Lanes of three flits over two switches. Flits 0, 1, 2 cross s0 at 7, 8, 9, s1 at 15, 16, 17;
    // credits count at s0 at 19, 20, 21. Flits 3, 4, 5, sent at 11, 12, 13 with h0's credits, are
    // there at s0 at 15, 16, 17.
    let story_of = |output_depth: u32| {
        let mut plan = lane_plan(row(2, &[0, 1]), 1);
        lanes(&mut plan, |lanes| {
            lanes.depths_flits[0] = 3;
            lanes.output_depths_flits = [output_depth; 16];
        });
        packets(&mut plan, 0, 1, &[(0, 7)]);
        story(&deliveries(plan, 1)[0])
    };
    // They cross s0 at 19, 20, 21, s1 at 25, 26, 27. Flit 6: sent at 19 + 4 = 23, there at 27,
    // crosses at 29 with the credit of flit 3, s1 at 35: on the last cable at 36.
    assert_eq!(story_of(0), (0, 0, 195, 395));
    // With a buffer they cross s0 at 16, 17, 18, are on the link at 19, and cross s1 at 24. Flit 6:
    // sent at 20, crosses s0 at 25, on the link at 28, on the last at 34.
    assert_eq!(story_of(3), (0, 0, 195, 375));
}

#[test]
fn lane_buffer_occupancy_is_counted() {
    let mut plan = lane_plan(row(1, &[0, 0]), 2);
    packets(&mut plan, 0, 1, &[(0, 3)]);
    plan.stop = stop_at(1_000);
    let into = channel(&plan.fabric, "h0", "s0");
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let counts = simulation.channel_counts();
    // There at 40, 50, 60, crossed at 70, 80, 90: 30 ps each.
    assert_eq!(counts[into.index()].occupancy_flit_ps, 90);
    assert_eq!(counts[into.index()].data_flits, 3);
    assert_eq!((counts[into.index()].stops, counts[into.index()].stopped_ps), (0, 0));
    // The tail is whole at 135, in the section of 16 ps that ends at 144.
    let report = simulation.collector().report();
    assert_eq!(report.window().end, Time::from_ps(144));
    let measured = report.channel(into).unwrap();
    assert!((measured.occupancy_flits.unwrap().mean - 90.0 / 144.0).abs() < 1e-12);
    let total: u64 = counts.iter().map(|count| count.data_flits).sum();
    assert_eq!(total, 6);
}

#[test]
fn flit_counts_from_its_start() {
    // 14 ps a flit: the second begins at 14, taken at tick 1, the third at 28, taken at tick 2.
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    let out = channel(&plan.fabric, "h0", "s0");
    cable_flit(&mut plan, out, 14);
    packets(&mut plan, 0, 1, &[(0, 3)]);
    let begun_by = |ps| {
        let mut simulation = start(Arc::new(Plan { stop: stop_at(ps), ..plan.clone() }));
        simulation.advance(u64::MAX);
        simulation.channel_counts()[out.index()].data_flits
    };
    assert_eq!([1, 13, 14, 27, 28].map(begun_by), [1, 1, 2, 2, 3]);
}

/// Time up to `ps` that each channel waited for credits, in ps.
fn waits<const N: usize>(plan: &Plan, ps: u64, ends: [(&str, &str); N]) -> [u64; N] {
    let plan = Plan { stop: stop_at(ps), ..plan.clone() };
    let channels = ends.map(|(from, to)| channel(&plan.fabric, from, to));
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    simulation.assert_invariants();
    let counts = simulation.channel_counts();
    channels.map(|channel| counts[channel.index()].stopped_ps)
}

/// From host 0 to host 1 over two switches.
const CHAIN: [(&str, &str); 3] = [("h0", "s0"), ("s0", "s1"), ("s1", "h1")];

#[test]
fn credit_wait_starts_at_the_first_tick_without_credit() {
    // As in `shallow_lane_carries_its_depth_per_round_trip`: on the cable at 0, 1, 2, at 11, 12, 13
    // and so on, the last at 11 + 12 x 9. The host waits for 8 ticks, and 12 times for 6.
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    lanes(&mut plan, |lanes| lanes.depths_flits[0] = 3);
    packets(&mut plan, 0, 1, &[(0, 40)]);
    let waits = |ps| waits(&plan, ps, [("h0", "s0"), ("s0", "h1")]);
    assert_eq!(waits(30), [0, 0]);
    assert_eq!(waits(37), [7, 0]);
    assert_eq!(waits(110), [80, 0]);
    assert_eq!(waits(141), [81, 0]);
    assert_eq!(waits(5_000), [(8 + 12 * 6) * 10, 0]);
}

#[test]
fn host_waits_for_credits_between_packets() {
    // With a depth of one the second packet of one flit waits for a credit from 1 to 10.
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    lanes(&mut plan, |lanes| lanes.depths_flits[0] = 1);
    packets(&mut plan, 0, 1, &[(0, 1), (0, 1)]);
    assert_eq!(waits(&plan, 5_000, [("h0", "s0"), ("s0", "h1")]), [100, 0]);
    // Created at 54, it waits from tick 6 on.
    plan.classes.clear();
    packets(&mut plan, 0, 1, &[(0, 1), (54, 1)]);
    assert_eq!(waits(&plan, 5_000, [("h0", "s0"), ("s0", "h1")]), [50, 0]);
}

#[test]
fn switch_waits_for_credits_of_queued_flits() {
    // As in `unbuffered_output_takes_the_credit_at_the_crossing`.
    let waits = |output_depth: u32| {
        let mut plan = lane_plan(row(2, &[0, 1]), 1);
        lanes(&mut plan, |lanes| {
            lanes.depths_flits[0] = 3;
            lanes.output_depths_flits = [output_depth; 16];
        });
        packets(&mut plan, 0, 1, &[(0, 7)]);
        waits(&plan, 5_000, CHAIN)
    };
    // With a buffer flits 3 and 6 cross s0 at 16 and 25, and could be on the link at 17 and 26:
    // they are at 19 and 28. h0 sends at 0, 1, 2, 11, 12, 13, 20.
    assert_eq!(waits(3), [(8 + 6) * 10, (2 + 2) * 10, 0]);
    // Without one they could cross at 16 and 28, on the link at 17 and 29: they are at 20 and 30.
    // h0 sends the last at 23.
    assert_eq!(waits(0), [(8 + 9) * 10, (3 + 1) * 10, 0]);
}

#[test]
fn switch_waits_for_credits_needed_for_a_lane_grant() {
    let waits = |flits, change: &dyn Fn(&mut gingham_net::PipelinePlan)| {
        let mut plan = lane_plan(row(2, &[0, 1]), 1);
        lanes(&mut plan, change);
        packets(&mut plan, 0, 1, &[(0, flits), (0, flits)]);
        waits(&plan, 5_000, CHAIN)
    };
    // As in `virtual_cut_through_waits_for_credits_of_whole_packet`: h0 sends from 0 to 7, and from
    // 16 on; the head could be granted its lane at 22, and is at 24.
    let cut_through = waits(8, &|lanes| lanes.cut_through = LaneSet::one(0));
    assert_eq!(cut_through, [8 * 10, 2 * 10, 0]);
    // Two flits: credits count at h0 at 11 and 12, when the second packet begins: there at 16, it
    // could be granted the lane at 18. The first crosses s1 at 15 and 16: s0 has all credits at 20.
    let tail_credit = waits(2, &|lanes| lanes.reallocation = Reallocation::TailCredit);
    assert_eq!(tail_credit, [10 * 10, 2 * 10, 0]);
    // Reallocation after the tail needs no credits.
    assert_eq!(waits(2, &|lanes| lanes.reallocation = Reallocation::AfterTail), [0; 3]);
}

#[test]
fn slow_channel_waits_only_when_free() {
    // 14 ps a flit: the first leaves at 14, there at tick 4, crosses at 7; its credit counts at 11.
    let mut plan = lane_plan(row(1, &[0, 0]), 1);
    let out = channel(&plan.fabric, "h0", "s0");
    cable_flit(&mut plan, out, 14);
    lanes(&mut plan, |lanes| lanes.depths_flits[0] = 1);
    packets(&mut plan, 0, 1, &[(0, 2)]);
    let waits = |ps| waits(&plan, ps, [("h0", "s0")]);
    assert_eq!([14, 17, 5_000].map(waits), [[0], [3], [110 - 14]]);
}

#[test]
fn lost_arbitration_is_not_a_credit_wait() {
    // Two hosts wait for each other's tails on one lane; on two they take turns at the crossbar, or
    // at the link.
    for (count, crossbar) in
        [(1, Crossbar::Multiplexed), (2, Crossbar::Multiplexed), (2, Crossbar::Full)]
    {
        let mut plan = lane_plan(row(2, &[0, 0, 1]), count);
        lanes(&mut plan, |lanes| lanes.crossbar = crossbar);
        packets(&mut plan, 0, 2, &[(0, 4)]);
        packets(&mut plan, 1, 2, &[(0, 4)]);
        let ends = [("h0", "s0"), ("h1", "s0"), ("s0", "s1"), ("s1", "h2")];
        assert_eq!(waits(&plan, 5_000, ends), [0; 4]);
    }
}
