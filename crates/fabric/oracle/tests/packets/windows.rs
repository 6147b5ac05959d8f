//! Flows with a window, backlogged classes, and notices.

use crate::common::packets::{packets_plan, sends, window};
use crate::common::{backlogged, chain, deliveries, story};
use gingham_kernel::{Bytes, Span, Time};
use gingham_net::{
    Acknowledged, Becn, Content, Dcqcn, Marking, Periodic, Plan, ProbePlan, REFILL_BYTES,
    RateLimitPlan, Response, Status, Threshold,
};
use gingham_oracle::start;
use std::num::NonZeroU64;
use std::sync::Arc;

#[test]
fn lone_flow_sends_one_window_per_round_trip() {
    // Data of 64 bytes take 2 x 25 + 100 + 640 = 790, acknowledgements of 20 bytes 350: a round
    // trip is 1,140. Without a window packets follow each other every 640.
    for (packets, expected) in [(1, [0, 1_140, 2_280, 3_420]), (2, [0, 640, 1_280, 1_920])] {
        let mut plan = packets_plan(chain(1), 1);
        backlogged(&mut plan, 0, 1, 64);
        plan.classes[0].window = Some(window(packets, 20));
        let entered: Vec<_> = deliveries(plan, 4).iter().map(|found| story(found).1).collect();
        assert_eq!(entered, expected);
    }
}

#[test]
fn backlogged_class_creates_at_each_start() {
    let mut plan = packets_plan(chain(1), 1);
    backlogged(&mut plan, 0, 1, 64);
    let found = deliveries(plan, 3);
    let created: Vec<u64> = found.iter().map(|found| found.message.created.as_ps()).collect();
    assert_eq!(created, [0, 0, 640]);
    assert_eq!(story(&found[2]).1, 1_280);
}

#[test]
fn notices_come_at_their_instants() {
    let mut plan = packets_plan(chain(1), 1);
    sends(&mut plan, 0, 0, &[(0, 1, 10), (0, 1, 10)]);
    plan.probe =
        Some(ProbePlan { control_every: 0, control_bytes: 1, divert_every: 0, weigh_every: 0 });
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let noted = simulation.endpoints().noted();
    let found: Vec<_> =
        noted.iter().map(|noted| (noted.time.as_ps(), noted.what, noted.waiting_flits)).collect();
    let expected = [
        (0, "created", 0),
        (0, "created", 0),
        (0, "began", 0),
        (100, "left", 0),
        (100, "began", 0),
        // The second is there at 125, when the head of the first is read.
        (125, "read", 20),
        (125, "queued", 10),
        (125, "forwarded", 10),
        (125, "settled", 10),
        (200, "left", 0),
        // The tail of the first has just left.
        (225, "read", 10),
        (225, "queued", 10),
        (225, "forwarded", 10),
        (225, "settled", 10),
        // From 125 until 225, and 25 on the cable; the other 100 later.
        (250, "received", 0),
        (350, "received", 0),
    ];
    assert_eq!(found, expected);
}

#[test]
fn threshold_counts_all_bytes_of_arrived_packets() {
    // 20 bytes stand there for the first, 10 for the second.
    let mut plan = packets_plan(chain(1), 1);
    sends(&mut plan, 0, 0, &[(0, 1, 10), (0, 1, 10)]);
    plan.marking = Some(Marking::Threshold(Threshold { above: Bytes(19) }));
    plan.probe =
        Some(ProbePlan { control_every: 0, control_bytes: 1, divert_every: 0, weigh_every: 0 });
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    let received = simulation.endpoints().noted().iter().filter(|noted| noted.what == "received");
    let marks: Vec<_> = received.map(|noted| (noted.time, noted.packet.unwrap().mark)).collect();
    assert_eq!(marks, [(Time::from_ps(250), true), (Time::from_ps(350), false)]);
}

#[test]
fn ack_for_two_packets_follows_the_second() {
    // The second is there at 640 + 790, its acknowledgement 350 later.
    for (packets, expected) in [(2, [0, 640, 1_780, 2_420]), (3, [0, 640, 1_280, 1_920])] {
        let mut plan = packets_plan(chain(1), 1);
        backlogged(&mut plan, 0, 1, 64);
        let mut window = window(packets, 20);
        window.acknowledged = Acknowledged::Every(2);
        plan.classes[0].window = Some(window);
        let entered: Vec<_> = deliveries(plan, 4).iter().map(|found| story(found).1).collect();
        assert_eq!(entered, expected);
    }
}

/// Two distant packets, both marked and followed by a notice.
fn notified(response: Response) -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    sends(&mut plan, 0, 0, &[(0, 1, 64), (9_000, 1, 64)]);
    plan.marking = Some(Marking::Periodic(Periodic { every: NonZeroU64::MIN }));
    let mut window = window(u32::MAX, 20);
    (window.acknowledged, window.response) = (Acknowledged::Marked(Span::ZERO), response);
    plan.classes[0].window = Some(window);
    let refill = vec![Span::from_ps(10 * REFILL_BYTES); 2].into();
    plan.classes[0].rate_limit = Some(RateLimitPlan { refill });
    plan
}

#[test]
fn marked_packets_are_acknowledged_at_limited_rate() {
    let mut plan = notified(Response::default());
    plan.marking = Some(Marking::Periodic(Periodic { every: NonZeroU64::MIN }));
    plan.classes.clear();
    backlogged(&mut plan, 0, 1, 64);
    let mut window = window(u32::MAX, 20);
    window.acknowledged = Acknowledged::Marked(Span::from_ps(2_000));
    plan.classes[0].window = Some(window);
    plan.probe =
        Some(ProbePlan { control_every: 0, control_bytes: 1, divert_every: 0, weigh_every: 0 });
    let mut simulation = start(Arc::new(plan));
    while simulation.now() < Time::from_ps(5_000) {
        simulation.advance(1);
    }
    let noted = simulation.endpoints().noted().iter();
    let acks = noted.filter(|noted| {
        let content = noted.packet.map(|packet| packet.content);
        noted.what == "received" && content == Some(Content::Ack { packets: 1, marked: 1 })
    });
    let times: Vec<_> = acks.map(|noted| noted.time.as_ps()).collect();
    // One packet arrives at 790, and one every 640 ps: the first, and that of 3,350, are
    // acknowledged.
    assert_eq!(times[..2], [1_140, 3_700]);
}

#[test]
fn timers_alone_do_not_keep_a_run_alive() {
    let run = |response: Response| {
        let mut simulation = start(Arc::new(notified(response)));
        simulation.advance(u64::MAX);
        assert_eq!(*simulation.status(), Status::Finished);
        simulation.events()
    };
    // Packets far apart: timers make no difference.
    let fixed = run(Response::default());
    assert_eq!(run(Response::Becn(Becn::default())), fixed);
    assert_eq!(run(Response::Dcqcn(Dcqcn::default())), fixed);
}
