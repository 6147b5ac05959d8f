//! Strict order over channels of unknown rates: the pipe waits for the channel that is slowest for
//! its share. Packets have no overhead: results are fractions of the sum of the rates.
//!
//! Baseline: a clock for each controller, and a quarter more for one channel after another every
//! four seconds: .949, .939, .660, .905 and .963 in the first rows, and .954 for 5 and 100 Mbit/s.

use gingham_stripe::Controlled;

use super::world::{Line, World, strict};

/// From `from_ms` to 13 s, in thousandths of the rates less losses; with `change` the rates are
/// exchanged after 3 s.
fn share(lines: &[Line], from_ms: u64, change: bool, seed: u64) -> u64 {
    let (mut sender, receiver) = strict();
    if let Some(Controlled::Bbr(bbr)) = sender.control.as_mut().map(|control| &mut control.by) {
        bbr.seed = 100 * seed;
    }
    let mut world = World::with(lines, (sender, receiver), seed);
    if change {
        world.set_rate(3_000, 0, lines[1].mbit);
        world.set_rate(3_000, 1, lines[0].mbit);
    }
    world.run_to(13_000);
    super::per_mille(&world, lines, from_ms, 13_000)
}

/// The worst of two seeds by default (`SEEDS`).
fn assert_carries(lines: &[Line], from_ms: u64, least: u64) {
    assert_shares(lines, from_ms, false, least);
}

fn assert_shares(lines: &[Line], from_ms: u64, change: bool, least: u64) {
    let seeds = 1..=super::seeds(2);
    let shares: Vec<u64> = seeds.map(|seed| share(lines, from_ms, change, seed)).collect();
    assert!(shares.iter().all(|share| *share >= least), "{shares:?} thousandths of the sum");
}

fn line(mbit: u64, delay_ms: u64, queue_bytes: u64) -> Line {
    Line { queue_bytes, ..Line::new(mbit, delay_ms) }
}

#[test]
fn equal_channels() {
    assert_carries(&[Line::new(10, 10), Line::new(10, 10)], 3_000, 982);
}

#[test]
fn unequal_rates() {
    assert_carries(&[Line::new(10, 10), Line::new(20, 10)], 3_000, 982);
}

#[test]
fn unequal_delays() {
    assert_carries(&[Line::new(20, 10), Line::new(20, 40)], 3_000, 982);
}

#[test]
fn rate_ratio_of_twenty() {
    assert_carries(&[Line::new(5, 10), Line::new(100, 10)], 3_000, 982);
}

/// Delays from 5 to 54 ms: the last startup ends after 5 s to 6 s.
#[test]
fn eight_unequal_channels() {
    let rates = [10, 20, 50, 5, 100, 30, 10, 7];
    let line = |(place, &mbit): (u64, &u64)| Line::new(mbit, 5 + 7 * place);
    let lines: Vec<Line> = (0..).zip(&rates).map(line).collect();
    assert_carries(&lines, 5_000, 940);
    assert_carries(&lines, 7_000, 980);
}

#[test]
fn exchanged_rates() {
    assert_shares(&[Line::new(10, 10), Line::new(20, 10)], 5_000, true, 972);
}

/// A round trip of 160 ms beside one of 10 ms takes 8 s to adapt.
#[test]
fn delays_from_5_to_80_ms() {
    let lines = [Line::new(5, 5), Line::new(20, 25), Line::new(50, 80)];
    assert_carries(&lines, 3_000, 900);
    assert_carries(&lines, 8_000, 975);
}

/// After a tenth of its rate for two seconds, the share of a channel is nearly restored in a
/// second, and fully in another.
#[test]
fn rate_drop_for_two_seconds() {
    let lines = [Line::new(10, 10), Line::new(20, 10)];
    let mut world = World::with(&lines, strict(), 1);
    world.set_rate(5_000, 1, 2);
    world.set_rate(7_000, 1, 20);
    world.run_to(13_000);
    let [after, later] = [(8_000, 9_000), (9_000, 13_000)]
        .map(|(from_ms, until_ms)| super::per_mille(&world, &lines, from_ms, until_ms));
    assert!(after >= 850 && later >= 970, "{after}, then {later} thousandths of the sum");
}

#[test]
fn queues_shorter_than_a_round_trip() {
    for (lines, least) in [
        ([line(100, 10, 64_000), line(300, 10, 64_000)], 975),
        ([line(100, 25, 128_000), line(300, 25, 128_000)], 955),
        ([line(100, 25, 64_000), line(300, 25, 64_000)], 935),
        ([line(100, 50, 256_000), line(300, 50, 256_000)], 955),
        ([line(20, 150, 64_000), line(20, 150, 64_000)], 955),
    ] {
        assert_carries(&lines, 3_000, least);
    }
}
