//! Queues shorter than a round trip's worth, where a sender that trusts its windows collapses.
//!
//! The null is what strict order with flight windows and no pace gives: .002 to .6 of the sum.

use super::world::{Line, World, free};

/// What is delivered from 3 s to 13 s, of what the lines carry but for what they lose and the tags,
/// in thousandths.
fn share(lines: &[Line], seed: u64) -> u64 {
    let mut world = World::with(lines, free(), seed);
    world.run_to(13_000);
    assert_eq!(world.out_of_order(), 0);
    super::per_mille(&world, lines, 3_000, 13_000)
}

fn line(mbit: u64, delay_ms: u64, queue_bytes: u64) -> Line {
    Line { queue_bytes, ..Line::new(mbit, delay_ms) }
}

fn assert_carries(name: &str, lines: &[Line], least: u64) {
    let shares: Vec<u64> = (1..=10).map(|seed| share(lines, seed)).collect();
    let worst = shares.iter().min().expect("ten seeds");
    eprintln!("{name}: {shares:?}");
    assert!(*worst >= least, "{name}: {shares:?}");
}

#[test]
fn queues_of_64_kb_at_10_ms() {
    assert_carries("10 ms, 64 kB", &[line(100, 10, 64_000), line(300, 10, 64_000)], 920);
}

#[test]
fn queues_of_128_kb_at_25_ms() {
    assert_carries("25 ms, 128 kB", &[line(100, 25, 128_000), line(300, 25, 128_000)], 920);
}

#[test]
fn queues_of_64_kb_at_25_ms() {
    assert_carries("25 ms, 64 kB", &[line(100, 25, 64_000), line(300, 25, 64_000)], 920);
}

#[test]
fn queues_of_256_kb_at_50_ms() {
    assert_carries("50 ms, 256 kB", &[line(100, 50, 256_000), line(300, 50, 256_000)], 920);
}

#[test]
fn queues_of_64_kb_at_150_ms() {
    assert_carries("150 ms, 64 kB", &[line(20, 150, 64_000), line(20, 150, 64_000)], 920);
}

#[test]
fn five_per_cent_lost_on_one() {
    let lossy = Line { loss_per_mille: 50, ..line(20, 100, 128_000) };
    assert_carries("5 % lost", &[line(20, 100, 128_000), lossy], 920);
}
