//! The time until channels that were bad for a while are used again.
//!
//! Baseline: with a controller that only probes slightly more each round trip, a channel that had
//! lost two thirds of all packets for seconds remained nearly unused for up to 100 s.

use super::world::{Line, World, free};

const HEAL_MS: u64 = 6_000;
const WINDOW_MS: u64 = 250;

/// Time until .9 of the sum is delivered in a quarter of a second.
fn healing_ms(seed: u64) -> u64 {
    let lines = [Line::new(10, 10), Line::new(20, 40)];
    let mut world = World::with(&lines, free(seed), seed);
    // The errors last one to five seconds, on one of the two channels or on both.
    for channel in 0..2 {
        if seed % 3 != channel {
            let channel = usize::try_from(channel).expect("small");
            world.set_loss(HEAL_MS - 1_000 - 40 * (seed % 101), channel, 660);
            world.set_loss(HEAL_MS, channel, 0);
        }
    }
    world.run_to(HEAL_MS + 8_000);
    assert_eq!(world.out_of_order(), 0);
    let is_healed = |after_ms: &u64| {
        let from_ms = HEAL_MS + after_ms;
        super::per_mille(&world, &lines, from_ms, from_ms + WINDOW_MS) >= 900
    };
    (0..8_000 - WINDOW_MS).step_by(50).find(is_healed).unwrap_or(8_000) + WINDOW_MS
}

/// Seed 3030391 of a campaign was such a case. `SEEDS=100` gives the figures of the page.
#[test]
fn channels_recover_within_seconds_of_losing_two_thirds() {
    let mut times_ms: Vec<u64> = (0..super::seeds(12)).map(healing_ms).collect();
    times_ms.sort_unstable();
    let (median_ms, worst_ms) = (times_ms[times_ms.len() / 2], times_ms[times_ms.len() - 1]);
    assert!(median_ms <= 2_500 && worst_ms <= 5_000, "{median_ms} ms, {times_ms:?}");
}
