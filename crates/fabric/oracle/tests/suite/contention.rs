//! Two worms for one output, and turns at an output.

use crate::common::{backlogged, deliveries, quiet_plan, row, stop_at, story, wormhole};
use gingham_kernel::{Span, Time};
use gingham_net::{ClassId, Status};
use gingham_oracle::start;
use std::sync::Arc;

#[test]
fn second_worm_waits_for_first_tail_and_its_own_setup() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    backlogged(&mut plan, 0, 2, 5);
    backlogged(&mut plan, 1, 2, 3);
    // Both headers are whole at 35. Port 1 (h0): flits leave at 135 to 175, the tail is gone at
    // 185. Port 2 (h1): leaves at 285, 295, 305, whole at 320 to 340.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 170, 210), (1, 0, 320, 340)]);
}

#[test]
fn routing_delay_overlaps_the_worm_in_front() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    wormhole(&mut plan, |wormhole| {
        wormhole.routing_delay = Span::from_ps(100);
        wormhole.setup_delay = Span::ZERO;
    });
    backlogged(&mut plan, 0, 2, 5);
    backlogged(&mut plan, 1, 2, 3);
    // Both are decoded at 135; h1 starts when h0's tail is gone, at 185.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 170, 210), (1, 0, 220, 240)]);
}

#[test]
fn turns_alternate_regardless_of_length() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    backlogged(&mut plan, 0, 2, 50);
    backlogged(&mut plan, 1, 2, 5);
    let sources: Vec<_> = deliveries(plan, 20).iter().map(|d| d.message.source.index()).collect();
    let expected: Vec<_> = (0..20).map(|turn| turn % 2).collect();
    assert_eq!(sources, expected);
}

#[test]
fn link_shares_are_proportional_to_worm_lengths() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    wormhole(&mut plan, |wormhole| {
        wormhole.routing_delay = Span::from_ps(100);
        wormhole.setup_delay = Span::ZERO;
    });
    backlogged(&mut plan, 0, 2, 1_000);
    backlogged(&mut plan, 1, 2, 100);
    plan.stop = stop_at(20_480_000);
    plan.stop.warm_up = Some(Time::from_ps(1_000_000));
    let mut simulation = start(Arc::new(plan));
    assert_eq!(*simulation.advance(u64::MAX), Status::Ended);
    let measured = simulation.collector().report();
    let bytes = [0, 1].map(|class| measured.class(ClassId::new(class)).delivered.bytes);
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    let ratio = bytes[0] as f64 / bytes[1] as f64;
    assert!((ratio - 10.0).abs() < 0.1, "payload shares {bytes:?}");
    // The window begins with the fifth section of 20.48 us / 64. The link is never idle: 19.2 us
    // hold 1,920,000 flits of 10 ps, up to the worm at each end of the window.
    assert_eq!(measured.window().start, Time::from_ps(1_280_000));
    assert!((bytes[0] + bytes[1]).abs_diff(1_920_000) <= 1_100, "payload {bytes:?}");
}

#[test]
fn each_worm_of_a_host_waits_for_its_own_setup() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    backlogged(&mut plan, 0, 1, 5);
    // Second worm: enters at 50, header whole at 85; the first tail is gone at 185; leaves at 285:
    // whole at 320, tail at 360.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 170, 210), (0, 50, 320, 360)]);
}
