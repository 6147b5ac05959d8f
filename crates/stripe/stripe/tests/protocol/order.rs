//! Order: figures 8 to 13 of the paper by hand, theorems 4.1 and 5.1.
//!
//! Source: Adiseshu, Parulkar and Varghese 1996, sections 4 and 5.

use std::time::Duration;

use super::pair::{LONGEST_BYTES, Pair, Scheduler, Words, milliseconds};
use gingham_fairq::Round;
use gingham_stripe::{MarkerPlan, ReceiverOptions, SenderOptions};
use proptest::prelude::*;

/// Equal packets, quanta of one packet, packet 7 lost, markers before rounds 1 and 7.
#[test]
fn figures_8_to_13_deliver_as_the_paper_says() {
    let scheduler = Scheduler::new(100, &[100, 100]).unwrap();
    let markers = MarkerPlan {
        every_rounds: 6,
        before_channel: 0,
        interval: milliseconds(1_000),
        idle_interval_max: milliseconds(1_000),
    };
    let sender = SenderOptions { markers, ..SenderOptions::default() };
    let mut pair = Pair::with(&scheduler, &[Duration::ZERO; 2], sender, ReceiverOptions::default());
    for packet in 1..=14 {
        pair.send_or_lose(100, packet == 7);
    }
    pair.run_for(Duration::ZERO);
    assert_eq!(pair.delivered, [1, 2, 3, 4, 5, 6, 9, 8, 11, 10, 12, 13, 14]);
    // Two markers a channel; that of channel 0 before round 7 proves the loss. After packet 14 both
    // ends are at round 8.
    let reception = pair.receiver.reception();
    assert_eq!((reception.markers, reception.ahead, reception.passed), (4, 1, 0));
    assert_eq!((pair.sender.scheduler(), pair.receiver.scheduler().round()), {
        (pair.receiver.scheduler(), Round::new(8))
    });
}

/// One channel is 50 ms behind the other.
#[test]
fn packets_of_a_faster_channel_wait_in_its_buffer() {
    let scheduler = Scheduler::new(100, &[100, 100]).unwrap();
    let delays = [milliseconds(60), milliseconds(10)];
    let mut pair = Pair::new(&scheduler, &delays, ReceiverOptions::default());
    (0..4).for_each(|_| pair.send(100));
    pair.run_for(milliseconds(59));
    assert_eq!((pair.delivered.len(), pair.receiver.buffered_packets(1)), (0, 2));
    pair.run_for(milliseconds(1));
    assert_eq!(pair.delivered, [1, 2, 3, 4]);
}

pub(crate) fn quanta() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(LONGEST_BYTES..=4 * LONGEST_BYTES, 2..=16)
}

/// Often shortly before the wrap.
pub(crate) fn first_round() -> impl Strategy<Value = Round> {
    prop_oneof![Just(Round::FIRST), (0_u32..40).prop_map(|rounds| Round::new(u32::MAX - rounds))]
}

/// Markers of any frequency and position; no channel is taken out.
pub(crate) fn sender_options(every_rounds: u32, position: usize, channels: usize) -> SenderOptions {
    let before_channel = position % channels;
    let markers = MarkerPlan {
        every_rounds,
        before_channel,
        interval: milliseconds(20),
        idle_interval_max: milliseconds(20),
    };
    SenderOptions { markers, silence: None, ..SenderOptions::default() }
}

/// Up to 150 ms, below the wait of 200 ms even with a marker interval of 20 ms.
pub(crate) fn delays(words: &mut Words, channels: usize) -> Vec<Duration> {
    (0..channels).map(|_| milliseconds(u64::from(words.below(150)))).collect()
}

proptest! {
    /// Under any skew below the wait.
    #[test]
    fn theorem_4_1_without_loss_order_is_exact(
        first in first_round(), quanta in quanta(), seed: u64,
        every_rounds in 1_u32..20, position in 0_usize..16, packets in 0_u32..400,
    ) {
        let mut words = Words(seed);
        let scheduler = Scheduler::starting_at(first, LONGEST_BYTES, &quanta).unwrap();
        let delays = delays(&mut words, quanta.len());
        let options = sender_options(every_rounds, position, quanta.len());
        let mut pair = Pair::with(&scheduler, &delays, options, ReceiverOptions::default());
        for _ in 0..packets {
            pair.send(words.length_bytes());
            pair.run_for(Duration::from_micros(u64::from(words.below(2_000))));
        }
        pair.run_for(milliseconds(150));
        prop_assert!(pair.delivered.iter().copied().eq(1..=packets));
        let reception = pair.receiver.reception();
        prop_assert_eq!((reception.ahead, reception.late, reception.passed), (0, 0, 0));
        prop_assert_eq!(reception.discards.total(), 0);
        prop_assert_eq!(pair.sender.scheduler(), pair.receiver.scheduler());
    }

    /// Once losses (also of markers) have stopped, order is exact and complete after a marker on
    /// every channel.
    #[test]
    fn theorem_5_1_markers_restore_order(
        first in first_round(), quanta in quanta(), seed: u64, loss_percent in 0_u32..=80,
        every_rounds in 1_u32..20, position in 0_usize..16, packets in 0_u32..300,
    ) {
        let mut words = Words(seed);
        let scheduler = Scheduler::starting_at(first, LONGEST_BYTES, &quanta).unwrap();
        let delays = delays(&mut words, quanta.len());
        let options = sender_options(every_rounds, position, quanta.len());
        // The wait is longer than any sequence of lost markers.
        let receiver = ReceiverOptions { wait: milliseconds(3_600_000), ..ReceiverOptions::default() };
        let mut pair = Pair::with(&scheduler, &delays, options, receiver).seeded(seed);
        pair.loss_percent = loss_percent;
        for _ in 0..packets {
            pair.send(words.length_bytes());
            pair.run_for(Duration::from_micros(u64::from(words.below(2_000))));
        }
        pair.loss_percent = 0;
        // A marker interval, in which a marker goes on every channel.
        pair.run_for(milliseconds(20));
        let last_before = pair.sent;
        for _ in 0..100 {
            pair.send(words.length_bytes());
        }
        // The rest of the round may be empty: the markers of the next interval report it.
        pair.run_for(milliseconds(20 + 150));
        let expected: Vec<u32> = (last_before + 1..=last_before + 100).collect();
        prop_assert_eq!(pair.delivered_after(last_before), expected);
        prop_assert!(pair.is_without_repetition());
        let reception = pair.receiver.reception();
        prop_assert_eq!((reception.late, reception.passed), (0, 0));
        prop_assert_eq!(reception.discards.total(), 0);
        prop_assert_eq!(reception.packets, pair.delivered.len() as u64);
        prop_assert!((0..quanta.len()).all(|channel| pair.receiver.buffered_packets(channel) == 0));
    }
}
