//! STOP and GO: in time, inside runs of data, and crossing each other.

use crate::common::{
    SLACK, backlogged, cable_flit, channel, deliveries, quiet_plan, row, stop_at, story, wormhole,
};
use gingham_kernel::{Span, Time};
use gingham_net::SlackBuffer;
use gingham_net::Status;
use gingham_oracle::{Simulation, start};
use gingham_topology::Fabric;
use std::sync::Arc;

#[test]
fn stop_halts_and_go_resumes_the_sender() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    backlogged(&mut plan, 0, 2, 200);
    backlogged(&mut plan, 1, 2, 60);
    let mut simulation = start(Arc::new(plan));
    let waiting = channel(&simulation.plan().fabric, "h1", "s0");
    // h0 holds the output from 35 on; its 200 flits leave at 135 to 2,125. h1's flits arrive at 35,
    // 45, ...; the 17th, at 195, passes the mark. STOP starts at once (the other way is idle),
    // whole at h1 at 195 + 35 = 230. The flit of 220 is the last of 23.
    run_until(&mut *simulation, 229);
    assert_eq!(simulation.channel_counts()[waiting.index()].stops, 0);
    run_until(&mut *simulation, 2_000);
    let count = simulation.channel_counts()[waiting.index()];
    assert_eq!((count.data_flits, count.stops), (23, 1));
    // Flit k has been in the buffer since 35 + 10 k: 23 x 2,000 - 23 x 35 - 10 x 253.
    assert_eq!(count.occupancy_flit_ps, 42_665);
    // h0's tail is gone at 2,135; h1's flits leave from 2,235 on, every 10. The fill falls below 8
    // with the 16th, at 2,385; GO is whole at h1 at 2,420, and flit 23 starts: whole at 2,455, when
    // the last in the buffer leaves, 2,235 + 22 x 10.
    run_until(&mut *simulation, 2_419);
    assert_eq!(simulation.channel_counts()[waiting.index()].data_flits, 23);
    run_until(&mut *simulation, 2_420);
    assert_eq!(simulation.channel_counts()[waiting.index()].data_flits, 24);
    assert_eq!(simulation.channel_counts()[waiting.index()].stopped_ps, 2_420 - 230);
}

#[test]
fn go_mark_at_the_headroom_leaves_no_bubble() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    backlogged(&mut plan, 0, 2, 200);
    backlogged(&mut plan, 1, 2, 60);
    // 60 flits without a gap from 2,235 on: the last starts at 2,825, whole at 2,860.
    let stories: Vec<_> = deliveries(plan, 2).iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 170, 2_160), (1, 0, 2_270, 2_860)]);
}

#[test]
fn control_flit_is_inserted_into_data() {
    // STOP for h1 travels among the data of h2 to h1.
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    backlogged(&mut plan, 0, 2, 200);
    backlogged(&mut plan, 1, 2, 60);
    backlogged(&mut plan, 2, 1, 30);
    // The worm to h1 leaves the switch at 135, 145, ... The 17th flit of h1 arrives at 195: the
    // data flit of 195 starts first, STOP takes 205, data goes on at 215. Its 30 flits start at 135
    // to 195 (7) and 215 to 435 (23): the last is whole at 470, one flit late.
    let mut simulation = start(Arc::new(plan));
    run_until(&mut *simulation, 1_000);
    let back = simulation.take_messages();
    assert_eq!(story(&back[0]), (2, 0, 170, 470));
    // STOP is whole at 205 + 35 = 240: h1's flit of 230 is the last, the 24th.
    let waiting = channel(&simulation.plan().fabric, "h1", "s0");
    assert_eq!(simulation.channel_counts()[waiting.index()].data_flits, 24);
}

#[test]
fn slow_input_cable_limits_the_output_rate() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    let slow = channel(&plan.fabric, "h0", "s0");
    cable_flit(&mut plan, slow, 60);
    backlogged(&mut plan, 0, 1, 6);
    // Whole at the switch: 85, 145, 205, 265, 325, 385. The first leaves at 185, the second at 195,
    // then each as it arrives: 385 + 10 + 25.
    assert_eq!(story(&deliveries(plan, 1)[0]), (0, 0, 220, 420));
}

#[test]
fn stop_throttles_a_fast_cable_into_a_slow_one() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_flit(&mut plan, slow, 60);
    backlogged(&mut plan, 0, 1, 300);
    let into = channel(&plan.fabric, "h0", "s0");
    let mut simulation = start(Arc::new(plan));
    run_until(&mut *simulation, 20_000);
    let delivered = simulation.take_messages();
    // The output never runs dry: 300 flits of 60 from 135 on, whole at 135 + 18,000 + 25.
    assert_eq!(story(&delivered[0]), (0, 0, 220, 18_160));
    let count = simulation.channel_counts()[into.index()];
    // Between marks 16 and 8 a cycle drains at least 9 flits; 17 come in before the first STOP.
    assert!((10..=40).contains(&count.stops), "{count:?}");
}

#[test]
fn stop_and_go_overlap_on_the_wire() {
    // The cable of h1 is slow (30 a flit) and long (500): the output drains faster than it fills,
    // and GO leaves before STOP has arrived.
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    let long = channel(&plan.fabric, "h1", "s0");
    cable_flit(&mut plan, long, 30);
    for side in [long, Fabric::reverse(long)] {
        let channel = &mut plan.channels[side.index()];
        channel.delay = Span::from_ps(500);
        channel.slack = channel.slack.map(|_| SlackBuffer { capacity: 60, stop: 16, go: 16 });
    }
    wormhole(&mut plan, |wormhole| wormhole.setup_delay = Span::ZERO);
    backlogged(&mut plan, 0, 2, 100);
    backlogged(&mut plan, 1, 2, 400);
    let mut simulation = start(Arc::new(plan));
    let count = |simulation: &dyn Simulation| simulation.channel_counts()[long.index()];
    // h0 holds the output from 35 to 1,035. h1's flit k is whole at 530 + 30 k; the 17th, at 1,010,
    // passes the mark: STOP is on the wire from 1,010 to 1,540. From 1,035 on a flit leaves every
    // 10, one comes every 30: fill 16 at 1,035, 17 at 1,040, 16 at 1,045, 15 at 1,055: GO is on the
    // wire from 1,055 to 1,585.
    run_until(&mut *simulation, 1_539);
    assert_eq!(count(&*simulation).stops, 0);
    // Flits 0 to 51 start at 0, 30, ..., 1,530; the next with GO, not at 1,560.
    run_until(&mut *simulation, 1_584);
    assert_eq!((count(&*simulation).stops, count(&*simulation).data_flits), (1, 52));
    run_until(&mut *simulation, 1_585);
    assert_eq!((count(&*simulation).stopped_ps, count(&*simulation).data_flits), (45, 53));
    run_until(&mut *simulation, 1_615);
    assert_eq!((count(&*simulation).stops, count(&*simulation).data_flits), (1, 54));
}

#[test]
fn tightest_allowed_marks_never_overflow() {
    // The rule at its bound, for a range of cables; data in both directions makes control flits
    // wait.
    for (flit, delay) in [(10, 0), (10, 1), (10, 5), (10, 25), (7, 100), (13, 333)] {
        let headroom = SlackBuffer::headroom(Span::from_ps(flit), Span::from_ps(delay));
        let mut plan = quiet_plan(row(2, &[0, 0, 1, 1]));
        for channel in &mut plan.channels {
            channel.flit = Span::from_ps(flit);
            channel.delay = Span::from_ps(delay);
            let slack = SlackBuffer { capacity: 5 + headroom, stop: 5, go: 2 };
            channel.slack = channel.slack.map(|_| slack);
        }
        for (from, to) in [(0, 2), (1, 2), (2, 0), (3, 0), (0, 3), (3, 1)] {
            backlogged(&mut plan, from, to, 37);
        }
        plan.stop = stop_at(100_000);
        let mut simulation = start(Arc::new(plan));
        assert_eq!(*simulation.advance(u64::MAX), Status::Ended);
        simulation.assert_invariants();
        let stops: u64 = simulation.channel_counts().iter().map(|count| count.stops).sum();
        assert!(stops > 10, "flow control must have worked: {stops} stops");
    }
    assert_eq!(
        SLACK.capacity - SLACK.stop,
        SlackBuffer::headroom(Span::from_ps(10), Span::from_ps(25))
    );
}

fn run_until(simulation: &mut dyn Simulation, ps: u64) {
    while simulation.next_time().is_some_and(|time| time <= Time::from_ps(ps)) {
        simulation.advance(1);
        simulation.assert_invariants();
    }
}
