//! Space and credits: the space of a lane limits the rate of its channel.

use crate::common::lanes::on_lanes;
use crate::common::packets::{packets, packets_plan, sends};
use crate::common::{backlogged, chain, channel, deliveries, row, stop_at, story};
use crate::last_starts;
use gingham_kernel::{Span, Time};
use gingham_net::{Plan, Status};
use gingham_oracle::start;
use gingham_topology::routing::LaneSet;
use proptest::prelude::*;
use std::sync::Arc;

/// h0 sends packets of 64 bytes, 640 ps each, into a buffer of `held` packets.
fn backlog(held: u32, credit_delay: u64) -> Plan {
    let mut plan = packets_plan(chain(1), 1);
    packets(&mut plan, |packets| {
        packets.buffer_blocks = [held; 16];
        packets.forwarding_delay = Span::from_ps(2_000);
        packets.credit_delay = Span::from_ps(credit_delay);
    });
    backlogged(&mut plan, 0, 1, 64);
    plan
}

fn entries(plan: Plan, count: usize) -> Vec<u64> {
    deliveries(plan, count).iter().map(|delivery| story(delivery).1).collect()
}

#[test]
fn space_returns_after_the_tail_leaves_and_the_credit_arrives() {
    // Ready at 25 + 2,000, left at 2,025 + 640 = 2,665, known 25 later, and so on.
    assert_eq!(entries(backlog(1, 0), 3), [0, 2_690, 5_380]);
    // The second starts at 640, waits for the first, and has left at 3,305.
    assert_eq!(entries(backlog(2, 0), 5), [0, 640, 2_690, 3_330, 5_380]);
    assert_eq!(entries(backlog(2, 310), 5), [0, 640, 3_000, 3_640, 6_000]);
}

#[test]
fn credits_return_with_the_delay_of_the_reverse_channel() {
    let mut plan = backlog(1, 310);
    let back = channel(&plan.fabric, "s0", "h0");
    plan.channels[back.index()].delay = Span::from_ps(1_000);
    assert_eq!(entries(plan, 2), [0, 2_665 + 1_000 + 310]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn link_share_follows_from_the_buffer_size(
        held in 1..6_u32, forwarding in 10..3_000_u64, credit_delay in 0..2_000_u64
    ) {
        let mut plan = backlog(held, credit_delay);
        packets(&mut plan, |packets| packets.forwarding_delay = Span::from_ps(forwarding));
        // 4 rounds of the buffer.
        let count = 4 * held as usize;
        let entries = entries(plan, count + 1);
        let period = 50 + forwarding + credit_delay + 640;
        prop_assert_eq!(entries[count], 4 * period.max(640 * u64::from(held)));
    }
}

#[test]
fn space_is_taken_in_blocks_of_64_bytes() {
    // Three blocks hold three packets of 64 bytes, but one of 65.
    let start_of = |bytes: u32, nth: usize| {
        let mut plan = backlog(3, 0);
        plan.classes.clear();
        sends(&mut plan, 0, 0, &[(0, 1, bytes); 3]);
        entries(plan, 3)[nth]
    };
    assert_eq!([start_of(64, 1), start_of(64, 2)], [640, 1_280]);
    assert_eq!([start_of(65, 1), start_of(65, 2)], [2_700, 5_400]);
    assert_eq!(start_of(63, 2), 1_260);
    assert_eq!(start_of(1, 2), 20);
}

#[test]
fn candidate_without_space_keeps_its_lane() {
    // The buffer of s1 holds three blocks. A of h0, two blocks: there at 150, out at 250, left at
    // 1,530, known at 1,555. B of h1, two blocks, is ready before C of h2, one block, that would
    // fit beside A.
    let mut plan = packets_plan(row(2, &[0, 0, 0, 1]), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [3; 16]);
    sends(&mut plan, 0, 0, &[(0, 3, 128)]);
    sends(&mut plan, 1, 0, &[(5, 3, 128)]);
    sends(&mut plan, 2, 0, &[(10, 3, 64)]);
    // B starts at s0 at 1,555, at s1 at 1,680. C follows at 1,555 + 1,280, and finds s1's output
    // busy until 2,960.
    assert_eq!(last_starts(&plan, 3), [(0, 250), (1, 1_680), (2, 2_960)]);
}

#[test]
fn leaving_packet_occupies_both_buffers() {
    // A packet that leaves s0 is in both buffers, which hold one: the next enters s0 only
    // afterwards.
    let mut plan = packets_plan(row(2, &[0, 1]), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [1; 16]);
    sends(&mut plan, 0, 0, &[(0, 1, 64), (0, 1, 64)]);
    // First: s0 at 125, left at 765, known at 790; s1 at 250, left at 890, known at 915. Second:
    // enters at 790, ready at 915.
    let found = deliveries(plan, 2);
    assert_eq!(story(&found[1]).1, 790);
    assert_eq!(found[1].delivered, Time::from_ps(790 + 3 * 25 + 2 * 100 + 640));
}

/// Time that each channel waited for credits, in ps.
fn waits<const N: usize>(mut plan: Plan, ps: u64, ends: [(&str, &str); N]) -> [u64; N] {
    plan.stop = stop_at(ps);
    let ways = ends.map(|(from, to)| channel(&plan.fabric, from, to));
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {}
    assert_eq!(simulation.now(), Time::from_ps(ps));
    let counts = simulation.channel_counts();
    ways.map(|channel| counts[channel.index()].stopped_ps)
}

#[test]
fn idle_channel_with_a_ready_packet_waits_for_credits() {
    // The host sends from 0 to 640, from 2,690 to 3,330 and from 5,380 on, with waits of 2,050
    // between. The channel into h1 needs no credits.
    let both = [("h0", "s0"), ("s0", "h1")];
    assert_eq!(waits(backlog(1, 0), 640, both), [0, 0]);
    assert_eq!(waits(backlog(1, 0), 641, both), [1, 0]);
    assert_eq!(waits(backlog(1, 0), 5_000, both), [2_050 + 5_000 - 3_330, 0]);
    assert_eq!(waits(backlog(1, 0), 6_000, both), [2 * 2_050, 0]);
    // Two packets at a time: the wait is from 1,280 to 2,690.
    assert_eq!(waits(backlog(2, 0), 3_000, both), [2_690 - 1_280, 0]);
    // A host with nothing to send does not wait.
    let mut plan = backlog(1, 0);
    plan.classes.clear();
    sends(&mut plan, 0, 0, &[(0, 1, 64)]);
    assert_eq!(waits(plan, 6_000, both), [0, 0]);
}

#[test]
fn switch_waits_for_credits_of_the_next_switch() {
    // As in `candidate_without_space_keeps_its_lane`: A leaves s0 from 125 to 1,405, B starts at
    // 1,555, and C follows without a gap.
    let mut plan = packets_plan(row(2, &[0, 0, 0, 1]), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [3; 16]);
    sends(&mut plan, 0, 0, &[(0, 3, 128)]);
    sends(&mut plan, 1, 0, &[(5, 3, 128)]);
    sends(&mut plan, 2, 0, &[(10, 3, 64)]);
    assert_eq!(waits(plan, 6_000, [("s0", "s1"), ("s1", "h3")]), [150, 0]);
}

#[test]
fn channel_does_not_wait_while_another_lane_sends() {
    // Lane 0 has a packet from 640 on, and credits at 2,690. Lane 1 sends from 1,000 to 1,640.
    let mut two = packets_plan(chain(1), 2);
    packets(&mut two, |packets| {
        packets.buffer_blocks = [1; 16];
        packets.forwarding_delay = Span::from_ps(2_000);
    });
    sends(&mut two, 0, 0, &[(0, 1, 64), (0, 1, 64)]);
    sends(&mut two, 0, 0, &[(1_000, 1, 64)]);
    on_lanes(&mut two, &[LaneSet::one(0), LaneSet::one(1)]);
    assert_eq!(waits(two, 6_000, [("h0", "s0")]), [1_000 - 640 + 2_690 - 1_640]);
}
