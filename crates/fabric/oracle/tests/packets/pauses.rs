//! Pauses instead of credits: effects of marks, arrivals despite a pause, and held lanes.
//!
//! Unless stated otherwise, a pause frame has 10 bytes, 100 ps, and is applied after 15 ps. A
//! request of a receiver is therefore known D = 25 + 100 + 15 = 140 ps later; a packet that starts
//! at s fills its buffer from s + 25 + 10.

use crate::common::lanes::on_lanes;
use crate::common::packets::{cable_byte, cable_many, packets, packets_plan, pausing, sends};
use crate::common::{backlogged, chain, channel, deliveries, row, stop_at, story};
use crate::last_starts;
use gingham_kernel::{Span, Time};
use gingham_net::{BLOCK_BYTES, PausesPlan, Plan, SegmentationPlan, Status};
use gingham_oracle::start;
use gingham_topology::routing::LaneSet;
use proptest::prelude::*;
use std::sync::Arc;

/// h0 sends packets of 64 bytes to h1 over a last cable ten times slower: 640 and 6,400 ps.
fn into_a_slow_cable(pause: u64, resume: u64) -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    pausing(&mut plan, [pause, resume]);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 100);
    backlogged(&mut plan, 0, 1, 64);
    plan
}

fn entries(plan: Plan, count: usize) -> Vec<u64> {
    deliveries(plan, count).iter().map(|delivery| story(delivery).1).collect()
}

#[test]
fn lane_pauses_above_one_mark_and_resumes_at_the_other() {
    // Fill: 64 at 35, 128 at 675, 192 at 1,315, above 128: known at 1,455. Tails leave at 125 +
    // 6,400 and every 6,400; 64 are left at 12,925, known at 13,065. Then 128 at 13,100, 192 at
    // 13,740, known at 13,880; 64 at 25,725, known at 25,865.
    let found = entries(into_a_slow_cable(128, 64), 6);
    assert_eq!(found, [0, 640, 1_280, 13_065, 13_705, 25_865]);
    // With 127, two packets are above it: 128 at 675, known at 815.
    assert_eq!(entries(into_a_slow_cable(127, 64), 3), [0, 640, 6_525 + 140]);
    // With 63, the buffer must be empty: at 19,325.
    assert_eq!(entries(into_a_slow_cable(128, 63), 4)[3], 19_325 + 140);
}

#[test]
fn pause_takes_the_delay_of_the_reverse_channel() {
    let mut plan = into_a_slow_cable(128, 64);
    let back = channel(&plan.fabric, "s0", "h0");
    plan.channels[back.index()].delay = Span::from_ps(600);
    // Known at 1,315 + 600 + 115 = 2,030: one more starts at 1,920. Of four, 64 bytes are left at
    // 19,325.
    assert_eq!(entries(plan, 5), [0, 640, 1_280, 1_920, 19_325 + 715]);
}

#[test]
fn zero_resume_mark_idles_the_output_for_a_round_trip() {
    // The third tail leaves at 19,325; the next packet is ready D + d + F = 265 later.
    let starts = |resume: u64| {
        let found = last_starts(&into_a_slow_cable(128, resume), 4);
        // A byte of that cable takes 90 ps more.
        found.iter().map(|(_, at)| at - 90).collect::<Vec<_>>()
    };
    assert_eq!(starts(0)[2..], [125 + 2 * 6_400, 19_325 + 265]);
    // At 64 bytes there is another one, which lasts longer.
    assert_eq!(starts(64)[3], 19_325);
}

#[test]
fn pauses_and_their_durations_are_counted() {
    let mut plan = into_a_slow_cable(128, 64);
    plan.stop = stop_at(20_000);
    let of = channel(&plan.fabric, "h0", "s0");
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {}
    let count = simulation.channel_counts()[of.index()];
    // From 1,455 to 13,065, and from 13,880 on.
    assert_eq!((count.stops, count.stopped_ps), (2, 11_610 + 6_120));
}

#[test]
fn pause_applies_to_one_lane() {
    // h0's packets for h1 on lane 0 pause it from 1,455 on. Those for h2 on lane 1 take turns, then
    // go on alone.
    let mut plan = packets_plan(row(1, &[0, 0, 0]), 2);
    pausing(&mut plan, [100, 0]);
    packets(&mut plan, |packets| packets.pauses.as_mut().unwrap().pause_bytes[1] = 128);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 100);
    sends(&mut plan, 0, 0, &[(0, 1, 64); 3]);
    sends(&mut plan, 0, 0, &[(0, 2, 64); 5]);
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    // Lane 0 at 0, 1 at 640, 0 at 1,280: 128 bytes at 1,315, known at 1,455. Lane 1 from 1,920 on,
    // with two packets at a time, not above its mark. Lane 0 has left at 12,925.
    let mut found: Vec<_> = deliveries(plan, 8)
        .iter()
        .map(|delivery| (story(delivery).1, delivery.message.destination.index()))
        .collect();
    found.sort_unstable();
    let last = (12_925 + 140, 1);
    assert_eq!(found[..3], [(0, 1), (640, 2), (1_280, 1)]);
    assert_eq!(found[3..], [(1_920, 2), (2_560, 2), (3_200, 2), (3_840, 2), last]);
}

/// h0 sends 64, `pause` - 64, 17, 64 and 64 bytes into a buffer of three blocks that no packet
/// leaves early: R = 25 + 10 + 140 = 175 ps let 17 bytes start before the last packet.
fn to_the_brim(pause: u64) -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    pausing(&mut plan, [pause, 0]);
    packets(&mut plan, |packets| packets.buffer_blocks = [3; 16]);
    packets(&mut plan, |packets| packets.forwarding_delay = Span::from_ps(2_000));
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 100);
    let second = u32::try_from(pause).unwrap() - 64;
    sends(&mut plan, 0, 0, &[(0, 1, 64), (0, 1, second), (0, 1, 17), (0, 1, 64), (0, 1, 64)]);
    plan
}

#[test]
fn headroom_is_filled_to_the_last_byte() {
    let plan = to_the_brim(111);
    let way = channel(&plan.fabric, "h0", "s0");
    let [way, back] = [way, gingham_topology::Fabric::reverse(way)].map(|id| *plan.channel(id));
    assert_eq!(pauses(&plan).headroom_bytes(&way, &back, [1, 64]), 17 + 64);
    // 111 at 675; 17 more start at 1,110, count at 1,145, known at 1,285; the last 64 start at
    // 1,280: all 192 are there. The first leaves at 2,025 + 6,400; the buffer is empty later.
    let found = entries(plan, 5);
    assert_eq!(found[..4], [0, 640, 1_110, 1_280]);
    assert!(found[4] > 8_425);
}

#[test]
#[should_panic(expected = "a buffer overflowed: 193 bytes")]
fn one_byte_less_headroom_overflows() {
    entries(to_the_brim(112), 4);
}

fn pauses(plan: &Plan) -> PausesPlan {
    let gingham_net::Switching::Packets(packets) = &plan.switching else { panic!("packets") };
    packets.pauses.clone().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    /// Headroom for any traffic, and cables of any rate and length.
    #[test]
    fn computed_headroom_never_overflows(
        lengths in prop::collection::vec(1..200_u32, 1..60),
        (forth, back) in (0..900_u64, 0..900_u64),
        (many_ps, slow) in (40_000..2_000_000_u64, 1..40_u64),
        (frame_bytes, response_time, above) in (1..90_u32, 0..900_u64, 0..700_u64),
        overhead_bytes in 0..20_u32,
    ) {
        let mut plan = packets_plan(chain(1), 1);
        let way = channel(&plan.fabric, "h0", "s0");
        cable_many(&mut plan, way, many_ps);
        let other = gingham_topology::Fabric::reverse(way);
        plan.channels[way.index()].delay = Span::from_ps(forth);
        plan.channels[other.index()].delay = Span::from_ps(back);
        let out = channel(&plan.fabric, "s0", "h1");
        cable_many(&mut plan, out, many_ps * slow);
        pausing(&mut plan, [above, above / 2]);
        let [way, other] = [way, other].map(|id| *plan.channel(id));
        packets(&mut plan, |packets| {
            packets.overhead_bytes = overhead_bytes;
            packets.forwarding_delay = Span::from_ps(2_000);
            let pauses = packets.pauses.as_mut().unwrap();
            (pauses.frame_bytes, pauses.response_time) = (frame_bytes, Span::from_ps(response_time));
            let overhead = u64::from(overhead_bytes);
            let headroom = pauses.headroom_bytes(&way, &other, [overhead + 1, overhead + 199]);
            let blocks = (above + headroom).div_ceil(u64::from(BLOCK_BYTES));
            packets.buffer_blocks = [u32::try_from(blocks).unwrap(); 16];
            // All that is above the headroom.
            pauses.pause_bytes = [blocks * u64::from(BLOCK_BYTES) - headroom; 16];
        });
        let messages: Vec<_> = lengths.iter().map(|bytes| (0, 1, *bytes)).collect();
        sends(&mut plan, 0, 0, &messages);
        prop_assert_eq!(deliveries(plan, messages.len()).len(), messages.len());
    }
}

/// Returns the status of the ring of `deadlock` with pauses: each host sends two packets to the
/// second host after it.
fn around(marks: [u64; 2], response_time: u64) -> Status {
    let mut plan = crate::deadlock::around(1_000, 2);
    pausing(&mut plan, marks);
    packets(&mut plan, |packets| {
        packets.pauses.as_mut().unwrap().response_time = Span::from_ps(response_time);
    });
    // Examined every 100 ps.
    plan.stop = stop_at(6_400);
    crate::deadlock::ends_as(plan)
}

#[test]
fn paused_lanes_deadlock_a_ring() {
    // At 125 each switch sends a packet to the next, and it counts at 160: more than zero. The
    // pause takes effect at 300, before the ring is idle, at 765.
    assert!(matches!(around([0, 0], 15), Status::Deadlocked(_)));
    // One packet is not above 64: at 765 the first go on.
    assert_eq!(around([64, 64], 15), Status::Finished);
}

#[test]
fn pause_not_yet_received_is_no_deadlock() {
    // In effect at 160 + 25 + 100 + 1,000: packets still start at 765.
    assert_eq!(around([0, 0], 1_000), Status::Finished);
}

#[test]
fn segmented_messages_pause_between_packets() {
    let mut plan = into_a_slow_cable(128, 64);
    plan.classes.clear();
    sends(&mut plan, 0, 0, &[(0, 1, 256)]);
    plan.classes[0].segmentation = SegmentationPlan::Fixed(64);
    let found = deliveries(plan, 1);
    // The fourth packet starts at 13,065, behind the third, at 19,325.
    assert_eq!(found[0].delivered, Time::from_ps(19_325 + 6_400 + 25));
}
