//! Order of service among flows.

use crate::support::{MS, fill, go, plan, refuse_drops};
use gingham_entry::FqCodel;

/// Packets of 1,000 in flow 1 and 400 in flow 2, both new: flow 1 sends one, has 0 credits left and
/// becomes old with 1,000; flow 2 sends three (credits 600, 200, -200) and becomes old with 800.
/// Then flow 1 sends one, flow 2 two (400, 0), and so on.
#[test]
fn deficit_round_robin_matches_hand_computation() {
    let mut queue = FqCodel::new(plan());
    fill(&mut queue, 0, 1, &[1_000; 5]);
    fill(&mut queue, 0, 2, &[400; 12]);
    let flows: Vec<_> = go(&mut queue, MS, 13).iter().map(|packet| packet.0).collect();
    assert_eq!(flows, [1, 2, 2, 2, 1, 2, 2, 1, 2, 2, 2, 1, 2]);
}

#[test]
fn sparse_flow_goes_first() {
    let mut queue = FqCodel::new(plan());
    fill(&mut queue, 0, 1, &[1_000; 100]);
    assert_eq!(go(&mut queue, MS, 3), [(1, 0), (1, 1), (1, 2)]);
    fill(&mut queue, MS, 2, &[100]);
    assert_eq!(go(&mut queue, MS, 2), [(2, 0), (1, 3)]);
}

/// Flow 1, with packets of 400, sends three (credits 600, 200, -200) and becomes old. Flow 2 sends
/// its only packet and becomes old behind flow 1, which sends its fourth (credits 400). Another
/// packet of flow 2 waits until flow 1's turn is over.
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
