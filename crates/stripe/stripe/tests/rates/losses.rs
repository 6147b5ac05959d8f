//! Losses, deaths and repair in free order.

use gingham_stripe::{Charge, Discard, ReceiverOptions, SenderOptions, Thousandths};

use super::world::{LONGEST_BYTES, Line, NOTHING, World, free, free_with, lasting, repairing};

const FROM_MS: u64 = 3_000;

/// The worst of `SEEDS=20` reaches .955.
#[test]
fn jitter_with_repaired_losses() {
    let jittery = |line| Line { jitter_ms: 10, loss_per_mille: 5, ..line };
    let lines = [jittery(Line::new(20, 10)), jittery(Line::new(10, 60))];
    let shares = (1..=super::seeds(1)).map(|seed| {
        let mut world = World::with(&lines, repairing(seed), seed);
        world.run_to(10_000);
        assert_eq!(world.out_of_order(), 0);
        (super::per_mille(&world, &lines, FROM_MS, 10_000), world.receiver.reception().given_up)
    });
    let shares: Vec<_> = shares.collect();
    assert!(shares.iter().all(|(share, _)| *share >= 900), "{shares:?} thousandths of the sum");
}

/// Queues of a quarter of the round trip of 200 ms; the loss threshold is a fifth. The worst of
/// `SEEDS=10` reaches .968.
#[test]
fn losses_below_the_threshold_at_a_long_rtt() {
    let line = Line { queue_bytes: 128_000, ..Line::new(20, 100) };
    let lines = [Line { loss_per_mille: 50, ..line }, line];
    let share = |seed: u64| {
        let options = free_with(|bbr| {
            (bbr.seed, bbr.loss_threshold) = (100 * seed, Thousandths(200));
        });
        let mut world = World::with(&lines, options, seed);
        world.run_to(13_000);
        super::per_mille(&world, &lines, FROM_MS, 13_000)
    };
    let shares: Vec<u64> = (1..=super::seeds(2)).map(share).collect();
    assert!(shares.iter().all(|share| *share >= 950), "{shares:?} thousandths of the sum");
}

#[test]
fn three_unequal_channels_with_alternating_packet_lengths() {
    let lines = [Line::new(5, 5), Line::new(20, 25), Line::new(50, 80)];
    let lengths = |number| if number % 2 == 0 { 1_280 } else { 200 };
    let mut world = World::with(&lines, free(1), 1).with_lengths(lengths);
    world.run_to(8_000);
    let reached = super::per_mille(&world, &lines, FROM_MS, 8_000);
    assert!(reached >= 950 && world.out_of_order() == 0, "{reached} thousandths of the sum");
}

/// Of 4 MB, the reserve of a channel is 667 kB; the last channel carries 1 MB in a round trip of
/// 160 ms and a report interval.
#[test]
fn credits_do_not_limit_throughput() {
    let lines = [Line::new(5, 5), Line::new(20, 25), Line::new(50, 80)];
    for buffer_bytes_max in [ReceiverOptions::default().buffer_bytes_max, 4_000_000] {
        let (sender, receiver) = free(1);
        let sender = SenderOptions { credits: Some(Charge::default()), ..sender };
        let receiver = ReceiverOptions { buffer_bytes_max, ..receiver };
        let lengths = |number| if number % 2 == 0 { 1_280 } else { 200 };
        let mut world = World::with(&lines, (sender, receiver), 1).with_lengths(lengths);
        world.run_to(8_000);
        let reached = super::per_mille(&world, &lines, FROM_MS, 8_000);
        let full = world.receiver.reception().discards.of(Discard::BufferFull);
        assert!(reached >= 950 && full == 0, "{reached} thousandths of the sum, {full} lost");
    }
}

/// No packet is lost, although the receiver's wait is not configured and the third channel takes
/// seconds to carry the packets that were in flight on the others.
#[test]
fn two_of_three_channels_fail_and_return() {
    let lines = [Line::new(5, 5), Line::new(20, 25), Line::new(50, 80)];
    for (stays, seed) in
        (0..3).flat_map(|stays| (1..=super::seeds(1)).map(move |seed| (stays, seed)))
    {
        let mut world = World::with(&lines, repairing(seed), seed);
        for channel in (0..3).filter(|channel| *channel != stays) {
            world.block(10_000, channel, 0);
            world.block(40_000, channel, NOTHING);
        }
        world.run_to(46_000);
        let alone = super::per_mille(&world, &lines[stays..=stays], 11_000, 40_000);
        let all = super::per_mille(&world, &lines, 43_000, 46_000);
        let given_up = world.receiver.reception().given_up;
        assert!(alone >= 930, "{stays} stays: {alone} thousandths of its own");
        assert!(all >= 900 && given_up == 0, "{stays} stays: {all}, {given_up} lost");
        assert_eq!(world.out_of_order(), 0);
    }
}

/// The path passes markers and short packets.
#[test]
fn channel_losing_long_packets_is_inactive_until_it_passes_them() {
    let lines = [Line::new(10, 10), Line::new(20, 25)];
    for from_bytes in [1_400, 210] {
        let lengths = |number| if number % 2 == 0 { LONGEST_BYTES } else { 190 };
        let mut world = World::with(&lines, lasting(1), 1).with_lengths(lengths);
        world.block(4_000, 1, from_bytes);
        world.block(8_000, 1, NOTHING);
        world.run_to(12_000);
        let alone = super::per_mille(&world, &lines[..1], 5_000, 8_000);
        let both = super::per_mille(&world, &lines, 11_000, 12_000);
        let given_up = world.receiver.reception().given_up;
        let deaths = world.sender.sending().deaths;
        assert!(deaths == 1, "{deaths} deaths");
        assert!(alone >= 900 && both >= 900, "{alone} alone, {both} of both");
        assert_eq!((world.out_of_order(), given_up), (0, 0));
    }
}
