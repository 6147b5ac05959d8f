//! Several flows of one host, some held back.

use crate::common::lanes::lane_plan;
use crate::common::{chain, quiet_plan, row, scheduled, stop_at};
use crate::support::{Kind, run, scheduled_to, window};
use gingham_kernel::Span;
use gingham_net::{ClassId, Excess, Plan, PolicingPlan, REFILL_BYTES};

#[test]
fn closed_window_does_not_block_other_flows() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    scheduled_to(&mut plan, 0, &[(0, 1, 3), (0, 1, 3), (0, 2, 3), (0, 2, 3)]);
    plan.classes[0].window = Some(window(1, 2));
    plan.stop = stop_at(3_000);
    // The first to h1 begins at 0, the first to h2 at 30, behind it: complete at 190 and, 100 + 30
    // later, at 320. Acknowledgements take 180: the second to h1 begins at 370, that to h2 at 500.
    let found = run(&plan);
    assert_eq!(found.began(0, Kind::Data), [0, 30, 370, 500]);
    assert_eq!(found.received(1, Kind::Data), [190, 560]);
    assert_eq!(found.received(2, Kind::Data), [320, 690]);
    assert_eq!(found.received(0, Kind::Ack), [370, 500, 740, 870]);
}

#[test]
fn closed_window_does_not_block_flows_of_its_lanes() {
    let mut plan = lane_plan(row(1, &[0, 0, 0]), 1);
    scheduled_to(&mut plan, 0, &[(0, 1, 48), (0, 1, 48), (0, 2, 48), (0, 2, 48)]);
    plan.classes[0].window = Some(window(1, 16));
    plan.stop = stop_at(3_000);
    // The second is complete 50 after the first, at 185. Acknowledgements are queued at ticks 14
    // and 19, and take 115: the next packets begin at 260 and 310.
    let found = run(&plan);
    assert_eq!(found.began(0, Kind::Data), [0, 30, 260, 310]);
    assert_eq!(found.received(1, Kind::Data), [135, 395]);
    assert_eq!(found.received(2, Kind::Data), [185, 445]);
}

#[test]
fn demoted_message_joins_a_flow_of_the_other_class() {
    let mut plan = quiet_plan(chain(0));
    scheduled(&mut plan, 0, 1, &[(0, 8), (0, 8), (0, 8)]);
    scheduled(&mut plan, 0, 1, &[(0, 3)]);
    plan.classes[0].policing = Some(PolicingPlan {
        refill: [Span::from_ps(1_000 * REFILL_BYTES)].into(),
        burst_bytes: 10,
        longest_bytes: u32::MAX,
        excess: Excess::Demote(ClassId::new(1)),
    });
    plan.classes[1].window = Some(window(1, 2));
    plan.stop = stop_at(3_000);
    // The first has no window. The second begins at 80 and arrives at 185, its acknowledgement at
    // 230; likewise the third, at 335 and 380; the message of the other class is behind them.
    let found = run(&plan);
    assert_eq!(found.messages(0), [(0, 0, 105), (0, 80, 185), (0, 230, 335)]);
    assert_eq!(found.messages(1), [(0, 380, 435)]);
    assert_eq!(found.received(0, Kind::Ack), [230, 380, 480]);
}

/// Three classes of 40 messages, each to one host. Two have windows that never close.
fn three(mut plan: Plan, bytes: u32) -> Plan {
    for to in 1..4 {
        scheduled(&mut plan, 0, to, &[(0, bytes); 40]);
    }
    for class in &mut plan.classes[..2] {
        class.window = Some(window(40, 20));
    }
    plan.stop = stop_at(100_000);
    plan
}

#[test]
fn flows_and_shared_queue_take_turns() {
    let fabric = || row(1, &[0, 0, 0, 0]);
    for plan in [three(quiet_plan(fabric()), 7), three(lane_plan(fabric(), 2), 48)] {
        let found = run(&plan);
        let began = found.began_by_class(0);
        assert_eq!(began.len(), 120);
        for (place, (time, class)) in began.iter().enumerate() {
            assert_eq!(*class, place % 3, "{place}, {time}");
        }
    }
}

#[test]
fn equal_flows_share_evenly_by_packets() {
    // Equally many packets of each flow, although two messages of half the length go to h2 for each
    // to h1.
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    let mut messages = Vec::new();
    for _ in 0..20 {
        messages.extend([(0, 1, 20), (0, 2, 10), (0, 2, 10)]);
    }
    scheduled_to(&mut plan, 0, &messages);
    plan.classes[0].window = Some(window(2, 2));
    plan.stop = stop_at(5_000);
    let found = run(&plan);
    let [one, two] = [1, 2].map(|host| found.received(host, Kind::Data).len());
    assert!(one > 5 && one.abs_diff(two) <= 1, "{one} {two}");
}
