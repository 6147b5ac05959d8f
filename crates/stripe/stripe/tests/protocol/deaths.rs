//! Channels that die, and return by themselves.

use std::time::Duration;

use gingham_fairq::{Change, Round, Standing};
use gingham_stripe::{
    Departure, Discard, Epoch, Guarantee, Kind, Marker, Message, Receiver, ReceiverOptions,
    RepairPlan, RepairRequests, Report, Sender, SenderOptions,
};
use proptest::prelude::*;

use super::changes::wish_and_send;
use super::order::{delays, quanta, sender_options};
use super::pair::{LONGEST_BYTES, Pair, Scheduler, Words, at, milliseconds};

/// Channels of 10 ms, with markers every 20 ms and every fourth round, and a wait of an hour, so
/// that no channel is passed over.
fn pair(channels: usize) -> Pair {
    let scheduler = Scheduler::new(100, &vec![100; channels]).expect("options of a test");
    let options = ReceiverOptions { wait: milliseconds(3_600_000), ..ReceiverOptions::default() };
    Pair::new(&scheduler, &vec![milliseconds(10); channels], options)
}

/// A packet of 100 bytes each millisecond.
fn send_until(pair: &mut Pair, end: u64) {
    while pair.now < at(end) {
        pair.send(100);
        pair.run_for(milliseconds(1));
    }
}

/// Channel 1 dies at 100 ms. Markers go every 12 ms; the first lost one at 108 ms. Reports in
/// flight arrive until 110 ms; the marker of 120 ms is unanswered. The silence is 200 ms and two
/// round trips of 20 ms, checked every 20 ms: at 360 ms.
#[test]
fn silent_channel_is_deactivated_at_both_ends() {
    let mut pair = pair(3);
    send_until(&mut pair, 100);
    pair.dead = 0b010;
    send_until(&mut pair, 359);
    assert!(!pair.sender.is_dead(1));
    pair.run_to(at(360));
    assert!(pair.sender.is_dead(1));
    let waiting = pair.receiver.buffered_packets(0) + pair.receiver.buffered_packets(2);
    assert!(waiting > 100, "{waiting} wait for the channel that died");
    pair.run_to(at(370));
    assert_eq!(pair.receiver.buffered_packets(0) + pair.receiver.buffered_packets(2), 0);
    let last = pair.sent;
    send_until(&mut pair, 400);
    pair.run_for(milliseconds(10));
    assert_eq!(pair.delivered_after(last), (last + 1..=last + 30).collect::<Vec<_>>());
    let (reception, sending) = (pair.receiver.reception(), pair.sender.sending());
    assert_eq!((reception.departures, reception.passed, sending.deaths), (1, 0, 1));
}

/// Channel 1 is reported as lost at 100 ms; the last channel stays in. It answers from 300 ms on,
/// and is probed at 180, 260 and 420 ms.
#[test]
fn channel_reported_lost_is_deactivated_immediately() {
    let mut pair = pair(2);
    send_until(&mut pair, 100);
    pair.dead = 0b10;
    assert!(pair.sender.lose_channel(at(100), 1) && pair.sender.lose_channel(at(100), 1));
    assert!(!pair.sender.lose_channel(at(100), 0) && !pair.sender.lose_channel(at(100), 2));
    let (sent, last) = (pair.sender.sent(1).packets, pair.sent);
    send_until(&mut pair, 300);
    pair.run_for(milliseconds(10));
    assert_eq!((pair.sender.sent(1).packets, pair.sender.sending().deaths), (sent, 1));
    assert_eq!(pair.delivered_after(last), (last + 1..=last + 200).collect::<Vec<_>>());
    pair.dead = 0;
    send_until(&mut pair, 600);
    assert!(!pair.sender.is_dead(1) && pair.sender.sent(1).packets > sent);
}

/// Channel 1 dies at 100 ms and is detected at 360 ms: the 90 packets sent there since 90 ms are
/// retransmitted on the others without a request.
#[test]
fn in_flight_packets_of_a_dead_channel_are_retransmitted() {
    let scheduler = Scheduler::new(100, &[100; 3]).expect("options of a test");
    let sender = SenderOptions { repair: Some(RepairPlan::default()), ..SenderOptions::default() };
    let guaranteed = Some(Guarantee { repair: Some(RepairRequests::default()) });
    let wait = milliseconds(3_600_000);
    let receiver = ReceiverOptions { wait, guaranteed, ..ReceiverOptions::default() };
    let mut pair = Pair::with(&scheduler, &[milliseconds(10); 3], sender, receiver);
    send_until(&mut pair, 100);
    pair.dead = 0b010;
    send_until(&mut pair, 1_000);
    pair.run_for(milliseconds(50));
    assert_eq!(pair.sender.sending().deaths, 1);
    assert!(
        pair.delivered.iter().copied().eq(1..=pair.sent),
        "{} of {}",
        pair.delivered.len(),
        pair.sent
    );
    assert_eq!(pair.receiver.reception().given_up, 0);
}

/// Seed 92003009 of a campaign: a return was announced 750 rounds ahead, as many as had passed in
/// an answer when rounds were fast; now a round takes a millisecond. The channel is probed at 840
/// ms, and answers at 860 ms. Sixty rounds pass in one and a half times the longest answer, 40 ms.
#[test]
fn channel_returns_soon_after_fast_rounds() {
    let mut pair = pair(2);
    while pair.now < at(300) {
        if pair.now == at(100) {
            pair.sender.change_quanta(&[100, 200]).expect("quanta of a test");
        }
        (0..50).for_each(|_| pair.send(100));
        pair.run_for(milliseconds(1));
    }
    pair.dead = 0b10;
    send_until(&mut pair, 800);
    assert!(pair.sender.is_dead(1));
    pair.dead = 0;
    send_until(&mut pair, 1_000);
    assert_eq!(pair.sender.scheduler().standing(1).quantum_bytes, 200);
}

/// Probes go at 380, 420, 500 and 660 ms.
#[test]
fn responding_channel_is_reactivated() {
    let mut pair = pair(2);
    send_until(&mut pair, 100);
    pair.dead = 0b10;
    send_until(&mut pair, 501);
    assert!(pair.sender.is_dead(1));
    pair.dead = 0;
    let last = pair.sent;
    send_until(&mut pair, 679);
    assert!(pair.sender.is_dead(1));
    send_until(&mut pair, 1_000);
    assert_eq!(pair.sender.scheduler().standing(1).quantum_bytes, 100);
    pair.run_for(milliseconds(30));
    assert_eq!(pair.delivered_after(last), (last + 1..=pair.sent).collect::<Vec<_>>());
    assert_eq!(pair.receiver.reception().passed, 0);
    assert_eq!(pair.receiver.reception().discards.total(), 0);
}

#[test]
fn last_channel_stays_active() {
    let mut pair = pair(3);
    send_until(&mut pair, 50);
    pair.dead = 0b111;
    send_until(&mut pair, 2_000);
    assert_eq!(pair.sender.sending().deaths, 2);
    pair.dead = 0;
    pair.run_for(milliseconds(1_500));
    // Rounds pass, and channels come in.
    let now = pair.now.nanoseconds() / 1_000_000;
    send_until(&mut pair, now + 200);
    let is_in = |channel| pair.sender.scheduler().standing(channel).quantum_bytes > 0;
    assert!((0..3).all(is_in));
}

#[test]
fn endless_silence_never_deactivates_a_channel() {
    let scheduler = Scheduler::new(100, &[100; 2]).unwrap();
    let options = SenderOptions { silence: None, ..SenderOptions::default() };
    let delays = [milliseconds(10); 2];
    let mut pair = Pair::with(&scheduler, &delays, options, ReceiverOptions::default());
    pair.back_loss_percent = 100;
    send_until(&mut pair, 3_000);
    assert_eq!(pair.sender.sending().deaths, 0);
}

/// A departure older than the channel's return, and one of the channel that it is announced on.
#[test]
fn stale_departures_are_ignored() {
    let mut pair = pair(2);
    send_until(&mut pair, 100);
    let round = pair.receiver.scheduler().round().get();
    let left = |channel, round| {
        let kind =
            Kind::Left(Departure { channel, since: Round::new(round), ..Departure::default() });
        Message { epoch: Epoch::new(1), channel: 1, channels: 2, kind }
    };
    let now = pair.now;
    pair.receiver.handle_message(now, 1, left(0, round - 1)).unwrap();
    assert_eq!(pair.receiver.reception().departures, 0);
    let own = pair.receiver.handle_message(now, 1, left(1, round + 9));
    assert_eq!(own, Err(Discard::OtherChannel));
    pair.receiver.handle_message(now, 1, left(0, round + 9)).unwrap();
    assert_eq!(pair.receiver.reception().departures, 1);
    assert_eq!(pair.receiver.handle_packet(now, 0, 100, 0), Err(Discard::ChannelOut));
    // There was no request by the sender.
    let kind =
        Kind::LeftAcknowledged(Departure { since: Round::new(round), ..Departure::default() });
    let message = Message { epoch: Epoch::new(1), channel: 1, channels: 2, kind };
    assert_eq!(pair.sender.handle_message(now, 1, message), Err(Discard::NotAsked));
}

proptest! {
    /// Outages, losses and changed targets, with a receiver that would wait for an hour. After the
    /// last error, order is exact and complete as soon as no channel can be declared dead any more:
    /// after a marker interval and a round trip.
    #[test]
    fn dead_channel_never_blocks_the_receiver_forever(
        quanta in quanta(), seed: u64, loss_percent in 0_u32..=80, every_rounds in 1_u32..20,
        position in 0_usize..16, packets in 1_u32..300, dead: u16,
    ) {
        let mut words = Words(seed);
        let channels = quanta.len();
        let scheduler = Scheduler::new(LONGEST_BYTES, &quanta).unwrap();
        let delays = delays(&mut words, channels);
        let options = SenderOptions {
            silence: SenderOptions::default().silence,
            ..sender_options(every_rounds, position, channels)
        };
        let receiver = ReceiverOptions { wait: milliseconds(3_600_000), ..ReceiverOptions::default() };
        let mut pair = Pair::with(&scheduler, &delays, options, receiver).seeded(seed);
        pair.loss_percent = loss_percent;
        for part in 0..packets / 10 {
            pair.dead = if part % 8 < 6 { u64::from(dead) } else { 0 };
            wish_and_send(&mut pair, &mut words, channels, 10);
            pair.run_for(milliseconds(100));
        }
        (pair.loss_percent, pair.dead) = (0, 0);
        pair.sender.change_quanta(&quanta).unwrap();
        // A marker goes on every channel that is in, and its report returns. Earlier losses are
        // known by the next marker, which is checked once more in an interval.
        pair.run_for(milliseconds(3 * 20 + 2 * 150));
        let last_before = pair.sent;
        // A probe each second, 300 ms to the answer, and as much until the channel is in.
        let is_in = |pair: &Pair, channel| pair.sender.scheduler().standing(channel).quantum_bytes > 0;
        while pair.sent < last_before + 10_000 && !(0..channels).all(|channel| is_in(&pair, channel)) {
            pair.send(words.length_bytes());
            pair.run_for(Duration::from_micros(u64::from(words.below(10_000))));
        }
        pair.run_for(milliseconds(20 + 150));
        let expected: Vec<u32> = (last_before + 1..=pair.sent).collect();
        prop_assert_eq!(pair.delivered_after(last_before), expected);
        prop_assert!((0..channels).all(|channel| is_in(&pair, channel)));
        prop_assert!(pair.is_without_repetition());
        prop_assert_eq!(pair.receiver.reception().passed, 0);
        prop_assert!((0..channels).all(|channel| pair.receiver.buffered_packets(channel) == 0));
    }
}

fn message(channel: u8, kind: Kind) -> Message {
    Message { epoch: Epoch::new(1), channel, channels: 2, kind }
}

/// Channel 1 is out from round 5 on: a marker of round 3 was in flight, one of round 6 belongs to
/// its return.
#[test]
fn marker_from_before_a_departure_does_not_undo_it() {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 2]).expect("options of a test");
    let options = ReceiverOptions::default();
    let mut receiver = Receiver::synchronised(scheduler, options, Epoch::new(1)).unwrap();
    let left = Kind::Left(Departure { channel: 1, since: Round::new(5), ..Departure::default() });
    receiver.handle_message(at(0), 0, message(0, left)).unwrap();
    for (round, taken) in [(3, Err(Discard::ChannelOut)), (6, Ok(()))] {
        let standing = Standing::beginning(Round::new(round), LONGEST_BYTES);
        let marker = message(1, Kind::Marker(Marker { standing, ..Marker::default() }));
        assert_eq!(receiver.handle_message(at(1), 1, marker), taken, "round {round}");
        assert_eq!(receiver.handle_packet(at(1), 1, 100, ()), taken, "round {round}");
    }
}

/// A report about packets from before the death of channel 1 does not revive it.
#[test]
fn only_a_probe_response_revives_a_dead_channel() {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 2]).expect("options of a test");
    let options = SenderOptions::default();
    let mut sender = Sender::synchronised(scheduler, options, Epoch::new(1), at(0)).unwrap();
    let report =
        |channel, echo| message(channel, Kind::Report(Report { echo, ..Report::default() }));
    for now in (0..2_000).step_by(10).map(at) {
        while sender.poll_message(now).is_some() {}
        sender.handle_message(now, 0, report(0, now)).unwrap();
    }
    assert!(sender.is_dead(1) && !sender.is_dead(0));
    sender.handle_message(at(2_000), 1, report(1, at(10))).unwrap();
    assert!(sender.is_dead(1));
    sender.handle_message(at(2_000), 1, report(1, at(1_990))).unwrap();
    assert!(!sender.is_dead(1));
}

/// The sender is not called for five seconds; the answer to the last marker of channel 1 is lost,
/// and the next is answered 40 ms after the pause.
#[test]
fn caller_pause_is_not_channel_silence() {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 2]).expect("options of a test");
    let mut sender =
        Sender::synchronised(scheduler, SenderOptions::default(), Epoch::new(1), at(0)).unwrap();
    let hear = |sender: &mut Sender<Scheduler>, now, echo, channel| {
        let report = Report { echo, ..Report::default() };
        sender.handle_message(now, usize::from(channel), message(channel, Kind::Report(report)))
    };
    for now in (0..1_000).step_by(20).map(at) {
        while sender.poll_message(now).is_some() {}
        hear(&mut sender, now, now, 0).unwrap();
        hear(&mut sender, now, now, 1).unwrap();
    }
    for now in [1_000, 6_000].map(at) {
        while sender.poll_message(now).is_some() {}
    }
    assert_eq!(sender.sending().deaths, 0);
    hear(&mut sender, at(6_000), at(1_000), 0).unwrap();
    for now in [6_020, 6_040].map(at) {
        while sender.poll_message(now).is_some() {}
    }
    hear(&mut sender, at(6_040), at(6_000), 1).unwrap();
    assert_eq!(sender.sending().deaths, 0);
}

/// Checks are due every 20 ms and happen every 300 ms: 45 ms of that count as silence, 20 to the
/// time of the check and 25, an eighth of 200 ms, after it. Without any report the silence is 1,200
/// ms: it ends at the 27th check.
#[test]
fn dead_channel_is_detected_by_a_consistently_late_caller() {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 2]).expect("options of a test");
    let mut sender =
        Sender::synchronised(scheduler, SenderOptions::default(), Epoch::new(1), at(0)).unwrap();
    let mut found = (0_u64..50).filter(|look| {
        while sender.poll_message(at(300 * look)).is_some() {}
        sender.sending().deaths == 1
    });
    assert_eq!(found.next(), Some(27));
}

/// Channel 1 leaves in round 5. Its return in round 9 is queued behind a packet, and then the
/// departure arrives once more.
#[test]
fn repeated_departure_does_not_undo_a_return() {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 2]).expect("options of a test");
    let options = ReceiverOptions::default();
    let mut receiver = Receiver::synchronised(scheduler, options, Epoch::new(1)).unwrap();
    receiver.handle_packet(at(0), 1, LONGEST_BYTES, ()).unwrap();
    let left = message(
        0,
        Kind::Left(Departure { channel: 1, since: Round::new(5), ..Departure::default() }),
    );
    receiver.handle_message(at(0), 0, left).unwrap();
    let change = Change { from: Round::new(9), quantum_bytes: LONGEST_BYTES };
    let standing = Standing { coming: Some(change), ..Standing::out(Round::new(6)) };
    let marker = message(1, Kind::Marker(Marker { standing, ..Marker::default() }));
    receiver.handle_message(at(1), 1, marker).unwrap();
    receiver.handle_message(at(2), 0, left).unwrap();
    assert_eq!(receiver.handle_packet(at(3), 1, 100, ()), Ok(()));
    receiver.handle_packet(at(3), 0, LONGEST_BYTES, ()).unwrap();
    while receiver.poll_packet(at(3)).is_some() {}
    assert_eq!(receiver.scheduler().standing(1).quantum_bytes, LONGEST_BYTES);
    assert_eq!(receiver.reception().departures, 1);
}
