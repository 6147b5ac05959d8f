//! Order of service among flows.

use crate::support::{MS, fill, go, plan, refuse_drops};
use gingham_entry::FqCodel;

/// Quantum 1,000. Flow 1 has packets of 1,000, flow 2 of 400. Both are new: flow 1 sends one, has 0
/// credits left and joins the old flows with 1,000; flow 2 sends 400, 400 and 400 (credits 600,
/// 200, -200) and joins them with 800. Then flow 1 sends one, flow 2 two (400, 0), and so on.
#[test]
fn deficit_round_robin_matches_hand_computation() {
    let mut queue = FqCodel::new(plan());
    fill(&mut queue, 0, 1, &[1_000; 5]);
    fill(&mut queue, 0, 2, &[400; 12]);
    let flows: Vec<_> = go(&mut queue, MS, 13).iter().map(|packet| packet.0).collect();
    // Credits of flow 2 after each turn: -200, 0, -200 + ... : three, two, three, two.
    assert_eq!(flows, [1, 2, 2, 2, 1, 2, 2, 1, 2, 2, 2, 1, 2]);
}

/// A packet of an idle flow is sent before a hundred of another.
#[test]
fn sparse_flow_goes_first() {
    let mut queue = FqCodel::new(plan());
    fill(&mut queue, 0, 1, &[1_000; 100]);
    assert_eq!(go(&mut queue, MS, 3), [(1, 0), (1, 1), (1, 2)]);
    fill(&mut queue, MS, 2, &[100]);
    assert_eq!(go(&mut queue, MS, 2), [(2, 0), (1, 3)]);
}

/// Flow 1, with packets of 400, sends three in its first turn (credits 600, 200, -200) and becomes
/// old. Flow 2 sends its only one, is found empty and becomes old too, behind flow 1, which sends
/// its fourth (credits 400). Another packet of flow 2 does not make it new, and waits until flow
/// 1's turn is over.
#[test]
fn intermittent_flow_does_not_starve_others() {
    let mut queue = FqCodel::new(plan());
    fill(&mut queue, 0, 1, &[400; 100]);
    assert_eq!(go(&mut queue, MS, 1), [(1, 0)]);
    fill(&mut queue, MS, 2, &[100]);
    assert_eq!(go(&mut queue, MS, 4), [(1, 1), (1, 2), (2, 0), (1, 3)]);
    fill(&mut queue, MS, 2, &[100]);
    assert_eq!(go(&mut queue, MS, 2), [(1, 4), (2, 0)]);
}

/// The peeked packet is next, even if a sparse flow arrives in between.
#[test]
fn peeked_packet_is_dequeued_next() {
    let mut queue = FqCodel::new(plan());
    fill(&mut queue, 0, 1, &[1_000, 800]);
    let peeked_bytes = |queue: &mut FqCodel<_>| queue.peek(MS, refuse_drops).map(|next| next.bytes);
    assert_eq!(peeked_bytes(&mut queue), Some(1_000));
    fill(&mut queue, MS, 2, &[100]);
    assert_eq!(peeked_bytes(&mut queue), Some(1_000));
    assert_eq!(go(&mut queue, MS, 3), [(1, 0), (2, 0), (1, 1)]);
    assert_eq!(peeked_bytes(&mut queue), None);
}
