//! Lost updates of credits, and their recovery.
//!
//! As in `credits`, h0 sends packets of 64 bytes at 10 ps a byte, and heads are read after 2,000
//! ps. Tails leave at 2,665, 3,305 and so on; space free at e is known at e + 25, or never.

use crate::common::packets::{packets, packets_plan, pausing, sends};
use crate::common::{backlogged, chain, deliveries, stop_at, story};
use gingham_kernel::{Span, Time};
use gingham_net::{CreditLossPlan, Plan, Status};
use gingham_oracle::start;
use std::sync::Arc;

/// Loses all updates in an interval, repeated after `period`.
fn losing(plan: &mut Plan, sent: std::ops::Range<u64>, period: u64) {
    let sent = Time::from_ps(sent.start)..Time::from_ps(sent.end);
    let period = Some(Span::from_ps(period));
    packets(plan, |packets| {
        packets.credit_loss = Some(CreditLossPlan { probability: 1.0, sent, period });
    });
}

fn backlog(held: u32) -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    packets(&mut plan, |packets| {
        packets.buffer_blocks = [held; 16];
        packets.forwarding_delay = Span::from_ps(2_000);
    });
    backlogged(&mut plan, 0, 1, 64);
    plan
}

fn entries(plan: &Plan, count: usize) -> Vec<u64> {
    deliveries(plan.clone(), count).iter().map(|delivery| story(delivery).1).collect()
}

#[test]
fn lost_update_is_repeated_after_the_period() {
    // Alone in the buffer: the update of 2,665 is lost, and repeated after the period.
    let mut plan = backlog(1);
    losing(&mut plan, 2_665..2_666, 900);
    assert_eq!(entries(&plan, 3), [0, 2_665 + 900 + 25, 3_590 + 2_690]);
    // Nothing is lost a picosecond before and after.
    for sent in [2_664..2_665, 2_666..2_667] {
        losing(&mut plan, sent, 900);
        assert_eq!(entries(&plan, 3), [0, 2_690, 5_380]);
    }
}

#[test]
fn next_update_of_the_lane_repairs_a_loss() {
    // The second leaves at 3,305, and its update reports both: the third starts at 3,330, the
    // fourth behind it.
    let mut plan = backlog(2);
    assert_eq!(entries(&plan, 4), [0, 640, 2_690, 3_330]);
    for period in [641, 100_000] {
        losing(&mut plan, 2_665..2_666, period);
        assert_eq!(entries(&plan, 4), [0, 640, 3_330, 3_970]);
    }
    // The period is over first, at 3,304 at the latest.
    losing(&mut plan, 2_665..2_666, 639);
    assert_eq!(entries(&plan, 4), [0, 640, 3_304 + 25, 3_329 + 640]);
    losing(&mut plan, 2_665..2_666, 100);
    assert_eq!(entries(&plan, 4), [0, 640, 2_765 + 25, 2_790 + 640]);
}

#[test]
fn repeated_update_may_be_lost_too() {
    // At 2,665, 3,565, 4,465, and no more from 5,000 on.
    let mut plan = backlog(1);
    losing(&mut plan, 2_000..5_000, 900);
    assert_eq!(entries(&plan, 2), [0, 2_665 + 3 * 900 + 25]);
}

#[test]
fn period_starts_at_the_last_sent_update() {
    // Both updates are lost: the second begins a period of its own.
    let mut plan = backlog(2);
    losing(&mut plan, 2_665..3_306, 900);
    assert_eq!(entries(&plan, 3), [0, 640, 3_305 + 900 + 25]);
}

#[test]
fn run_without_losses_is_unchanged() {
    let run = |sent: Option<std::ops::Range<u64>>| {
        let mut plan = backlog(2);
        plan.stop = stop_at(1_000_000);
        if let Some(sent) = sent {
            losing(&mut plan, sent, 10);
        }
        let mut simulation = start(Arc::new(plan));
        while *simulation.advance(1) == Status::Running {
            simulation.assert_invariants();
        }
        (simulation.events(), simulation.take_messages())
    };
    // Not an event more, although the period is shorter than a packet.
    assert_eq!(run(Some(0..2_665)), run(None));
    assert_ne!(run(Some(0..2_666)).0, run(None).0);
}

#[test]
fn waiting_packets_survive_lost_updates() {
    // Half of all updates are lost: all messages arrive, later.
    let mut plan = backlog(2);
    plan.classes.clear();
    let messages = vec![(0, 1, 64); 300];
    sends(&mut plan, 0, 0, &messages);
    let last = |plan: &Plan| deliveries(plan.clone(), 300).last().unwrap().delivered;
    let healthy = last(&plan);
    losing(&mut plan, 0..u64::MAX, 5_000);
    packets(&mut plan, |packets| packets.credit_loss.as_mut().unwrap().probability = 0.5);
    assert!(last(&plan) > healthy);
    // Pauses have no credits to lose.
    pausing(&mut plan, [6_400, 640]);
    packets(&mut plan, |packets| packets.buffer_blocks = [1_000; 16]);
    assert!(last(&plan) < healthy);
}
