//! Waits for evidence, and their end; late and far markers; full buffers.

use std::time::Duration;

use gingham_fairq::{Number, Round, Standing};
use gingham_stripe::{
    Charge, Discard, Epoch, Instant, Kind, Marker, Message, Receiver, ReceiverOptions,
};
use proptest::prelude::*;

use super::pair::{LONGEST_BYTES, Pair, Scheduler, Words, at, milliseconds};

type End = Receiver<Scheduler, u32>;

/// Quanta of one packet, 100 bytes here.
fn receiver(options: ReceiverOptions) -> End {
    let scheduler = Scheduler::new(100, &[100; 3]).expect("what a test may do");
    Receiver::synchronised(scheduler, options, Epoch::new(1)).expect("what a test may do")
}

fn options() -> ReceiverOptions {
    ReceiverOptions { wait: milliseconds(50), ..ReceiverOptions::default() }
}

fn drain(receiver: &mut End, now: Instant) -> Vec<u32> {
    std::iter::from_fn(|| receiver.poll_packet(now)).collect()
}

fn marker(channel: u8, round: u32, deficit_bytes: u32) -> Message {
    let next = Number { round: Round::new(round), deficit_bytes };
    let standing = Standing { next, quantum_bytes: 100, coming: None };
    let kind = Kind::Marker(Marker { standing, ..Marker::default() });
    Message { epoch: Epoch::new(1), channel, channels: 3, kind }
}

fn packet(receiver: &mut End, now: Instant, channel: usize, number: u32) {
    receiver.handle_packet(now, channel, 100, number).expect("what a test may do");
}

/// Other than a report.
fn asked(receiver: &mut End) -> Option<(usize, Message)> {
    std::iter::from_fn(|| receiver.poll_message(at(0)))
        .find(|(_, message)| !matches!(message.kind, Kind::Report(_)))
}

/// Channel 0 is dead: packets 2 and 3 of round 1 wait 50 ms, those of round 2 not at all.
#[test]
fn silent_channel_is_skipped_after_one_wait() {
    let mut receiver = receiver(options());
    assert_eq!(receiver.poll_timeout(), None);
    packet(&mut receiver, at(10), 1, 2);
    packet(&mut receiver, at(12), 2, 3);
    assert_eq!(drain(&mut receiver, at(59)), []);
    assert_eq!(receiver.poll_timeout(), Some(at(60)));
    assert_eq!(drain(&mut receiver, at(60)), [2, 3]);
    packet(&mut receiver, at(61), 1, 5);
    packet(&mut receiver, at(61), 2, 6);
    assert_eq!(drain(&mut receiver, at(61)), [5, 6]);
    assert_eq!((receiver.reception().silences, receiver.reception().passed), (1, 2));
    // No packet waits: the round does not advance over a channel that is merely idle.
    assert_eq!((drain(&mut receiver, at(1_000)), receiver.poll_timeout()), (vec![], None));
    assert_eq!(receiver.scheduler().round(), Round::new(3));
}

#[test]
fn responding_channel_is_waited_for_again() {
    let mut receiver = receiver(options());
    packet(&mut receiver, at(0), 1, 2);
    packet(&mut receiver, at(0), 2, 3);
    assert_eq!(drain(&mut receiver, at(50)), [2, 3]);
    // Round 2 by its marker; its packet 4 is late.
    receiver.handle_message(at(0), 0, marker(0, 2, 100)).unwrap();
    packet(&mut receiver, at(60), 1, 5);
    assert_eq!(drain(&mut receiver, at(60)), []);
    packet(&mut receiver, at(70), 0, 4);
    assert_eq!(drain(&mut receiver, at(70)), [4, 5]);
}

/// Channel 0 has used 60 of its 100 bytes when it falls silent.
#[test]
fn skipped_channel_begins_its_next_turn() {
    let mut receiver = receiver(options());
    receiver.handle_packet(at(0), 0, 60, 1).expect("room");
    packet(&mut receiver, at(0), 1, 3);
    assert_eq!(drain(&mut receiver, at(49)), [1]);
    assert_eq!(drain(&mut receiver, at(50)), [3]);
    let full = Number { round: Round::new(2), deficit_bytes: 100 };
    assert_eq!(receiver.scheduler().standing(0).next, full);
}

#[test]
fn marker_ahead_ends_the_wait_early() {
    let mut receiver = receiver(options());
    packet(&mut receiver, at(0), 1, 2);
    assert_eq!(drain(&mut receiver, at(1)), []);
    receiver.handle_message(at(0), 0, marker(0, 2, 100)).unwrap();
    assert_eq!(drain(&mut receiver, at(1)), [2]);
    assert_eq!((receiver.reception().ahead, receiver.reception().passed), (1, 0));
}

/// Channels 1 and 2 are at rounds 1,000 and 2,000, channel 0 is silent.
#[test]
fn silent_channel_is_skipped_to_the_round_of_the_next_packet() {
    let mut receiver = receiver(options());
    receiver.handle_message(at(0), 1, marker(1, 1_000, 100)).unwrap();
    receiver.handle_message(at(0), 2, marker(2, 2_000, 100)).unwrap();
    packet(&mut receiver, at(0), 1, 7);
    packet(&mut receiver, at(0), 2, 8);
    // Channel 0 is passed over to 1,000, 1,001, 2,000 and 2,001; channel 1, silent behind its
    // packet, to 2,000 and 2,001.
    assert_eq!(drain(&mut receiver, at(49)), []);
    assert_eq!(drain(&mut receiver, at(50)), [7, 8]);
    assert_eq!(receiver.scheduler().round(), Round::new(2_001));
    assert_eq!((receiver.reception().silences, receiver.reception().passed), (2, 6));
}

#[test]
fn late_markers_are_accepted_and_several_cause_a_reset_request() {
    let few = ReceiverOptions { late_in_a_row_max: 2, ..options() };
    let scheduler = Scheduler::starting_at(Round::new(10), 100, &[100; 3]).unwrap();
    let mut receiver: End = Receiver::synchronised(scheduler, few, Epoch::new(1)).unwrap();
    // Round 8: three packets in a row catch up, and the fourth is of round 11.
    receiver.handle_message(at(0), 0, marker(0, 8, 100)).unwrap();
    (1..=4).for_each(|number| packet(&mut receiver, at(0), 0, number));
    assert_eq!(drain(&mut receiver, at(0)), [1, 2, 3]);
    assert_eq!((receiver.reception().late, asked(&mut receiver)), (1, None));
    // Each channel has its own count; the second on channel 1 exceeds the limit.
    receiver.handle_message(at(0), 1, marker(1, 9, 100)).unwrap();
    assert_eq!((receiver.reception().late, asked(&mut receiver)), (2, None));
    receiver.handle_message(at(0), 1, marker(1, 9, 50)).unwrap();
    let request =
        Message { epoch: Epoch::new(1), channel: 1, channels: 3, kind: Kind::ResetRequested };
    assert_eq!(asked(&mut receiver), Some((1, request)));
    assert_eq!((receiver.reception().late, receiver.reception().requests), (3, 1));
}

#[test]
fn far_markers_and_impossible_numbers_are_rejected() {
    let near = ReceiverOptions { far_rounds_max: 1_000, ..options() };
    let mut receiver = receiver(near);
    let before = receiver.scheduler().clone();
    for round in [1_002, 0_u32.wrapping_sub(1_000)] {
        receiver.handle_message(at(0), 0, marker(0, round, 100)).unwrap();
        assert_eq!(drain(&mut receiver, at(0)), []);
        let request = receiver.poll_message(at(0)).expect("a request").1;
        assert_eq!(request.kind, Kind::ResetRequested);
    }
    receiver.handle_message(at(0), 0, marker(0, 2, 101)).unwrap();
    assert_eq!(drain(&mut receiver, at(0)), []);
    assert_eq!(receiver.scheduler(), &before);
    let discards = receiver.reception().discards;
    assert_eq!((discards.of(Discard::FarMarker), discards.of(Discard::BadNumber)), (2, 1));
}

#[test]
fn full_buffer_and_invalid_packets_are_rejected_and_counted() {
    // A slot is reserved for each of three channels, and the fourth is shared.
    let small = ReceiverOptions { buffer_bytes_max: 4, charge: Charge::PACKETS, ..options() };
    let mut receiver = receiver(small);
    packet(&mut receiver, at(0), 1, 1);
    packet(&mut receiver, at(0), 1, 2);
    let refused = |end: &mut End, channel, length| end.handle_packet(at(0), channel, length, 3);
    assert_eq!(refused(&mut receiver, 1, 100), Err(Discard::BufferFull));
    assert_eq!(refused(&mut receiver, 3, 100), Err(Discard::NoSuchChannel));
    assert_eq!(refused(&mut receiver, 0, 0), Err(Discard::BadLength));
    assert_eq!(refused(&mut receiver, 0, 101), Err(Discard::BadLength));
    // Any number of markers has room, since the last replaces the others.
    (0..1_000).for_each(|_| receiver.handle_message(at(0), 1, marker(1, 9, 100)).unwrap());
    let other = Message { channels: 4, ..marker(0, 1, 1) };
    assert_eq!(receiver.handle_message(at(0), 0, other), Err(Discard::OtherCount));
    assert_eq!(receiver.handle_message(at(0), 1, marker(0, 1, 1)), Err(Discard::OtherChannel));
    assert_eq!(receiver.handle_message(at(0), 3, marker(0, 1, 1)), Err(Discard::NoSuchChannel));
    let acknowledged = Message { kind: Kind::Acknowledged, ..marker(0, 1, 1) };
    assert_eq!(receiver.handle_message(at(0), 0, acknowledged), Err(Discard::OtherEnd));
    assert_eq!(receiver.reception().discards.total(), 8);
}

proptest! {
    /// Within a second after the last error, by markers or, if too much was passed over, by a
    /// reset.
    #[test]
    fn order_is_restored_after_outages(
        seed: u64, loss_percent in 0_u32..=80, channels in 2_usize..=16, dead: u16,
        packets in 1_u32..300,
    ) {
        let mut words = Words(seed);
        let scheduler = Scheduler::new(LONGEST_BYTES, &vec![2 * LONGEST_BYTES; channels]).unwrap();
        let delays: Vec<_> =
            (0..channels).map(|_| milliseconds(u64::from(words.below(30)))).collect();
        let mut pair = Pair::new(&scheduler, &delays, options()).seeded(seed);
        pair.loss_percent = loss_percent;
        for number in 0..packets {
            pair.dead = if number % 200 < 150 { u64::from(dead) } else { 0 };
            pair.send(words.length_bytes());
            pair.run_for(Duration::from_micros(u64::from(words.below(3_000))));
        }
        (pair.loss_percent, pair.dead) = (0, 0);
        pair.run_for(milliseconds(1_000));
        let last = pair.sent;
        (0..100).for_each(|_| pair.send(words.length_bytes()));
        pair.run_for(milliseconds(50));
        let expected: Vec<u32> = (last + 1..=last + 100).collect();
        prop_assert_eq!(pair.delivered_after(last), expected);
        prop_assert!(pair.is_without_repetition());
    }

    /// Skew beyond the wait, and little memory: no packet stays for longer than a wait for each
    /// packet before it.
    #[test]
    fn waits_are_bounded(
        seed: u64, loss_percent in 0_u32..=80, channels in 2_usize..=16,
        buffer_packets in 1_u32..20, dead: u16, packets in 1_u32..200, in_bytes: bool,
    ) {
        let mut words = Words(seed);
        let scheduler = Scheduler::new(LONGEST_BYTES, &vec![LONGEST_BYTES; channels]).unwrap();
        let delays: Vec<_> =
            (0..channels).map(|_| milliseconds(u64::from(words.below(100)))).collect();
        let charge = if in_bytes { Charge::BYTES } else { Charge::PACKETS };
        let all_packets = buffer_packets * u32::try_from(channels).unwrap();
        let buffer_bytes_max = u64::from(all_packets * charge.of(LONGEST_BYTES));
        let small = ReceiverOptions { buffer_bytes_max, charge, ..options() };
        let mut pair = Pair::new(&scheduler, &delays, small).seeded(seed);
        pair.loss_percent = loss_percent;
        for number in 0..packets {
            pair.dead = if number % 100 < 50 { u64::from(dead) } else { 0 };
            pair.send(words.length_bytes());
            pair.run_for(Duration::from_micros(u64::from(words.below(10_000))));
        }
        // The last arrivals, then a wait for each packet that can be in front.
        pair.run_for(milliseconds(100));
        pair.run_for(milliseconds(50) * all_packets);
        prop_assert!((0..channels).all(|channel| pair.receiver.buffered_packets(channel) == 0));
        prop_assert!(pair.held_max <= buffer_bytes_max);
        prop_assert!(pair.is_without_repetition());
    }

    /// A receiver delivers each accepted packet once.
    #[test]
    fn arbitrary_messages_cause_no_panic_or_stall(
        items in prop::collection::vec((0_usize..4, any::<u32>(), 0_u32..200, 0_u8..6), 0..200),
    ) {
        let mut receiver = receiver(options());
        let (mut now, mut taken, mut given) = (at(0), 0, Vec::new());
        for (number, (channel, word, length, kind)) in (0..).zip(items) {
            now = now.after(Duration::from_micros(u64::from(word % 20_000)));
            let round = if kind % 2 == 0 { word } else { word % 50 };
            let mut message = marker(u8::try_from(channel).unwrap(), round, length);
            match kind {
                0..=1 => {}
                2 => message.epoch = Epoch::new(word % 4),
                3 => message = Message { epoch: Epoch::new(word % 3), kind: Kind::Reset { quantum: 100 }, ..message },
                _ => {
                    taken += u64::from(receiver.handle_packet(now, channel, length, number).is_ok());
                    given.extend(drain(&mut receiver, now));
                    continue;
                }
            }
            let _ = receiver.handle_message(at(0), channel, message);
            given.extend(drain(&mut receiver, now));
            while receiver.poll_message(at(0)).is_some() {}
        }
        while let Some(timeout) = receiver.poll_timeout() {
            prop_assert!(timeout > now || given.is_empty());
            now = now.after(milliseconds(50));
            given.extend(drain(&mut receiver, now));
        }
        let (reception, all) = (*receiver.reception(), given.len());
        prop_assert_eq!(taken, all as u64 + reception.discards.of(Discard::Reset));
        given.sort_unstable();
        given.dedup();
        prop_assert_eq!(given.len(), all);
    }
}
