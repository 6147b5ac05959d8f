//! At rest the ends send almost nothing, and a failure is detected soon after.

use std::time::Duration;

use gingham_stripe::ReceiverOptions;

use crate::pair::{LONGEST_BYTES, Pair, Scheduler, at, milliseconds};

fn pair() -> Pair {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 2]).expect("quanta");
    let delays = [milliseconds(10), milliseconds(20)];
    Pair::new(&scheduler, &delays, ReceiverOptions::default())
}

/// IP, UDP, a header of 8 bytes and an AEAD.
const FRAMING_BYTES: u64 = 28 + 8 + 16;

/// A marker has 68 bytes and a report 76. Both ends send: a day of a channel has the markers and
/// reports of two senders.
#[test]
fn idle_day_uses_five_megabytes_per_channel() {
    let mut pair = pair();
    (0..100).for_each(|_| pair.send(1_000));
    pair.run_to(at(10_000));
    let before = pair.sender.sending().markers;
    pair.run_for(Duration::from_secs(86_400));
    let markers = (pair.sender.sending().markers - before) / 2;
    assert!(markers > 8_000, "a channel that dies is found some time: {markers}");
    let bytes = 2 * markers * (68 + 76 + 2 * FRAMING_BYTES);
    assert!(bytes <= 5_000_000, "{bytes}");
    assert_eq!(pair.sender.sending().deaths, 0);
}

#[test]
fn markers_on_every_channel_precede_the_first_packet_after_rest() {
    let mut pair = pair();
    pair.send(1_000);
    pair.run_to(at(60_000));
    let before = pair.sender.sending().markers;
    assert_eq!(pair.sender.poll_transmit(pair.now), None);
    assert_eq!(pair.sender.poll_timeout(), pair.now);
    let marked = std::iter::from_fn(|| pair.sender.poll_message(pair.now));
    assert_eq!(marked.map(|(channel, _)| channel).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(pair.sender.sending().markers, before + 2);
    assert!(pair.sender.poll_transmit(pair.now).is_some());
    assert!(pair.sender.poll_timeout() > pair.now);
}

/// Markers are answered after 40 ms; the channel is out after 200 ms and two round trips, at the
/// latest at the next check, 20 ms later.
#[test]
fn channel_death_during_rest_is_detected_after_the_next_packet() {
    let mut pair = pair();
    pair.send(1_000);
    pair.run_to(at(60_000));
    // After the last marker that it answers, and before the next.
    while pair.sender.poll_timeout() > pair.now.after(Duration::from_secs(9)) {
        pair.run_for(milliseconds(100));
    }
    pair.dead = 0b10;
    pair.run_for(milliseconds(500));
    assert!(!pair.sender.is_dead(1));
    pair.send(1_000);
    pair.run_for(milliseconds(200));
    assert!(!pair.sender.is_dead(1));
    pair.run_for(milliseconds(80 + 20));
    assert!(pair.sender.is_dead(1));
}

/// A tenth of the markers and a tenth of the answers are lost.
#[test]
fn markers_lost_during_rest_are_not_silence() {
    let mut pair = pair();
    pair.send(1_000);
    pair.run_to(at(60_000));
    pair.loss_percent = 10;
    pair.run_for(Duration::from_secs(3_600));
    assert_eq!(pair.sender.sending().deaths, 0);
}
