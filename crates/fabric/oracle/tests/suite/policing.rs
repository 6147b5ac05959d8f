//! Policing at the host, to the picosecond: messages that wait for tokens, dropped ones, and ones
//! sent as another class.

use crate::common::{backlogged, deliveries, quiet_plan, row, scheduled, stop_at, story, wormhole};
use gingham_kernel::Span;
use gingham_net::measure::Count;
use gingham_net::{
    ClassId, Conformance, Delivery, Excess, Plan, PolicingPlan, Priority, REFILL_BYTES,
    SegmentationPlan, Status,
};
use gingham_oracle::start;
use std::sync::Arc;

/// Token time for half the rate of a link of 10 ps per byte.
const TOKEN: u64 = 20;

/// Sets a bucket of 10 B for the source of a class.
fn police(plan: &mut Plan, class: usize, token_ps: u64, excess: Excess) {
    plan.classes[class].policing = Some(PolicingPlan {
        refill: [Span::from_ps(REFILL_BYTES * token_ps)].into(),
        burst_bytes: 10,
        longest_bytes: u32::MAX,
        excess,
    });
}

fn entered(deliveries: &[Delivery]) -> Vec<u64> {
    deliveries.iter().map(|delivery| delivery.entered.as_ps()).collect()
}

fn admissions(deliveries: &[Delivery]) -> Vec<Conformance> {
    deliveries.iter().map(|delivery| delivery.conformance).collect()
}

#[test]
fn excess_waits_for_its_tokens() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 8), (0, 8), (100, 8)]);
    police(&mut plan, 0, TOKEN, Excess::Delay);
    // Of 10 tokens the first leaves 2; there are 6 at 80, after its tail, and 8 at 120. The second
    // leaves none: 4 at 200, 8 at 280. The switch sends 8 flits from 135, 315 and 495 on, each 100
    // after it became free.
    let found = deliveries(plan, 3);
    let stories: Vec<_> = found.iter().map(story).collect();
    assert_eq!(stories, [(0, 0, 170, 240), (0, 120, 350, 420), (0, 280, 530, 600)]);
    let expected = [Conformance::Conforming, Conformance::Delayed, Conformance::Delayed];
    assert_eq!(admissions(&found), expected);
}

#[test]
fn waiting_for_tokens_does_not_block_other_classes() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 8), (0, 8)]);
    scheduled(&mut plan, 0, 2, &[(0, 3), (0, 3)]);
    police(&mut plan, 0, TOKEN, Excess::Delay);
    // The second policed message may go at 120; the others go at 80 and 110, 3 flits each, and it
    // goes at 140, in one level or a higher one.
    for level in [0, 1] {
        plan.classes[0].priority = Priority::new(level).unwrap();
        let mut found = deliveries(plan.clone(), 4);
        found.sort_by_key(|delivery| (delivery.message.class, delivery.message.id()));
        assert_eq!(entered(&found), [0, 140, 80, 110]);
        let (own, others) = (Conformance::Delayed, Conformance::Conforming);
        assert_eq!(admissions(&found), [others, own, others, others]);
    }
}

#[test]
fn level_with_earlier_tokens_goes_first() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.setup_delay = Span::ZERO);
    scheduled(&mut plan, 0, 1, &[(0, 8), (0, 8), (0, 8)]);
    scheduled(&mut plan, 0, 2, &[(0, 8), (0, 8)]);
    plan.classes[0].priority = Priority::new(2).unwrap();
    plan.classes[1].priority = Priority::new(1).unwrap();
    police(&mut plan, 0, TOKEN, Excess::Delay);
    police(&mut plan, 1, 30, Excess::Delay);
    // High goes at 0, and may at 120; low goes at 80, and high at 160. At 240 both wait: high, with
    // 2 tokens at 160, until 280; low, with 2 at 80, until 80 + 6 x 30 = 260. High follows at 340.
    let mut found = deliveries(plan, 5);
    found.sort_by_key(|delivery| (delivery.message.class, delivery.message.id()));
    assert_eq!(entered(&found), [0, 160, 340, 80, 260]);
    let (at_once, waited) = (Conformance::Conforming, Conformance::Delayed);
    assert_eq!(admissions(&found), [at_once, waited, waited, at_once, waited]);
}

#[test]
fn demoted_message_takes_a_turn_but_no_tokens() {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.setup_delay = Span::ZERO);
    scheduled(&mut plan, 0, 1, &[(0, 8), (20, 8)]);
    scheduled(&mut plan, 0, 2, &[(0, 8), (10, 8), (30, 8)]);
    plan.classes[0].priority = Priority::new(1).unwrap();
    police(&mut plan, 0, TOKEN, Excess::Demote(ClassId::new(1)));
    police(&mut plan, 1, TOKEN, Excess::Delay);
    // At 20 the upper bucket holds 3: the second message takes a turn with the others. Their first
    // leaves 2 tokens at 80; the demoted one goes at 160. Their second goes at 240, with 10, and
    // leaves 2: 6 at 320, and the last waits until 360.
    let mut found = deliveries(plan, 5);
    found.sort_by_key(|delivery| (delivery.message.class, delivery.message.id()));
    assert_eq!(entered(&found), [0, 160, 80, 240, 360]);
    let at_once = Conformance::Conforming;
    let expected = [at_once, Conformance::Demoted, at_once, at_once, Conformance::Delayed];
    assert_eq!(admissions(&found), expected);
}

#[test]
fn packets_of_a_message_wait_for_tokens_individually() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.setup_delay = Span::ZERO);
    scheduled(&mut plan, 0, 1, &[(0, 20)]);
    police(&mut plan, 0, TOKEN, Excess::Delay);
    // Packets of 5 B, by segmentation or by the limit of the policer. The bucket holds 7.5 at 50, 5
    // at 100, 2.5 at 150; the fourth goes at 200: its head is whole at 235 and 270, its tail 4
    // flits later.
    let mut limited = plan.clone();
    plan.classes[0].segmentation = SegmentationPlan::Fixed(5);
    limited.classes[0].policing.as_mut().unwrap().longest_bytes = 5;
    for plan in [plan, limited] {
        let delivery = deliveries(plan, 1)[0];
        assert_eq!(story(&delivery), (0, 0, 270, 310));
        assert_eq!((delivery.packets, delivery.conformance), (4, Conformance::Delayed));
    }
}

#[test]
fn demoted_messages_use_segmentation_of_the_other_class() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 8), (0, 20), (165, 8)]);
    scheduled(&mut plan, 0, 1, &[(900_000, 1)]);
    plan.classes[0].priority = Priority::new(1).unwrap();
    plan.classes[1].segmentation = SegmentationPlan::Fixed(3);
    police(&mut plan, 0, TOKEN, Excess::Demote(ClassId::new(1)));
    // 20 B exceed the bucket: 7 packets of at most 3 B, from 80 on. The third ends at 170; the
    // bucket is full at 160, and the message of 165 goes in between.
    let found = deliveries(plan, 3);
    assert_eq!(entered(&found), [0, 170, 80]);
    let expected = [Conformance::Conforming, Conformance::Conforming, Conformance::Demoted];
    assert_eq!(admissions(&found), expected);
    assert_eq!(found.iter().map(|delivery| delivery.packets).collect::<Vec<_>>(), [1, 1, 7]);
    assert!(found.iter().all(|delivery| delivery.message.class == ClassId::new(0)));
}

#[test]
fn dropped_messages_take_no_tokens() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    // Tokens: 2 at 0, 2.5 at 10, 8 at 120, 2 at 160.
    scheduled(&mut plan, 0, 1, &[(0, 8), (10, 8), (120, 8), (160, 8)]);
    police(&mut plan, 0, TOKEN, Excess::Drop);
    plan.stop = stop_at(1_000_000);
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {
        simulation.assert_invariants();
    }
    assert_eq!(*simulation.status(), Status::Finished);
    let ids: Vec<_> = simulation.take_messages().iter().map(|d| d.message.number.index()).collect();
    assert_eq!(ids, [0, 2]);
    let collector = simulation.collector();
    assert_eq!((collector.created_messages(), collector.in_flight_messages()), (4, 0));
    let of = collector.report().class(ClassId::new(0));
    assert_eq!(of.dropped, Count { messages: 2, bytes: 16 });
    assert_eq!((of.followed_messages, of.censored_messages()), (2, 0));
}

#[test]
fn backlogged_class_sends_at_the_policing_rate() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    wormhole(&mut plan, |wormhole| wormhole.setup_delay = Span::ZERO);
    backlogged(&mut plan, 0, 1, 10);
    police(&mut plan, 0, TOKEN, Excess::Delay);
    let found = deliveries(plan, 4);
    assert_eq!(entered(&found), [0, 200, 400, 600]);
    let created: Vec<_> = found.iter().map(|delivery| delivery.message.created.as_ps()).collect();
    assert_eq!(created, [0, 0, 200, 400]);
}

#[test]
fn waiting_for_tokens_is_no_deadlock() {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 8), (0, 8)]);
    // 6 tokens take 300 us, of a run of 1 ms with 64 searches for a deadlock.
    police(&mut plan, 0, 50_000_000, Excess::Delay);
    assert_eq!(entered(&deliveries(plan, 2)), [0, 300_000_000]);
}
