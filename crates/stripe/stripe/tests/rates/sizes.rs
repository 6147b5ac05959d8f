//! Channels with different and changing frame sizes.

use std::time::Duration;

use gingham_stripe::{SenderOptions, SizePlan, SizeState};

use super::world::{LONGEST_BYTES, Line, NOTHING, World, lasting};

/// A packet of 1,500 bytes and the longest tag, of 20.
const FRAME_BYTES: u32 = LONGEST_BYTES + 20;

fn world(lines: &[Line], raise: Duration, seed: u64) -> World {
    let (sender, receiver) = lasting(seed);
    let sizes = SizePlan { max: FRAME_BYTES, raise, ..SizePlan::default() };
    let sender = SenderOptions { sizes: Some(sizes), ..sender };
    World::with(lines, (sender, receiver), seed)
}

fn seldom() -> Duration {
    SizePlan::default().raise
}

/// Every accepted packet has arrived, in order.
fn assert_nothing_lost(world: &World) {
    assert_eq!((world.out_of_order(), world.receiver.reception().given_up), (0, 0));
}

fn frame_bytes(world: &World, channel: usize) -> u32 {
    world.sender.size(channel).frame_bytes
}

/// From 4 s on no frame above 1,300 bytes passes the second channel, without any notification. The
/// lost packets arrive over the first.
#[test]
fn channel_with_reduced_frame_size_adapts_without_loss() {
    let lines = [Line::new(10, 10), Line::new(20, 25)];
    for seed in 1..=super::seeds(2) {
        let mut world = world(&lines, seldom(), seed);
        world.follows_size = true;
        world.block(4_000, 1, 1_301);
        world.run_to(4_000);
        assert_eq!(world.sender.longest_bytes(), LONGEST_BYTES);
        world.run_to(10_000);
        let found = world.sender.size(1);
        assert_eq!(found.state, SizeState::SearchComplete);
        assert!((1_297..=1_300).contains(&found.frame_bytes), "{found:?}");
        assert_eq!(world.sender.longest_bytes(), found.frame_bytes - 20);
        assert_eq!((frame_bytes(&world, 0), world.sender.sending().deaths), (FRAME_BYTES, 0));
        let both = super::per_mille(&world, &lines, 5_500, 10_000);
        assert!(both >= 930, "{both} thousandths of the sum");
        assert_nothing_lost(&world);
    }
}

/// Packets of alternately 1,500 and 1,200 bytes.
#[test]
fn long_packets_use_channels_they_fit() {
    let lines = [Line::new(10, 10), Line::new(10, 25)];
    let lengths = |number| if number % 2 == 0 { LONGEST_BYTES } else { 1_200 };
    let mut world = world(&lines, seldom(), 1).with_lengths(lengths);
    world.block(0, 1, 1_421);
    world.run_to(8_000);
    assert_eq!((frame_bytes(&world, 0), frame_bytes(&world, 1)), (FRAME_BYTES, 1_420));
    assert_eq!(world.sender.longest_bytes(), 1_400);
    let both = super::per_mille(&world, &lines, 4_000, 8_000);
    assert!(both >= 850, "{both} thousandths of the sum");
    assert_nothing_lost(&world);
}

/// The path passes all lengths from 3 s on; the timer expires 5 s later.
#[test]
fn increased_path_size_is_found_after_the_timer() {
    let lines = [Line::new(10, 10), Line::new(20, 25)];
    let mut world = world(&lines, Duration::from_secs(5), 1);
    world.follows_size = true;
    world.block(0, 1, 1_401);
    world.block(3_000, 1, NOTHING);
    world.run_to(5_000);
    assert_eq!((frame_bytes(&world, 1), world.sender.longest_bytes()), (1_400, 1_380));
    world.run_to(10_000);
    assert_eq!(
        (frame_bytes(&world, 1), world.sender.longest_bytes()),
        (FRAME_BYTES, LONGEST_BYTES)
    );
    assert_nothing_lost(&world);
}

/// A tenth of all frames is lost in both directions, including probes and long packets.
#[test]
fn random_losses_do_not_reduce_the_channel_size() {
    let lines = [Line::new(10, 10), Line::new(20, 25)];
    for seed in 1..=super::seeds(2) {
        let mut world = world(&lines, seldom(), seed);
        world.follows_size = true;
        (0..2).for_each(|channel| world.set_loss(1_000, channel, 100));
        for second in 1..=20 {
            world.run_to(second * 1_000);
            for channel in 0..2 {
                let size = world.sender.size(channel);
                assert_eq!(size.frame_bytes, FRAME_BYTES, "seed {seed}, {second} s: {size:?}");
            }
        }
    }
}

/// Less than the base passes, at the start or later.
#[test]
fn path_below_the_smallest_probe_is_inactive() {
    let lines = [Line::new(10, 10), Line::new(20, 25)];
    for from_ms in [0, 3_000] {
        let mut world = world(&lines, seldom(), 1);
        world.follows_size = true;
        world.block(from_ms, 1, 1_100);
        world.block(8_000, 1, NOTHING);
        world.run_to(8_000);
        assert_eq!(world.sender.size(1).state, SizeState::Error);
        assert!(world.sender.is_dead(1) && world.sender.longest_bytes() == LONGEST_BYTES);
        let alone = super::per_mille(&world, &lines[..1], 5_000, 8_000);
        assert!(alone >= 900, "{alone} thousandths of the first");
        world.run_to(12_000);
        assert_eq!((frame_bytes(&world, 1), world.sender.is_dead(1)), (FRAME_BYTES, false));
        assert_nothing_lost(&world);
    }
}
