//! Messages that wait for messages.

use crate::common::lanes::lane_plan;
use crate::common::{DELAY, FLIT, SETUP, chain, quiet_plan, stop_at};
use crate::support::{Run, replying, run, scheduled_to, window};
use gingham_kernel::Time;
use gingham_net::{NetworkEvent, Plan, Status};
use gingham_topology::EndpointId;

fn request(mut plan: Plan, created: u64, [bytes, reply]: [u32; 2], think: u64) -> Run {
    scheduled_to(&mut plan, 0, &[(created, 1, bytes)]);
    replying(&mut plan, 1, 0, think, reply);
    plan.stop = stop_at(20_000);
    run(&plan)
}

#[test]
fn worm_request_and_reply_timing() {
    // Over one switch 8 bytes take (8 + 1) 10 + 150 = 240 ps and 20 bytes 360.
    let found = request(quiet_plan(chain(1)), 7, [8, 20], 0);
    assert_eq!(found.messages(0), [(7, 7, 247)]);
    assert_eq!(found.messages(1), [(247, 247, 607)]);
    let found = request(quiet_plan(chain(1)), 7, [8, 20], 1_000);
    assert_eq!(found.messages(1), [(1_247, 1_247, 1_607)]);
}

#[test]
fn lane_request_and_reply_timing() {
    // Two flits take 125 ps over one switch, three 135, each from a tick on.
    let found = request(lane_plan(chain(1), 2), 7, [32, 48], 0);
    assert_eq!(found.messages(0), [(7, 10, 135)]);
    assert_eq!(found.messages(1), [(135, 140, 275)]);
    let found = request(lane_plan(chain(1), 2), 7, [32, 48], 12);
    assert_eq!(found.messages(1), [(147, 150, 285)]);
    let found = request(lane_plan(chain(1), 2), 7, [32, 48], 15);
    assert_eq!(found.messages(1), [(150, 150, 285)]);
}

#[test]
fn reply_times_match_formula_for_any_path_and_think_time() {
    for (switches, think) in (0..4).flat_map(|n| [0, 1, 33, 500].map(|think| (n, think))) {
        for (bytes, reply) in [(1, 1), (100, 16), (17, 333)] {
            let n = switches as u64;
            let worm = |bytes: u32| (u64::from(bytes) + n) * FLIT + (n + 1) * DELAY + n * SETUP;
            let found = request(quiet_plan(chain(switches)), 11, [bytes, reply], think);
            let arrived = 11 + worm(bytes);
            let created = arrived + think;
            assert_eq!(found.messages(0), [(11, 11, arrived)]);
            assert_eq!(found.messages(1), [(created, created, created + worm(reply))]);
            let packet = |bytes: u32| (n * 8 + u64::from(bytes.div_ceil(16))) * FLIT + DELAY;
            let found = request(lane_plan(chain(switches), 1), 11, [bytes, reply], think);
            let arrived = 20 + packet(bytes);
            let created = arrived + think;
            let entered = created.next_multiple_of(FLIT);
            assert_eq!(found.messages(0), [(11, 20, arrived)]);
            assert_eq!(found.messages(1), [(created, entered, entered + packet(reply))]);
        }
    }
}

#[test]
fn two_classes_reply_to_one_request_class() {
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 5), (0, 1, 5)]);
    replying(&mut plan, 1, 0, 10, 3);
    replying(&mut plan, 1, 0, 0, 4);
    plan.stop = stop_at(3_000);
    // Requests arrive at 75 and 125. The second class replies at once: four bytes from 75 and from
    // 125 on. The first replies at 85 and 135, while these occupy the link until 115 and 165.
    let found = run(&plan);
    assert_eq!(found.messages(2), [(75, 75, 140), (125, 145, 210)]);
    assert_eq!(found.messages(1), [(85, 115, 170), (135, 185, 240)]);
}

#[test]
fn simultaneous_replies_follow_class_order() {
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 5)]);
    replying(&mut plan, 1, 0, 20, 3);
    replying(&mut plan, 1, 0, 20, 4);
    // A reply to a reply, at the other end.
    replying(&mut plan, 0, 1, 0, 2);
    plan.stop = stop_at(3_000);
    let found = run(&plan);
    assert_eq!(found.messages(1), [(95, 95, 150)]);
    assert_eq!(found.messages(2), [(95, 125, 190)]);
    assert_eq!(found.messages(3), [(150, 150, 195)]);
}

#[test]
fn simultaneous_replies_follow_request_order() {
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 5), (0, 1, 5)]);
    replying(&mut plan, 1, 0, 10, 3);
    replying(&mut plan, 1, 0, 60, 4);
    plan.stop = stop_at(3_000);
    // Requests arrive at 75 and 125: at 135 the second class replies to the first request, and the
    // first class to the second.
    let found = run(&plan);
    assert_eq!(found.messages(1), [(85, 85, 140), (135, 175, 230)]);
    assert_eq!(found.messages(2), [(135, 135, 200), (185, 205, 270)]);
}

#[test]
fn no_reply_is_created_after_the_class_ends() {
    let mut plan = quiet_plan(chain(0));
    // They arrive at 75, 275 and 475.
    scheduled_to(&mut plan, 0, &[(0, 1, 5), (200, 1, 5), (400, 1, 5)]);
    replying(&mut plan, 1, 0, 100, 3);
    plan.stop = stop_at(3_000);
    let replies = |end: u64| {
        let mut plan = plan.clone();
        plan.classes[1].active = Time::ZERO..Time::from_ps(end);
        let found = run(&plan);
        assert_eq!(found.status, Status::Finished);
        found.messages(1).len()
    };
    assert_eq!([175, 176, 375, 376, 576].map(replies), [0, 1, 1, 2, 3]);
}

#[test]
fn run_finishes_after_the_last_reply_and_ack() {
    let status = |plan: &Plan, end: u64| {
        let plan = Plan { stop: stop_at(end), ..plan.clone() };
        run(&plan).status
    };
    // Data arrives at 75, its acknowledgement takes from 75 to 120.
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 5)]);
    plan.classes[0].window = Some(window(1, 2));
    assert_eq!([119, 120, 500].map(|end| status(&plan, end)), {
        [Status::Ended, Status::Finished, Status::Finished]
    });
    // The think time ends at 275, and the reply arrives at 275 + 55.
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 5)]);
    replying(&mut plan, 1, 0, 200, 3);
    assert_eq!([200, 329, 330].map(|end| status(&plan, end)), {
        [Status::Ended, Status::Ended, Status::Finished]
    });
}

#[test]
fn crash_ends_pending_replies_and_a_schedule() {
    let mut plan = quiet_plan(chain(0));
    // They arrive at 75, 275 and 475.
    scheduled_to(&mut plan, 0, &[(0, 1, 5), (200, 1, 5), (400, 1, 5)]);
    replying(&mut plan, 1, 0, 100, 3);
    plan.stop = stop_at(3_000);
    let created = |host: usize, at: u64| {
        let crash = NetworkEvent::HostCrash(EndpointId::new(host));
        let events = [(Time::from_ps(at), crash)].into_iter().collect();
        let found = run(&Plan { events, ..plan.clone() });
        assert_eq!(found.status, Status::Finished);
        [0, 1].map(|class| found.messages(class).len())
    };
    // A crash at an instant precedes the creations of that instant.
    assert_eq!([0, 1, 200, 201, 401].map(|at| created(0, at)), {
        [[0, 0], [1, 1], [1, 1], [2, 2], [3, 3]]
    });
    assert_eq!([175, 176, 375, 376, 576].map(|at| created(1, at)), {
        [[3, 0], [3, 1], [3, 1], [3, 2], [3, 3]]
    });
}
