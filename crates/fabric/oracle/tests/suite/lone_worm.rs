//! A worm alone in the network takes the sum of its parts.

use crate::common::{
    DELAY, FLIT, SETUP, backlogged, channel, deliveries, quiet_plan, row, story, wormhole,
};
use gingham_kernel::{Span, Time};
use gingham_oracle::start;
use std::sync::Arc;

#[test]
fn worm_over_one_switch_without_route_bytes() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    backlogged(&mut plan, 0, 1, 5);
    // Flit 0: whole at the switch at 10 + 25 = 35, granted, leaves at 135, whole at h1 at 135 + 10
    // + 25 = 170. Flits 1 to 4 follow without a gap: 170 + 4 x 10 = 210.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 170, 210));
}

#[test]
fn worm_over_one_switch_consuming_the_route_byte() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.route_bytes = true);
    backlogged(&mut plan, 0, 1, 5);
    // The route byte, whole at 35, stays; flit 1 leaves at 135, the last of five at 175, whole at
    // 210: W f + 2 d + 100 = 60 + 50 + 100.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 170, 210));
}

#[test]
fn occupancy_integrates_the_buffer_fill() {
    // A flit arrives every 10 from 35 on: by 175 fifteen, for 140 + 130 + ... + 0 = 1,050 at the
    // most. Five leave from 135 to 175, and miss 40 + 30 + 20 + 10 + 0. A route byte misses all its
    // 140.
    for (route_bytes, expected) in [(false, 1_050 - 100), (true, 1_050 - 100 - 140)] {
        let mut plan = quiet_plan(row(1, &[0, 0]));
        wormhole(&mut plan, |wormhole| wormhole.route_bytes = route_bytes);
        backlogged(&mut plan, 0, 1, 5);
        let (into, out) = (channel(&plan.fabric, "h0", "s0"), channel(&plan.fabric, "s0", "h1"));
        let mut simulation = start(Arc::new(plan));
        while simulation.now() < Time::from_ps(175) {
            simulation.advance(1);
        }
        let counts = simulation.channel_counts();
        assert_eq!(counts[into.index()].occupancy_flit_ps, expected);
        assert_eq!(counts[out.index()].occupancy_flit_ps, 0, "a host consumes");
    }
}

#[test]
fn output_waits_for_the_byte_after_a_route_byte() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    wormhole(&mut plan, |wormhole| {
        wormhole.route_bytes = true;
        wormhole.setup_delay = Span::from_ps(4);
    });
    backlogged(&mut plan, 0, 1, 5);
    // The output is ready at 39, flit 1 whole at 45: five flits from 45 on.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 80, 120));
}

#[test]
fn any_row_of_switches_matches_the_formula() {
    for switches in 1..=6_u64 {
        for (route_bytes, routing, setup) in [(false, 0, SETUP), (true, 40, 60), (true, 100, 0)] {
            let last = usize::try_from(switches).unwrap() - 1;
            let mut plan = quiet_plan(row(last + 1, &[0, last]));
            wormhole(&mut plan, |wormhole| {
                wormhole.route_bytes = route_bytes;
                wormhole.routing_delay = Span::from_ps(routing);
                wormhole.setup_delay = Span::from_ps(setup);
                wormhole.overhead_bytes = 3;
            });
            backlogged(&mut plan, 0, 1, 40);
            let worm_flits = 43 + if route_bytes { switches } else { 0 };
            let held_flits = if route_bytes { 0 } else { switches };
            let expected = (worm_flits + held_flits) * FLIT
                + (switches + 1) * DELAY
                + switches * (routing + setup);
            let delivery = deliveries(plan, 1)[0];
            assert_eq!(delivery.network_latency().as_ps(), expected);
            let head = (switches + 1) * (FLIT + DELAY) + switches * (routing + setup);
            assert_eq!(delivery.head_latency().as_ps(), head);
            assert_eq!(u64::from(delivery.hops), switches);
        }
    }
}

#[test]
fn worms_on_one_cable_follow_without_gap() {
    let mut plan = quiet_plan(row(0, &[]));
    let fabric =
        gingham_topology::generate::Generator::TwoHosts(gingham_topology::generate::TwoHosts {
            switches: 0,
            rails: 1,
        })
        .generate(1)
        .unwrap();
    let classes = std::mem::take(&mut plan.classes);
    let mut plan = gingham_net::Plan { classes, ..quiet_plan(fabric) };
    backlogged(&mut plan, 0, 1, 7);
    // Seven flits and one delay; the next worm follows at once.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 35, 95), (0, 70, 105, 165)]);
}
