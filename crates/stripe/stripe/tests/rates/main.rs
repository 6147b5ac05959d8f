//! Congestion control in virtual time, over emulated channels of unknown rates. Free order, unless
//! stated otherwise.

mod collapse;
mod healing;
mod losses;
mod policies;
mod quarantine;
mod sizes;
mod strict;
mod world;

use gingham_stripe::{ControlPlan, SenderOptions, Thousandths};
use world::{LONGEST_BYTES, Line, Source, World, free_with, strict};

const MBIT: u64 = 125_000;

/// Delivered fraction of the rates less losses.
fn per_mille(world: &World, lines: &[Line], from_ms: u64, until_ms: u64) -> u64 {
    let kept = |line: &Line| line.mbit * MBIT * u64::from(1_000 - line.loss_per_mille) / 1_000;
    let sum_bytes = lines.iter().map(kept).sum::<u64>() * (until_ms - from_ms) / 1_000;
    world.delivered_bytes(from_ms, until_ms) * 1_000 / sum_bytes
}

/// Of the sender's estimate of a channel's rate.
fn estimate_percent(world: &World, channel: usize, mbit: u64) -> u64 {
    let flight = world.sender.flight(channel).expect("flight windows are on");
    flight.bytes_per_second.expect("there was a sample") * 100 / (mbit * MBIT)
}

/// From `SEEDS` or by default.
#[expect(clippy::disallowed_methods, reason = "a test has no arguments of its own")]
fn seeds(default: u64) -> u64 {
    std::env::var("SEEDS").map_or(default, |seeds| seeds.parse().expect("SEEDS is a number"))
}

fn assert_reaches(lines: &[Line], least: u64) -> World {
    let mut world = World::new(lines);
    world.run_to(6_000);
    let reached = per_mille(&world, lines, 3_000, 6_000);
    assert!(reached >= least, "{reached} thousandths of the sum");
    world
}

#[test]
fn equal_channels_reach_their_sum() {
    let world = assert_reaches(&[Line::new(10, 10), Line::new(10, 10)], 970);
    assert_eq!(world.out_of_order(), 0);
}

#[test]
fn unconfigured_rates_are_found() {
    let world = assert_reaches(&[Line::new(10, 10), Line::new(20, 10)], 970);
    assert_eq!(world.out_of_order(), 0);
    for (channel, mbit) in [(0, 10), (1, 20)] {
        let percent = estimate_percent(&world, channel, mbit);
        assert!((96..=100).contains(&percent), "channel {channel}: {percent} %");
    }
}

/// Reports of 200 Mbit/s on a reverse path of 1 Mbit/s: every 5 ms, or every millisecond at a short
/// round trip.
#[test]
fn reverse_channel_of_one_200th_of_the_rate_suffices() {
    for delay_ms in [1, 10] {
        let line = Line { back_mbit: 1, ..Line::new(200, delay_ms) };
        for lines in [&[line][..], &[line, line]] {
            let world = assert_reaches(lines, 970);
            assert_eq!(world.out_of_order(), 0);
        }
    }
}

/// The slow link alone takes 40 ms, plus 0.6 ms for a packet of 1,500 bytes at 20 Mbit/s. The
/// source has four fifths of the rates, and a packet on the first link may queue as long as it
/// arrives before one on the second.
#[test]
fn skew_costs_no_rate_or_order_and_little_delay() {
    let lines = [Line::new(20, 10), Line::new(20, 40)];
    let mut world = World::new(&lines);
    world.set_source(6_000, Source::Paced(4_000));
    world.run_to(12_000);
    let reached = per_mille(&world, &lines, 3_000, 6_000);
    assert!(reached >= 970 && world.out_of_order() == 0, "{reached} thousandths of the sum");
    let delay_ns = world.delay_ns(8_000, 12_000, 99);
    assert!(delay_ns <= 40_600_000 + 20_000_000, "{delay_ns} ns");
}

#[test]
fn rate_ratio_of_twenty_is_found() {
    assert_reaches(&[Line::new(5, 10), Line::new(100, 10)], 970);
}

#[test]
fn rates_of_eight_unequal_channels_are_found() {
    let rates = [10, 20, 50, 5, 100, 30, 10, 7];
    let line = |(place, &mbit): (u64, &u64)| Line::new(mbit, 5 + 7 * place);
    let lines: Vec<Line> = (0..).zip(&rates).map(line).collect();
    let mut world = World::new(&lines);
    world.run_to(8_000);
    let reached = per_mille(&world, &lines, 5_000, 8_000);
    assert!(reached >= 970 && world.out_of_order() == 0, "{reached} thousandths of the sum");
}

/// Queues of 16 kB, which take 6 to 13 ms to drain: the standing queue of a usual window overflows
/// them.
#[test]
fn short_queues_are_learnt() {
    let lines = [10, 20].map(|mbit| Line { queue_bytes: 16_000, ..Line::new(mbit, 10) });
    let mut world = World::new(&lines);
    world.run_to(8_000);
    let reached = per_mille(&world, &lines, 4_000, 8_000);
    let counters: Vec<_> = world.there.iter().map(gingham_linkemu::Channel::counters).collect();
    let dropped: u64 = counters.iter().map(|line| line.queue_full).sum();
    let offered: u64 = counters.iter().map(|line| line.offered).sum();
    assert!(reached >= 950, "{reached} thousandths of the sum");
    assert!(dropped * 50 < offered, "{dropped} of {offered} found no room");
}

/// The paper's adversary: round robin by packets would put the long ones on one channel.
#[test]
fn alternating_packet_lengths_do_not_reduce_throughput() {
    let lines = [Line::new(10, 10), Line::new(10, 10)];
    let mut world =
        World::new(&lines).with_lengths(|number| if number % 2 == 0 { LONGEST_BYTES } else { 200 });
    world.run_to(5_000);
    let reached = per_mille(&world, &lines, 3_000, 5_000);
    assert!(reached >= 970 && world.out_of_order() == 0, "{reached} thousandths of the sum");
}

#[test]
fn changed_rates_are_followed() {
    let lines = [Line::new(10, 10), Line::new(20, 10)];
    let mut world = World::new(&lines);
    world.set_rate(3_000, 0, 20);
    world.set_rate(3_000, 1, 10);
    world.run_to(8_000);
    let reached = per_mille(&world, &lines, 6_000, 8_000);
    assert!(reached >= 970 && world.out_of_order() == 0, "{reached} thousandths of the sum");
}

/// A load of 5 of 30 Mbit/s for a while, or full load for 200 of each 500 ms.
#[test]
fn app_limited_source_does_not_lower_estimates() {
    let lines = [Line::new(10, 10), Line::new(20, 10)];
    let mut world = World::new(&lines);
    world.set_source(2_000, Source::Paced(625));
    world.set_source(7_000, Source::Silent);
    for burst in 0..6 {
        world.set_source(8_000 + 500 * burst, Source::Backlogged);
        world.set_source(8_200 + 500 * burst, Source::Silent);
    }
    world.set_source(11_000, Source::Backlogged);
    world.run_to(13_000);
    assert!(estimate_percent(&world, 0, 10) >= 96 && estimate_percent(&world, 1, 20) >= 96);
    let reached = per_mille(&world, &lines, 11_500, 13_000);
    assert!(reached >= 970 && world.out_of_order() == 0, "{reached} thousandths of the sum");
}

/// With jitter, no channel observes its minimum round trip by chance: each probes for it every ten
/// to twenty seconds.
#[test]
fn channels_probe_their_rtts_one_after_another() {
    let lines = [Line { jitter_ms: 50, ..Line::new(20, 20) }; 8];
    let mut world = World::new(&lines);
    let mut probed = [false; 8];
    for ms in (0..40_000).step_by(5) {
        world.run_to(ms);
        let is_probing = |channel: &usize| {
            world.sender.flight(*channel).is_some_and(|flight| flight.is_probing_round_trip)
        };
        let probing: Vec<usize> = (0..8).filter(is_probing).collect();
        assert!(probing.len() <= 1, "at {ms} ms {probing:?}");
        for channel in probing {
            probed[channel] = true;
        }
    }
    assert_eq!(probed, [true; 8]);
}

/// One channel loses a twentieth; thresholds of 2 and 20 %.
#[test]
fn loss_below_the_threshold_is_not_taken_for_congestion() {
    let lines = [Line { loss_per_mille: 50, ..Line::new(10, 50) }, Line::new(20, 10)];
    let reached = |loss_threshold| {
        let mut world =
            World::with(&lines, free_with(|bbr| bbr.loss_threshold = loss_threshold), 1);
        world.run_to(6_000);
        per_mille(&world, &lines, 3_000, 6_000)
    };
    let shares = [20, 200].map(|share| reached(Thousandths(share)));
    assert!(shares[0] < 900 && shares[1] >= 950, "{shares:?} thousandths of the sum");
}

#[test]
fn jitter_is_not_taken_for_a_queue() {
    let jittery = |line| Line { jitter_ms: 10, loss_per_mille: 5, ..line };
    let lines = [jittery(Line::new(20, 10)), jittery(Line::new(10, 60))];
    let mut world = World::new(&lines);
    world.run_to(10_000);
    let reached = per_mille(&world, &lines, 3_000, 10_000);
    assert!(reached >= 900, "{reached} thousandths of the sum");
}

/// A queue of 64 kB is 51 ms at 10 Mbit/s. BBR overflows it once, to learn its capacity.
#[test]
fn congestion_control_keeps_queues_from_overflowing() {
    let lines = [10, 20].map(|mbit| Line { queue_bytes: 64_000, ..Line::new(mbit, 10) });
    let dropped = |control| {
        let (sender, receiver) = strict();
        let sender = SenderOptions { control, shares: None, ..sender };
        let mut world = World::with(&lines, (sender, receiver), 1);
        world.run_to(2_000);
        world.there.iter().map(|line| line.counters().queue_full).sum::<u64>()
    };
    let (without, with) = (dropped(None), dropped(Some(ControlPlan::default())));
    assert!(with < 50 && without > 100 * with.max(1), "{with} and {without} found no room");
}
