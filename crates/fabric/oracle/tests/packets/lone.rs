//! A lone packet takes the time given by the specification.

use crate::common::packets::{cable_many, packets, packets_plan, sends};
use crate::common::{chain, channel, deliveries, story};
use gingham_kernel::Span;

#[test]
fn every_switch_adds_cable_and_forwarding_delay() {
    for switches in 0..4 {
        let mut plan = packets_plan(chain(switches), 2);
        sends(&mut plan, 0, 0, &[(7, 1, 64)]);
        let found = deliveries(plan, 1);
        // (n + 1) d + n F + t(W), and the head with t(1) instead.
        let n = switches as u64;
        let way = (n + 1) * 25 + n * 100;
        assert_eq!(story(&found[0]), (0, 7, 7 + way + 10, 7 + way + 640));
        assert_eq!((u64::from(found[0].hops), found[0].wire_bytes, found[0].packets), (n, 64, 1));
    }
}

#[test]
fn header_and_trailer_occupy_the_wire() {
    let mut plan = packets_plan(chain(1), 1);
    packets(&mut plan, |packets| packets.overhead_bytes = 20);
    sends(&mut plan, 0, 0, &[(0, 1, 44)]);
    let found = deliveries(plan, 1);
    // 2 x 25 + 100 + 640.
    assert_eq!(story(&found[0]), (0, 0, 160, 790));
    assert_eq!(found[0].wire_bytes, 64);
}

#[test]
fn byte_times_are_rounded_individually() {
    let mut plan = packets_plan(chain(0), 1);
    let cable = channel(&plan.fabric, "h0", "h1");
    // 1.5 ps a byte: 1 byte 2 ps, halves up, 3 bytes 5, 4 bytes 6.
    cable_many(&mut plan, cable, 98_304);
    packets(&mut plan, |packets| packets.forwarding_delay = Span::from_ps(2_000));
    sends(&mut plan, 0, 0, &[(0, 1, 3), (0, 1, 4)]);
    let found = deliveries(plan, 2);
    assert_eq!(story(&found[0]), (0, 0, 27, 30));
    assert_eq!(story(&found[1]), (0, 5, 32, 36));
}

#[test]
fn segments_follow_each_other_back_to_back() {
    let mut plan = packets_plan(chain(2), 1);
    sends(&mut plan, 0, 0, &[(0, 1, 130)]);
    plan.classes[0].segmentation = gingham_net::SegmentationPlan::Fixed(64);
    let found = deliveries(plan, 1);
    // 64, 64 and 2 bytes start at 0, 640 and 1,280. The last needs 3 x 25 + 2 x 100 + 20: its head
    // is ready when the tail before it leaves.
    assert_eq!(story(&found[0]), (0, 0, 1_280 + 285, 1_280 + 295));
    assert_eq!(found[0].packets, 3);
}
