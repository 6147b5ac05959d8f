//! Changes of quanta, and planned departures and returns of channels.

use std::time::Duration;

use gingham_fairq::{Change, Round, Standing};
use gingham_stripe::{
    ControlPlan, Guarantee, Kind, Order, QuantaError, ReceiverOptions, SenderOptions,
};
use proptest::prelude::*;

use super::order::{delays, first_round, quanta, sender_options};
use super::pair::{LONGEST_BYTES, Pair, Scheduler, Words, at, milliseconds};

fn pair(quanta: &[u32]) -> Pair {
    let scheduler = Scheduler::new(100, quanta).expect("options of a test");
    Pair::new(&scheduler, &vec![milliseconds(10); quanta.len()], ReceiverOptions::default())
}

/// Packets of 100 bytes, a millisecond apart.
fn send(pair: &mut Pair, packets: u32) -> Vec<usize> {
    let send = |_| {
        let channel = pair.next_channel().expect("open");
        pair.send(100);
        pair.run_for(milliseconds(1));
        channel
    };
    (0..packets).map(send).collect()
}

/// Announced in round 1 for round 5, and acknowledged after 20 ms.
#[test]
fn larger_quantum_applies_in_its_round_once_acknowledged() {
    let mut pair = pair(&[100, 100]);
    pair.sender.change_quanta(&[300, 100]).unwrap();
    pair.run_for(milliseconds(20));
    let change = Change { from: Round::new(5), quantum_bytes: 300 };
    assert_eq!(pair.sender.scheduler().standing(0).coming, Some(change));
    assert_eq!(send(&mut pair, 12), [0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1]);
    pair.run_for(milliseconds(20));
    assert!(pair.delivered.iter().copied().eq(1..=12));
    assert_eq!(pair.receiver.scheduler().standing(0), Standing::beginning(Round::new(6), 300));
    let sending = pair.sender.sending();
    assert_eq!((sending.changes, sending.postponed), (1, 0));
    assert_eq!((pair.receiver.reception().late, pair.receiver.reception().passed), (0, 0));
}

/// No acknowledgement arrives before round 5.
#[test]
fn unacknowledged_change_is_postponed() {
    let mut pair = pair(&[100, 100]);
    pair.back_loss_percent = 100;
    pair.sender.change_quanta(&[300, 100]).unwrap();
    assert_eq!(send(&mut pair, 20), [0, 1].repeat(10));
    assert_eq!((pair.sender.sending().changes, pair.sender.sending().postponed), (0, 1));
    pair.back_loss_percent = 0;
    // Announced in round 4, at the end of channel 0's turn, for round 12.
    pair.run_for(milliseconds(40));
    assert_eq!(send(&mut pair, 6), [0, 1, 0, 0, 0, 1]);
    pair.run_for(milliseconds(20));
    assert!(pair.delivered.iter().copied().eq(1..=26));
    assert_eq!(pair.receiver.reception().passed, 0);
}

/// A quantum grows in round 52 or later; after the reset an announcement is for round 5.
#[test]
fn reset_clears_announced_rounds() {
    let mut pair = pair(&[100, 100]);
    send(&mut pair, 100);
    pair.sender.change_quanta(&[300, 100]).unwrap();
    send(&mut pair, 60);
    assert_eq!(pair.sender.sending().changes, 1);
    pair.sender.reset(pair.now);
    pair.run_for(milliseconds(40));
    pair.sender.change_quanta(&[200, 100]).unwrap();
    pair.run_for(milliseconds(20));
    let change = Change { from: Round::new(5), quantum_bytes: 200 };
    assert_eq!(pair.sender.scheduler().standing(0).coming, Some(change));
}

/// Channel 1 leaves in round 5, and returns.
#[test]
fn planned_leave_and_return_of_a_channel_lose_nothing() {
    let mut pair = pair(&[100, 100]);
    pair.sender.change_quanta(&[100, 0]).unwrap();
    pair.run_for(milliseconds(20));
    assert_eq!(send(&mut pair, 12), [0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0]);
    pair.run_for(milliseconds(20));
    // Both ends are in round 9.
    assert_eq!(pair.receiver.scheduler().standing(1).quantum_bytes, 0);
    pair.sender.change_quanta(&[100, 200]).unwrap();
    pair.run_for(milliseconds(20));
    assert_eq!(send(&mut pair, 8), [0, 0, 0, 0, 0, 1, 1, 0]);
    pair.run_for(milliseconds(20));
    assert!(pair.delivered.iter().copied().eq(1..=20));
    assert_eq!(pair.sender.sending().changes, 2);
    assert_eq!(pair.receiver.reception().discards.total(), 0);
}

#[test]
fn last_channel_is_not_announced_to_leave() {
    let mut pair = pair(&[100, 100]);
    pair.sender.change_quanta(&[100, 0]).unwrap();
    // Before that takes effect, the other channel is to leave instead.
    pair.sender.change_quanta(&[0, 100]).unwrap();
    pair.run_for(milliseconds(20));
    send(&mut pair, 20);
    pair.run_for(milliseconds(40));
    assert_eq!(pair.sender.scheduler().standing(0).quantum_bytes, 0);
    assert_eq!(pair.sender.scheduler().standing(1).quantum_bytes, 100);
    assert!(pair.delivered.iter().copied().eq(1..=20));
}

#[test]
fn invalid_quanta_are_rejected() {
    let mut pair = pair(&[100, 100]);
    let mut refused = |quanta: &[u32]| pair.sender.change_quanta(quanta).unwrap_err();
    assert_eq!(refused(&[100]), QuantaError::Mismatch { given: 1, count: 2 });
    let (channel, quantum, quantum_min) = (1, 99, 100);
    assert_eq!(refused(&[0, 99]), QuantaError::TooSmall { channel, quantum, quantum_min });
    assert_eq!(refused(&[0, 0]), QuantaError::NoneIn);
    assert_eq!(pair.sender.target_quantum(1), 100);
}

#[test]
fn reset_carries_the_target_quanta() {
    let mut pair = pair(&[100, 100, 100]);
    pair.sender.change_quanta(&[300, 0, 100]).unwrap();
    pair.sender.reset(pair.now);
    let (mut resets, now) = (Vec::new(), pair.now);
    while let Some((channel, message)) = pair.sender.poll_message(now) {
        pair.inject(channel, message);
        resets.push(message.kind);
    }
    assert_eq!(resets, [300, 0, 100].map(|quantum| Kind::Reset { quantum }));
    pair.run_for(milliseconds(20));
    assert_eq!(send(&mut pair, 5), [0, 0, 0, 2, 0]);
    pair.run_for(milliseconds(20));
    assert_eq!(pair.delivered, [1, 2, 3, 4, 5]);
    assert_eq!(pair.receiver.scheduler(), pair.sender.scheduler());
}

/// Some channels are to be out.
fn wish(words: &mut Words, channels: usize) -> Option<Vec<u32>> {
    let quantum = |words: &mut Words| match words.below(4) {
        0 => 0,
        _ => LONGEST_BYTES + words.below(3 * LONGEST_BYTES),
    };
    (words.below(20) == 0).then(|| (0..channels).map(|_| quantum(words)).collect())
}

/// Rounds stand still in free order: a departure requested at 50 ms takes effect on its
/// acknowledgement, at 70 ms with a delay of 10 ms.
#[test]
fn free_order_changes_apply_once_acknowledged() {
    let scheduler = Scheduler::new(100, &[100; 3]).expect("quanta of a test");
    let control = Some(ControlPlan::default());
    let sender = SenderOptions { order: Order::Free, control, ..SenderOptions::default() };
    let guaranteed = Some(Guarantee::default());
    let receiver = ReceiverOptions { order: Order::Free, guaranteed, ..ReceiverOptions::default() };
    let mut pair = Pair::with(&scheduler, &[milliseconds(10); 3], sender, receiver);
    let is_in = |pair: &Pair| pair.sender.scheduler().standing(1).is_in();
    for (quantum, wished_ms) in [(0, 50), (100, 100), (0, 150)] {
        pair.run_to(at(wished_ms));
        pair.send(100);
        pair.sender.change_quanta(&[100, quantum, 100]).unwrap();
        pair.run_to(at(wished_ms + 19));
        assert_eq!(is_in(&pair), quantum == 0, "at {wished_ms} ms");
        pair.run_to(at(wished_ms + 20));
        assert_eq!(is_in(&pair), quantum != 0, "at {wished_ms} ms");
    }
    (0..20).for_each(|_| pair.send(100));
    pair.run_to(at(300));
    assert!(pair.delivered.iter().copied().eq(1..=pair.sent));
}

pub(crate) fn wish_and_send(pair: &mut Pair, words: &mut Words, channels: usize, packets: u32) {
    for _ in 0..packets {
        if let Some(quanta) = wish(words, channels) {
            // Occasionally all are to be out, which is refused.
            let _ = pair.sender.change_quanta(&quanta);
        }
        pair.send(words.length_bytes());
        pair.run_for(Duration::from_micros(u64::from(words.below(2_000))));
    }
}

proptest! {
    /// Any skew, even if all reports are lost.
    #[test]
    fn without_loss_order_is_exact_through_all_changes(
        first in first_round(), quanta in quanta(), seed: u64, back_loss_percent in 0_u32..=100,
        every_rounds in 1_u32..20, position in 0_usize..16, packets in 0_u32..400,
    ) {
        let mut words = Words(seed);
        let scheduler = Scheduler::starting_at(first, LONGEST_BYTES, &quanta).unwrap();
        let delays = delays(&mut words, quanta.len());
        let options = sender_options(every_rounds, position, quanta.len());
        let mut pair =
            Pair::with(&scheduler, &delays, options, ReceiverOptions::default()).seeded(seed);
        pair.back_loss_percent = back_loss_percent;
        wish_and_send(&mut pair, &mut words, quanta.len(), packets);
        pair.run_for(milliseconds(150));
        prop_assert!(pair.delivered.iter().copied().eq(1..=packets));
        let reception = pair.receiver.reception();
        prop_assert_eq!((reception.late, reception.passed), (0, 0));
        prop_assert_eq!(reception.discards.total(), 0);
    }

    /// Theorem 5.1 with changes: once losses have stopped, order is exact and complete after a
    /// marker on every channel. No marker is ever late.
    #[test]
    fn markers_restore_order_through_all_changes(
        first in first_round(), quanta in quanta(), seed: u64, loss_percent in 0_u32..=80,
        every_rounds in 1_u32..20, position in 0_usize..16, packets in 0_u32..300,
    ) {
        let mut words = Words(seed);
        let scheduler = Scheduler::starting_at(first, LONGEST_BYTES, &quanta).unwrap();
        let delays = delays(&mut words, quanta.len());
        let options = sender_options(every_rounds, position, quanta.len());
        let receiver = ReceiverOptions { wait: milliseconds(3_600_000), ..ReceiverOptions::default() };
        let mut pair = Pair::with(&scheduler, &delays, options, receiver).seeded(seed);
        pair.loss_percent = loss_percent;
        wish_and_send(&mut pair, &mut words, quanta.len(), packets);
        pair.loss_percent = 0;
        pair.run_for(milliseconds(20));
        let last_before = pair.sent;
        wish_and_send(&mut pair, &mut words, quanta.len(), 100);
        pair.run_for(milliseconds(20 + 150));
        let expected: Vec<u32> = (last_before + 1..=last_before + 100).collect();
        prop_assert_eq!(pair.delivered_after(last_before), expected);
        prop_assert!(pair.is_without_repetition());
        let reception = pair.receiver.reception();
        prop_assert_eq!((reception.late, reception.passed), (0, 0));
        prop_assert!((0..quanta.len()).all(|channel| pair.receiver.buffered_packets(channel) == 0));
    }
}

/// Channel 2 is dead, and is to be the only one left: of the others one leaves.
#[test]
fn leave_is_announced_only_while_another_channel_stays() {
    let mut pair = pair(&[100; 3]);
    pair.dead = 0b100;
    pair.run_for(milliseconds(2_000));
    assert!(pair.sender.is_dead(2));
    pair.sender.change_quanta(&[0, 0, 100]).unwrap();
    let mut coming = [None; 2];
    while let Some((channel, message)) = pair.sender.poll_message(pair.now) {
        if let (Kind::Marker(marker), Some(coming)) = (message.kind, coming.get_mut(channel)) {
            *coming = marker.standing.coming.map(|change| change.quantum_bytes);
        }
    }
    assert_eq!(coming, [Some(0), None]);
}
