//! Channels that lose at least a third of their packets, beside channels with little loss.
//!
//! Baseline: without quarantine, each lost packet stalls the pipe until the retransmission arrives.

use super::world::{Line, World, free, repairing};

const HALF: u32 = 500;

fn losing(line: Line, loss_per_mille: u32) -> Line {
    Line { loss_per_mille, ..line }
}

fn quarantines(world: &World) -> u64 {
    world.sender.sending().quarantines
}

/// The 90th percentile of delay is at most 10 ms above that of the first two lines alone, and
/// goodput at most 1 % below.
#[test]
fn small_channel_losing_half_does_not_delay_others() {
    let clean = [Line::new(30, 15), Line::new(30, 20)];
    let lines = [clean[0], clean[1], losing(Line::new(10, 25), HALF)];
    let run = |lines: &[Line]| {
        let mut world = World::with(lines, repairing(1), 1);
        world.run_to(10_000);
        assert_eq!(world.out_of_order(), 0);
        let rate = super::per_mille(&world, &clean, 4_000, 10_000);
        (rate, world.delay_ns(4_000, 10_000, 90), quarantines(&world))
    };
    let (without, with) = (run(&clean), run(&lines));
    assert!(with.0 + 10 >= without.0, "{with:?} instead of {without:?}");
    assert!(with.1 <= without.1 + 10_000_000, "{with:?} instead of {without:?}");
    assert!((1..=3).contains(&with.2) && without.2 == 0, "{with:?}, {without:?}");
}

#[test]
fn channel_losing_a_fifth_is_used() {
    for (seed, lost) in (1..=super::seeds(2)).flat_map(|seed| [(seed, 100), (seed, 200)]) {
        let lines = [Line::new(30, 15), Line::new(30, 20), losing(Line::new(10, 25), lost)];
        let mut world = World::with(&lines, repairing(seed), seed);
        world.run_to(10_000);
        assert_eq!(quarantines(&world), 0, "seed {seed}, {lost} thousandths");
    }
}

/// The channel is the only one, both are lossy, or the other is far smaller or costs more.
#[test]
fn lossy_channel_is_used_if_no_other_is_better() {
    let (small, large) = (Line::new(1, 10), losing(Line::new(100, 10), HALF));
    for lines in [vec![large], vec![large, large], vec![large, small]] {
        let mut world = World::with(&lines, repairing(1), 1);
        world.run_to(6_000);
        let before = world.sender.sent(0).packets;
        world.run_to(8_000);
        assert!(world.sender.sent(0).packets - before > 100, "{lines:?}");
        assert!(!world.sender.is_in_quarantine(0), "{lines:?}");
        assert_eq!(world.out_of_order(), 0);
    }
    let mut world = World::with(&[large, Line::new(30, 10)], repairing(1), 1);
    world.sender.set_priority(1, 1);
    world.run_to(8_000);
    assert_eq!(quarantines(&world), 0, "the other costs more");
}

#[test]
fn quarantined_channel_replaces_a_dead_one() {
    let lines = [Line::new(30, 10), losing(Line::new(10, 10), HALF)];
    let mut world = World::with(&lines, repairing(1), 1);
    world.run_to(5_000);
    assert!(world.sender.is_in_quarantine(1));
    world.block(5_000, 0, 0);
    world.run_to(10_000);
    assert!(world.delivered_bytes(7_000, 10_000) > 10_000);
    assert_eq!(world.out_of_order(), 0);
}

/// Half is lost from 3 s to 6 s; goodput returns to .9 of the sum within 3 s.
#[test]
fn channel_leaves_quarantine_once_copies_arrive() {
    let lines = [Line::new(30, 10), Line::new(10, 20)];
    for seed in 1..=super::seeds(4) {
        let mut world = World::with(&lines, repairing(seed), seed);
        world.set_loss(3_000, 1, HALF);
        world.set_loss(6_000, 1, 0);
        world.run_to(6_000);
        let entered = quarantines(&world);
        world.run_to(12_000);
        let reached = super::per_mille(&world, &lines, 9_000, 12_000);
        assert!(
            entered > 0 && reached >= 900,
            "seed {seed}: {entered} times, {reached} thousandths"
        );
        assert!(!world.sender.is_in_quarantine(1), "seed {seed}");
        assert_eq!(world.out_of_order(), 0);
    }
}

#[test]
fn no_channel_is_quarantined_without_repair() {
    let lines = [Line::new(30, 10), losing(Line::new(10, 10), HALF)];
    let mut world = World::with(&lines, free(1), 1);
    world.run_to(5_000);
    assert_eq!(quarantines(&world), 0);
}
