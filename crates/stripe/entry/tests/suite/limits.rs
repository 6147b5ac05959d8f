//! Tests of overflow and standing queues.

use crate::support::{MS, fill, go, offer, plan};
use gingham_entry::{CoDelPlan, DropReason, Dropped, Ecn, FqCodel, FqCodelPlan};
use std::time::Duration;

/// Flow 1 has 8 of 10 packets and the most bytes: a packet of flow 2 causes half of them to be
/// dropped from the head.
#[test]
fn overflow_drops_half_of_the_longest_queue() {
    let mut queue = FqCodel::new(FqCodelPlan { limit_packets: 10, ..plan() });
    fill(&mut queue, 0, 1, &[1_000; 8]);
    fill(&mut queue, 0, 2, &[100; 2]);
    let mut dropped = Vec::new();
    queue.enqueue(0, offer(2, 2, 100, Ecn::Ect0), |one| dropped.push(one));
    let by_limit = |number| Dropped { packet: (1, number), reason: DropReason::Limit };
    assert_eq!(dropped, [0, 1, 2, 3].map(by_limit));
    assert_eq!((queue.backlog_bytes(), queue.backlog_packets()), (4_300, 7));
    assert_eq!(queue.counters().dropped_limit_packets, 4);
    assert_eq!(go(&mut queue, 0, 4), [(1, 4), (2, 0), (2, 1), (2, 2)]);
}

#[test]
fn overflow_drops_at_most_64_packets() {
    let mut queue = FqCodel::new(FqCodelPlan { limit_bytes: 200_000, ..plan() });
    fill(&mut queue, 0, 1, &[1_000; 200]);
    let mut dropped = 0;
    queue.enqueue(0, offer(1, 200, 1_000, Ecn::NotEct), |_| dropped += 1);
    assert_eq!((dropped, queue.backlog_packets()), (64, 137));
}

#[test]
fn packet_longer_than_the_limit_is_dropped() {
    let mut queue = FqCodel::new(FqCodelPlan { limit_bytes: 900, ..plan() });
    let mut dropped = Vec::new();
    queue.enqueue(0, offer(1, 0, 1_000, Ecn::NotEct), |one| dropped.push(one.packet));
    assert_eq!((dropped, queue.is_empty()), (vec![(1, 0)], true));
}

/// Times of drops and marks in ms, for two arrivals and one departure per millisecond.
fn stand(ecn: Ecn, target_ns: u64) -> (Vec<u64>, Vec<u64>) {
    let mut queue = FqCodel::new(plan());
    queue.set_target(target_ns);
    assert_eq!(queue.target_ns(), target_ns);
    let (mut drops, mut marks) = (Vec::new(), Vec::new());
    for ms in 0..250 {
        queue.enqueue(ms * MS, offer(1, 2 * ms, 1_000, ecn), |_| panic!("there is room"));
        queue.enqueue(ms * MS, offer(1, 2 * ms + 1, 1_000, ecn), |_| panic!("there is room"));
        let drop = |one: Dropped<_>| {
            assert_eq!(one.reason, DropReason::Target);
            drops.push(ms);
        };
        if queue.dequeue(ms * MS, drop).expect("it stands").marked {
            marks.push(ms);
        }
    }
    let counters = queue.counters();
    assert_eq!(counters.dropped_target_packets, drops.len() as u64);
    assert_eq!(counters.marked_packets, marks.len() as u64);
    (drops, marks)
}

/// The packet that leaves at n ms arrived at n / 2, rounded down: the sojourn reaches 5 ms at 9 ms.
/// The first signal comes an interval later, the next after another interval.
#[test]
fn standing_queue_is_marked_or_dropped_by_ecn_capability() {
    assert_eq!(stand(Ecn::NotEct, 5 * MS), (vec![109, 209], vec![]));
    assert_eq!(stand(Ecn::Ect0, 5 * MS), (vec![], vec![109, 209]));
    assert_eq!(stand(Ecn::Ect1, 5 * MS), (vec![], vec![109, 209]));
    assert_eq!(stand(Ecn::Ce, 5 * MS), (vec![], vec![109, 209]));
}

#[test]
fn higher_target_delays_the_first_drop() {
    assert_eq!(stand(Ecn::NotEct, 40 * MS).0, [179]);
}

#[test]
fn target_is_the_rtt_or_at_least_5_ms() {
    assert_eq!(CoDelPlan::target_before(Duration::ZERO), 5 * MS);
    assert_eq!(CoDelPlan::target_before(Duration::from_millis(20)), 20 * MS);
    let interval = |milliseconds| CoDelPlan::interval_before(Duration::from_millis(milliseconds));
    assert_eq!([0, 20, 80].map(interval), [100 * MS, 100 * MS, 160 * MS]);
}

#[test]
fn disabled_ecn_marks_nothing() {
    let mut queue = FqCodel::new(FqCodelPlan { ecn: false, ..plan() });
    let mut drops = 0;
    for ms in 0..250 {
        for number in 0..2 {
            queue.enqueue(ms * MS, offer(1, number, 1_000, Ecn::Ect0), |_| panic!("room"));
        }
        let next = queue.dequeue(ms * MS, |_| drops += 1).expect("it stands");
        assert!(!next.marked);
    }
    assert_eq!(drops, 2);
}
