//! User policies: priorities, rate limits, and packet classes.

use gingham_stripe::{Class, RateCap};

use super::world::{Line, NOTHING, Source, World, lasting, repairing};
use super::{MBIT, per_mille};

const TAG_BYTES: u64 = 12;

/// Thousandths of the bytes sent on the second of two channels of 30 Mbit/s, the expensive one,
/// from 2 s to 10 s.
fn dear_per_mille(world: &mut World, source: Source) -> u64 {
    world.sender.set_priority(1, 1);
    world.set_source(0, source);
    let sent = |world: &World| [0, 1].map(|channel| world.sender.sent(channel).bytes);
    world.run_to(2_000);
    let before = sent(world);
    world.run_to(10_000);
    let after = sent(world);
    let [cheap, dear] = [0, 1].map(|channel| after[channel] - before[channel]);
    dear * 1_000 / (cheap + dear)
}

/// 20 Mbit/s fit the cheap channel of 30: evenly spaced, and in bursts that take it 13 ms, less
/// than a round trip of 20 ms.
#[test]
fn expensive_channel_is_idle_while_the_cheap_one_suffices() {
    let even = Source::Paced(20 * MBIT / 1_000);
    let cases = [(2, even), (10, even), (40, even), (10, Source::Bursts(20 * MBIT / 50))];
    for (delay_ms, source) in cases {
        let mut world = World::new(&[Line::new(30, delay_ms), Line::new(30, 10)]);
        let share = dear_per_mille(&mut world, source);
        assert!(share <= 10, "{delay_ms} ms, {source:?}: {share} thousandths on the dear channel");
        assert_eq!(world.out_of_order(), 0);
    }
}

/// Of 50 Mbit/s the cheap channel carries 30, which leaves two fifths.
#[test]
fn expensive_channel_carries_the_excess() {
    let lines = [Line::new(30, 10), Line::new(30, 10)];
    let mut world = World::new(&lines);
    let share = dear_per_mille(&mut world, Source::Paced(50 * MBIT / 1_000));
    assert!((400..450).contains(&share), "{share} thousandths on the dear channel");
    let delivered = world.delivered_bytes(3_000, 10_000) * 1_000 / (50 * MBIT * 7);
    assert!(delivered >= 990, "{delivered} thousandths of what was offered");
    world.set_source(10_000, Source::Backlogged);
    world.run_to(14_000);
    let reached = per_mille(&world, &lines, 11_000, 14_000);
    assert!(reached >= 970 && world.out_of_order() == 0, "{reached} thousandths of the sum");
}

#[test]
fn expensive_channel_replaces_a_dead_one() {
    let lines = [Line::new(30, 10), Line::new(30, 10)];
    let mut world = World::with(&lines, repairing(1), 1);
    world.sender.set_priority(1, 1);
    world.set_source(0, Source::Paced(20 * MBIT / 1_000));
    world.block(3_000, 0, 0);
    world.block(5_000, 0, NOTHING);
    world.run_to(10_000);
    let delivered = world.delivered_bytes(3_500, 5_000) * 1_000 / (20 * MBIT * 3 / 2);
    assert!(delivered >= 970, "{delivered} thousandths while it was dead");
    let dear = world.sender.sent(1).bytes;
    world.run_to(12_000);
    let after = (world.sender.sent(1).bytes - dear) * 1_000 / (20 * MBIT * 2);
    assert!(after <= 10, "{after} thousandths on the dear one once the other is back");
}

/// A queue of 256 kB is 100 ms at 20 Mbit/s; with a limit a tenth below the rate none forms.
/// Packets of 200 bytes have a tag of 12 bytes in 212.
#[test]
fn cap_below_the_rate_keeps_the_queue_empty() {
    let lengths: [fn(u64) -> u32; 2] = [|_| 1_500, |_| 200];
    for (length, lengths) in [1_500, 200].into_iter().zip(lengths) {
        let mut world = World::new(&[Line::new(20, 10)]).with_lengths(lengths);
        let cap = RateCap { bytes_per_second: 18 * MBIT, overhead_bytes: TAG_BYTES };
        world.sender.cap_rate(0, Some(cap));
        world.run_to(6_000);
        let wire = world.delivered_bytes(2_000, 6_000) / length * (length + TAG_BYTES);
        let reached = wire * 1_000 / (18 * MBIT * 4);
        assert!((980..=1_000).contains(&reached), "{reached} thousandths of the cap");
        // 10 ms, plus the largest burst: a millisecond and a packet.
        let delay_ns = world.delay_ns(2_000, 6_000, 100);
        assert!(delay_ns <= 12_500_000, "{delay_ns} ns");
    }
}

/// Two channels of 20 Mbit/s, 10 and 40 ms, and 5 Mbit/s. When the fastest dies, the traffic moves
/// to the other.
#[test]
fn fastest_class_stays_on_the_fastest_channel() {
    let lines = [Line::new(20, 40), Line::new(20, 10)];
    let mut world = World::with(&lines, repairing(1), 1);
    world.classes = |_| Class::Fastest;
    world.set_source(100, Source::Paced(5 * MBIT / 1_000));
    world.set_source(0, Source::Silent);
    world.run_to(100);
    let before = world.sender.sent(0).packets;
    world.run_to(3_000);
    assert_eq!(world.sender.sent(0).packets, before);
    assert!(world.delay_ns(0, 3_000, 99) < 12_000_000);
    world.block(3_000, 1, 0);
    world.set_source(6_000, Source::Silent);
    world.run_to(8_000);
    assert!(world.sender.sent(0).packets > 1_000);
    assert_all_came_once(&world);
}

fn assert_all_came_once(world: &World) {
    let numbers: Vec<u64> = world.deliveries.iter().map(|delivery| delivery.number).collect();
    let all: Vec<u64> = (0..numbers.len() as u64).collect();
    assert!(numbers.len() as u64 == world.sender.sending().packets && numbers == all);
}

/// None of the packets is later than the delay of the slower channel.
#[test]
fn channel_death_does_not_affect_redundant_traffic() {
    for dying in [0, 1] {
        let lines = [Line::new(20, 10), Line::new(10, 30)];
        let mut world = World::with(&lines, repairing(1), 1);
        world.classes = |_| Class::Redundant;
        world.set_source(0, Source::Paced(4 * MBIT / 1_000));
        world.block(3_000, dying, 0);
        world.set_source(6_000, Source::Silent);
        world.run_to(8_000);
        assert_all_came_once(&world);
        let latest = world.deliveries.iter().map(|delivery| delivery.delay_ns).max();
        // 30 ms, 1.3 ms for a packet at 10 Mbit/s, and the burst sent before.
        assert!(latest < Some(35_000_000), "{latest:?} ns with channel {dying} dead");
        let sending = world.sender.sending();
        let copied = sending.redundant * 1_000 / sending.packets;
        assert!((400..=1_000).contains(&copied), "{copied} thousandths were copied");
        assert_eq!(sending.repairs, 0, "nothing was missing");
    }
}

/// Each of two channels loses a tenth at random: of the packets sent on both a hundredth, of the
/// others a tenth.
#[test]
fn redundant_traffic_is_rarely_retransmitted() {
    let repairs = |classes| {
        let line = Line { loss_per_mille: 100, ..Line::new(20, 10) };
        let mut world = World::with(&[line, line], repairing(1), 1);
        world.classes = classes;
        world.set_source(0, Source::Paced(MBIT / 1_000));
        world.set_source(8_000, Source::Silent);
        world.run_to(10_000);
        assert_all_came_once(&world);
        world.sender.sending().repairs
    };
    let (once, twice) = (repairs(|_| Class::Spread), repairs(|_| Class::Redundant));
    assert!(twice * 5 < once, "{twice} and {once} packets were sent again");
}

/// One of two channels that carry 24 of 40 Mbit/s dies; every second packet is on both.
#[test]
fn packets_received_on_another_channel_are_not_requested() {
    let repairs = |classes| {
        let mut world = World::with(&[Line::new(20, 30), Line::new(20, 40)], lasting(1), 1);
        world.classes = classes;
        world.set_source(0, Source::Paced(16 * MBIT / 1_000));
        world.block(3_000, 0, 0);
        world.set_source(4_000, Source::Silent);
        world.run_to(8_000);
        assert_all_came_once(&world);
        world.sender.sending().repairs
    };
    let mixed = |number| if number % 2 == 0 { Class::Redundant } else { Class::Spread };
    let (once, half) = (repairs(|_| Class::Spread), repairs(mixed));
    assert!(half * 4 < once * 3, "{half} and {once} packets were sent again");
}
