//! Guaranteed order: proofs of loss, repair requests, and late packets.

use gingham_fairq::Number;
use gingham_stripe::{
    ChannelOrder, Departure, Discard, Epoch, Guarantee, Instant, Kind, Marker, Message, Nack,
    OptionsError, Order, OrderOptions, Receiver, ReceiverOptions, Repair, RepairOf, RepairPlan,
    RepairRequests, Report, Sender, SenderOptions, Tag,
};

use super::pair::{Scheduler, at, milliseconds};

type End = Receiver<Scheduler, u32>;

/// Packets of 100 bytes, one a turn: 0 on channel 0, 1 on 1, 2 on 2, 3 on 0 ...
fn scheduler() -> Scheduler {
    Scheduler::new(100, &[100; 3]).expect("what a test may do")
}

/// Waits 50 ms for evidence; with repair, 30 ms for copies, requested every 10 ms.
fn receiver(repairs: bool) -> End {
    ordered(ReceiverOptions::default().order, repairs)
}

fn ordered(order: Order, repairs: bool) -> End {
    let requests = RepairRequests { wait: milliseconds(30), again: milliseconds(10) };
    let guaranteed = Some(Guarantee { repair: repairs.then_some(requests) });
    let options =
        ReceiverOptions { wait: milliseconds(50), guaranteed, order, ..ReceiverOptions::default() };
    Receiver::synchronised(scheduler(), options, Epoch::new(1)).expect("what a test may do")
}

fn tag(sequence: u32) -> Tag {
    let channel = u8::try_from(sequence % 3).expect("below 3");
    Tag { sequence, channel, channel_sequence: sequence / 3, session: 1, repair_of: None }
}

fn packet(receiver: &mut End, now: Instant, sequence: u32) -> Result<(), Discard> {
    receiver.handle_tagged(now, tag(sequence), 100, sequence)
}

/// On channel 2, with its number there and the number of the next packet of the pipe at its
/// departure.
fn copy(
    receiver: &mut End,
    now: Instant,
    sequence: u32,
    (channel_sequence, next_sequence): (u32, u32),
) -> Result<(), Discard> {
    let tag = copy_tag(2, sequence, channel_sequence, next_sequence);
    receiver.handle_tagged(now, tag, 100, sequence)
}

fn copy_tag(channel: u8, sequence: u32, channel_sequence: u32, next_sequence: u32) -> Tag {
    let lost = tag(sequence);
    let repair_of = Some(RepairOf {
        channel: lost.channel,
        channel_sequence: lost.channel_sequence,
        next_sequence,
    });
    Tag { channel, channel_sequence, repair_of, ..lost }
}

fn packets(receiver: &mut End, now: Instant, sequences: &[u32]) {
    for sequence in sequences {
        packet(receiver, now, *sequence).expect("what a test may do");
    }
}

/// Sent when `next_sequence` was next.
fn marker(channel: u8, next_sequence: u32) -> Message {
    let mut sender = scheduler();
    (0..next_sequence).for_each(|_| gingham_fairq::Causal::charge(&mut sender, 100));
    let standing = sender.standing(channel.into());
    let sent_packets = (next_sequence + 2 - u32::from(channel)) / 3;
    let marker = Marker { standing, sent_packets, next_sequence, ..Marker::default() };
    Message { epoch: Epoch::new(1), channel, channels: 3, kind: Kind::Marker(marker) }
}

fn drain(receiver: &mut End, now: Instant) -> Vec<u32> {
    std::iter::from_fn(|| receiver.poll_packet(now)).collect()
}

/// Channel, first number and count.
fn asked(receiver: &mut End, now: Instant) -> Vec<(usize, u32, u16)> {
    let said = std::iter::from_fn(|| receiver.poll_message(now));
    let missing = said.filter_map(|(channel, message)| match message.kind {
        Kind::Nack(Nack { first, count, .. }) => Some((channel, first, count)),
        _ => None,
    });
    missing.collect()
}

/// Channel 0, with a long wait.
fn missing(first: u32, count: u16) -> Kind {
    Kind::Nack(Nack { channel: 0, first, count, left_ns: u32::MAX })
}

/// Packet 6 on channel 0 does not prove that 3 is lost, since 3 might be on another channel; 4 and
/// 5 on theirs complete the proof.
#[test]
fn packet_is_lost_only_once_every_channel_has_passed_it() {
    let mut receiver = receiver(false);
    packets(&mut receiver, at(0), &[0, 1, 2, 6]);
    assert_eq!(drain(&mut receiver, at(1)), [0, 1, 2]);
    packets(&mut receiver, at(2), &[4]);
    assert_eq!(drain(&mut receiver, at(2)), []);
    packets(&mut receiver, at(3), &[5]);
    assert_eq!(drain(&mut receiver, at(3)), [4, 5, 6]);
    assert_eq!((receiver.reception().given_up, receiver.reception().silences), (1, 0));
    // A packet that was given up is not delivered late, and none is delivered twice.
    assert_eq!(packet(&mut receiver, at(4), 3), Err(Discard::Repeated));
    assert_eq!(packet(&mut receiver, at(4), 5), Err(Discard::Repeated));
    assert_eq!(drain(&mut receiver, at(4)), []);
}

/// Packets 3 to 5 are lost, and only markers follow.
#[test]
fn markers_prove_losses_at_the_end_of_traffic() {
    let mut receiver = receiver(false);
    packets(&mut receiver, at(0), &[0, 1, 2]);
    assert_eq!(drain(&mut receiver, at(0)), [0, 1, 2]);
    for channel in 0..3 {
        receiver.handle_message(at(1), channel.into(), marker(channel, 6)).unwrap();
    }
    packets(&mut receiver, at(2), &[7, 6]);
    assert_eq!(drain(&mut receiver, at(2)), [6, 7]);
    assert_eq!((receiver.reception().given_up, receiver.reception().late), (3, 0));
    // The markers have corrected the scheduler.
    let next = Number { round: gingham_fairq::Round::new(3), deficit_bytes: 100 };
    assert_eq!(receiver.scheduler().standing(2).next, next);
}

/// A packet with a wrong number, 8, is delivered at 60 ms for lack of others. Markers with 3 as the
/// next number may be slow within the wait, but eight in a row after it are not.
#[test]
fn packet_number_unknown_to_markers_is_detected_at_rest() {
    let mut receiver = receiver(false);
    packets(&mut receiver, at(0), &[0, 1, 2]);
    assert_eq!(drain(&mut receiver, at(0)), [0, 1, 2]);
    packets(&mut receiver, at(10), &[8]);
    assert_eq!(drain(&mut receiver, at(60)), [8]);
    let requests = |receiver: &mut End, from_ms: u64| {
        for marker_ms in from_ms..from_ms + 9 {
            let channel = u8::try_from(marker_ms % 3).expect("below 3");
            receiver.handle_message(at(marker_ms), channel.into(), marker(channel, 3)).unwrap();
            while receiver.poll_message(at(marker_ms)).is_some() {}
        }
        receiver.reception().requests
    };
    assert_eq!((requests(&mut receiver, 90), requests(&mut receiver, 110)), (0, 1));
}

/// Channel 0 is silent: 4 and 5 wait for 50 ms.
#[test]
fn silent_channel_delays_packets_by_the_wait_and_order_holds() {
    let mut receiver = receiver(false);
    packets(&mut receiver, at(0), &[0, 1, 2]);
    assert_eq!(drain(&mut receiver, at(0)), [0, 1, 2]);
    packets(&mut receiver, at(10), &[4]);
    packets(&mut receiver, at(20), &[5, 7, 8]);
    assert_eq!((receiver.poll_timeout(), drain(&mut receiver, at(59))), (Some(at(60)), vec![]));
    assert_eq!(drain(&mut receiver, at(60)), [4, 5, 7, 8]);
    assert_eq!((receiver.reception().silences, receiver.poll_timeout()), (1, None));
    assert_eq!(packet(&mut receiver, at(61), 3), Err(Discard::TooLate));
    // Its packet has arrived: it is awaited again.
    packets(&mut receiver, at(62), &[10]);
    assert_eq!(drain(&mut receiver, at(62)), []);
    packets(&mut receiver, at(63), &[9]);
    assert_eq!(drain(&mut receiver, at(63)), [9, 10]);
    assert_eq!(receiver.reception().given_up, 2);
}

/// Packet 3 is the second of channel 0.
#[test]
fn lost_packet_is_requested_and_replaced_by_its_copy() {
    let mut receiver = receiver(true);
    packets(&mut receiver, at(0), &[0, 1, 2, 6]);
    assert_eq!(
        (asked(&mut receiver, at(0)), asked(&mut receiver, at(9))),
        (vec![(0, 1, 1)], vec![])
    );
    packets(&mut receiver, at(9), &[4, 5]);
    assert_eq!(drain(&mut receiver, at(9)), [0, 1, 2]);
    assert_eq!(asked(&mut receiver, at(10)), [(0, 1, 1)]);
    assert_eq!(copy(&mut receiver, at(11), 3, (2, 7)), Ok(()));
    assert_eq!(copy(&mut receiver, at(11), 3, (3, 7)), Err(Discard::Repeated));
    assert_eq!(receiver.copies(), 1);
    assert_eq!(drain(&mut receiver, at(11)), [3, 4, 5, 6]);
    assert_eq!(copy(&mut receiver, at(12), 3, (4, 7)), Err(Discard::TooLate));
    assert_eq!((receiver.copies(), asked(&mut receiver, at(100))), (0, vec![]));
    assert_eq!((receiver.reception().repaired, receiver.reception().given_up), (1, 0));
    // The copy was charged to its channel: the guess has always been right.
    assert_eq!(gingham_fairq::Causal::current(receiver.scheduler()), 1);
}

/// A copy of 3 arrives on channel 2 as its fourth: the third is lost, one of 6 to 8. Reports count
/// the copy as received, and the losses that it proves as accounted for.
#[test]
fn copy_proves_losses_on_its_own_channel() {
    let mut receiver = receiver(true);
    packets(&mut receiver, at(0), &[0, 1, 2, 6, 4, 5]);
    assert_eq!(asked(&mut receiver, at(0)), [(0, 1, 1)]);
    assert_eq!(copy(&mut receiver, at(1), 3, (3, 9)), Ok(()));
    assert_eq!(drain(&mut receiver, at(1)), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(asked(&mut receiver, at(1)), [(2, 2, 1)]);
    // 8 was the third of channel 2, and waits for its copy, which arrives there as the fifth.
    packets(&mut receiver, at(2), &[7, 9]);
    assert_eq!(drain(&mut receiver, at(2)), [7]);
    receiver.handle_message(at(2), 2, copied_marker(4, 10)).unwrap();
    let report = reported(&mut receiver, at(2));
    assert_eq!((report.accounted_packets, report.received_packets), (4, 3));
    let lost = RepairOf { channel: 2, channel_sequence: 2, next_sequence: 10 };
    let tag = Tag { channel_sequence: 4, repair_of: Some(lost), ..tag(8) };
    assert_eq!(receiver.handle_tagged(at(3), tag, 100, 8), Ok(()));
    assert_eq!(drain(&mut receiver, at(3)), [8, 9]);
    assert_eq!((receiver.reception().repaired, receiver.reception().given_up), (2, 0));
    assert_eq!(asked(&mut receiver, at(100)), []);
}

/// Channel 2, some of the packets copies.
fn copied_marker(sent_packets: u32, next_sequence: u32) -> Message {
    let Message { kind: Kind::Marker(plain), epoch, .. } = marker(2, next_sequence) else {
        unreachable!("a marker");
    };
    let kind = Kind::Marker(Marker { sent_packets, ..plain });
    Message { epoch, channel: 2, channels: 3, kind }
}

fn reported(receiver: &mut End, now: Instant) -> Report {
    let mut said = std::iter::from_fn(|| receiver.poll_message(now));
    let report = said.find_map(|(channel, message)| match message.kind {
        Kind::Report(report) if channel == 2 => Some(report),
        _ => None,
    });
    report.expect("a marker brings one")
}

/// The round trips in markers are 120 ms on channel 0, which loses 3, and 20 ms on channel 1; a
/// request is repeated after one and a quarter times 120 ms.
#[test]
fn free_order_requests_use_the_fastest_reverse_channel() {
    for (order, way) in [(Order::Free, 1), (Order::Strict, 0)] {
        let mut receiver = ordered(order, true);
        packets(&mut receiver, at(0), &[0, 1, 2]);
        for (channel, round_trip_ns) in [(0, 120_000_000), (1, 20_000_000)] {
            let mut message = marker(channel, 3);
            let Kind::Marker(marker) = &mut message.kind else { panic!("it is one") };
            marker.round_trip_ns = round_trip_ns;
            receiver.handle_message(at(1), channel.into(), message).unwrap();
        }
        packets(&mut receiver, at(2), &[6]);
        assert_eq!(asked(&mut receiver, at(2)), [(way, 1, 1)]);
        assert_eq!(asked(&mut receiver, at(151)), []);
        assert_eq!(asked(&mut receiver, at(152)), [(0, 1, 1)]);
    }
}

/// Packets wait for a copy for 30 ms from the proof on, and not a second time.
#[test]
fn wait_for_a_copy_is_bounded() {
    let mut receiver = receiver(true);
    packets(&mut receiver, at(0), &[0, 1, 2, 6, 4, 5]);
    assert_eq!(drain(&mut receiver, at(0)), [0, 1, 2]);
    assert_eq!(asked(&mut receiver, at(20)), [(0, 1, 1)]);
    assert_eq!((drain(&mut receiver, at(29)), receiver.poll_timeout()), (vec![], Some(at(30))));
    assert_eq!(
        (drain(&mut receiver, at(30)), asked(&mut receiver, at(30))),
        (vec![4, 5, 6], vec![])
    );
    assert_eq!(copy(&mut receiver, at(31), 3, (2, 7)), Err(Discard::TooLate));
    assert_eq!(receiver.poll_timeout(), None);
}

/// Channel 0 has left; its packets 3 and 6, of 9, are lost.
fn after_channel_0_left() -> End {
    let mut receiver = receiver(true);
    packets(&mut receiver, at(0), &[0, 1, 2]);
    let since = gingham_fairq::Round::new(5);
    let left = Departure { channel: 0, since, sent_packets: 3, next_sequence: 9 };
    let message = Message { epoch: Epoch::new(1), channel: 1, channels: 3, kind: Kind::Left(left) };
    receiver.handle_message(at(1), 1, message).expect("a message of the stripe");
    packets(&mut receiver, at(2), &[4, 5, 7, 8]);
    receiver
}

/// A copy of 3 at the last moment restarts the wait for 6, which then arrives itself.
#[test]
fn in_flight_packets_of_a_departed_channel_are_waited_for() {
    let mut receiver = after_channel_0_left();
    assert_eq!(drain(&mut receiver, at(2)), [0, 1, 2]);
    assert_eq!(asked(&mut receiver, at(2)), [(1, 1, 2)]);
    assert_eq!(copy(&mut receiver, at(30), 3, (3, 9)), Ok(()));
    assert_eq!(drain(&mut receiver, at(30)), [3, 4, 5]);
    assert_eq!(asked(&mut receiver, at(31)), [(1, 2, 1)]);
    assert_eq!(drain(&mut receiver, at(59)), []);
    assert_eq!(packet(&mut receiver, at(59), 6), Ok(()));
    assert_eq!(drain(&mut receiver, at(59)), [6, 7, 8]);
    assert_eq!(
        (receiver.reception().given_up, packet(&mut receiver, at(59), 6)),
        (0, Err(Discard::Repeated))
    );
}

/// Copies of packets 10 and 13, sent on channels 1 and 2 at once, do not prolong the wait for 3 and
/// 6: it ends 30 ms after Left.
#[test]
fn other_copies_do_not_prolong_the_wait_for_a_departed_channel() {
    let mut receiver = after_channel_0_left();
    assert_eq!(copy(&mut receiver, at(15), 10, (3, 14)), Ok(()));
    assert_eq!(copy(&mut receiver, at(30), 13, (4, 14)), Ok(()));
    assert_eq!(drain(&mut receiver, at(30)), [0, 1, 2]);
    assert_eq!(drain(&mut receiver, at(31)), [4, 5, 7, 8]);
    assert_eq!(receiver.reception().given_up, 2);
}

#[test]
fn tags_of_another_epoch_or_mode_are_counted() {
    let mut guaranteed = receiver(false);
    assert_eq!(guaranteed.handle_packet(at(0), 0, 100, 0), Err(Discard::OtherMode));
    let old = Tag { session: 0, ..tag(0) };
    assert_eq!(guaranteed.handle_tagged(at(0), old, 100, 0), Err(Discard::StaleEpoch));
    assert_eq!(copy(&mut guaranteed, at(0), 3, (0, 6)), Err(Discard::NotAsked));
    let nowhere = Tag { channel: 3, ..tag(0) };
    assert_eq!(guaranteed.handle_tagged(at(0), nowhere, 100, 0), Err(Discard::NoSuchChannel));
    assert_eq!(guaranteed.handle_tagged(at(0), tag(0), 101, 0), Err(Discard::BadLength));
    let mut quasi =
        End::synchronised(scheduler(), ReceiverOptions::default(), Epoch::new(1)).unwrap();
    assert_eq!(quasi.handle_tagged(at(0), tag(0), 100, 0), Err(Discard::OtherMode));
    assert_eq!(guaranteed.reception().discards.total() + quasi.reception().discards.total(), 6);
}

/// Channel 0 has a round trip of 60 ms, channel 1 one of 20 ms and a loss of three quarters,
/// channel 2 one of 40 ms.
#[test]
fn copies_use_the_fastest_channel() {
    let options = SenderOptions { repair: Some(RepairPlan::default()), ..SenderOptions::default() };
    let mut sender = Sender::synchronised(scheduler(), options, Epoch::new(1), at(0)).unwrap();
    let sent: Vec<_> = (0..6).map(|_| sender.handle_tagged(at(0), 100).unwrap()).collect();
    let expected: Vec<_> = (0..6).map(|number| ((number % 3) as usize, tag(number))).collect();
    assert_eq!(sent, expected);
    let mut hear = |channel: u8, at_ms, kind| {
        let message = Message { epoch: Epoch::new(1), channel, channels: 3, kind };
        sender.handle_message(at(at_ms), channel.into(), message)
    };
    let report = |received_bytes| {
        Kind::Report(Report {
            accounted_bytes: 400,
            received_bytes,
            echo: at(10),
            ..Report::default()
        })
    };
    hear(1, 30, report(100)).unwrap();
    hear(2, 50, report(400)).unwrap();
    hear(0, 70, report(400)).unwrap();
    hear(0, 70, missing(1, 1)).unwrap();
    let repair = Repair { channel: 2, tag: copy_tag(2, 3, 2, 6), length_bytes: 100 };
    assert_eq!((sender.poll_repair(at(70)), sender.poll_repair(at(70))), (Some(repair), None));
    assert_eq!(sender.sending().repairs, 1);
}

/// The sender counts each copy, up to the number of attempts.
#[test]
fn request_for_a_lost_copy_retransmits_the_packet() {
    let repair = Some(RepairPlan { tries_max: 2, ..RepairPlan::default() });
    let options = SenderOptions { repair, ..SenderOptions::default() };
    let mut sender = Sender::synchronised(scheduler(), options, Epoch::new(1), at(0)).unwrap();
    for _ in 0..6 {
        sender.handle_tagged(at(0), 100).unwrap();
    }
    let mut ask = |channel: u8, first, at_ms| {
        let kind = Kind::Nack(Nack { channel, first, count: 1, left_ns: u32::MAX });
        let message = Message { epoch: Epoch::new(1), channel, channels: 3, kind };
        sender.handle_message(at(at_ms), channel.into(), message).unwrap();
        let repair = sender.poll_repair(at(at_ms));
        let sent = [0, 1].map(|channel| sender.sent(channel).packets);
        (repair.map(|repair| (repair.channel, repair.tag)), sent)
    };
    assert_eq!(ask(0, 1, 10), (Some((0, copy_tag(0, 3, 2, 6))), [3, 2]));
    assert_eq!(ask(0, 2, 20), (Some((1, copy_tag(1, 3, 2, 6))), [3, 3]));
    assert_eq!(ask(1, 2, 30), (None, [3, 3]));
    // The next new packet of channel 0 follows the copy there, and is the next of the pipe.
    assert_eq!(sender.handle_tagged(at(40), 100), Ok((0, Tag { channel_sequence: 3, ..tag(6) })));
}

/// Four copies at once on each channel; a packet or a marker permits one more.
#[test]
fn copies_on_a_channel_are_rate_limited() {
    let options = SenderOptions { repair: Some(RepairPlan::default()), ..SenderOptions::default() };
    let mut sender = Sender::synchronised(scheduler(), options, Epoch::new(1), at(0)).unwrap();
    for _ in 0..60 {
        sender.handle_tagged(at(0), 100).unwrap();
    }
    while sender.poll_message(at(0)).is_some() {}
    let kind = missing(0, 20);
    let message = Message { epoch: Epoch::new(1), channel: 0, channels: 3, kind };
    sender.handle_message(at(0), 0, message).unwrap();
    let copies = |sender: &mut Sender<Scheduler>| -> Vec<usize> {
        std::iter::from_fn(|| sender.poll_repair(at(0))).map(|repair| repair.channel).collect()
    };
    assert_eq!(copies(&mut sender), [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2]);
    let (channel, _) = sender.handle_tagged(at(0), 100).unwrap();
    assert_eq!((channel, copies(&mut sender)), (0, vec![0]));
    assert_eq!(sender.poll_message(at(20)).map(|(channel, _)| channel), Some(0));
    assert_eq!(sender.poll_message(at(20)).map(|(channel, _)| channel), Some(1));
    assert_eq!(copies(&mut sender), [0, 1]);
}

#[test]
fn excessive_or_insufficient_memory_is_rejected() {
    let too_many = |option| OptionsError::TooManyPackets { option, packets: usize::MAX };
    let of = |options| End::new(scheduler(), options).map(|_| ());
    // A longest packet of 100 bytes for each of three channels, and one for copies.
    let repair = Some(RepairRequests::default());
    for (guaranteed, least) in [(None, 636), (Some(Guarantee { repair }), 848)] {
        for bytes in [least - 1, ReceiverOptions::BUFFER_BYTES_LIMIT + 1] {
            let options = ReceiverOptions {
                guaranteed,
                buffer_bytes_max: bytes,
                ..ReceiverOptions::default()
            };
            let most = ReceiverOptions::BUFFER_BYTES_LIMIT;
            assert_eq!(of(options), Err(OptionsError::BufferBytes { bytes, least, most }));
        }
        let options =
            ReceiverOptions { guaranteed, buffer_bytes_max: least, ..ReceiverOptions::default() };
        assert_eq!(of(options), Ok(()));
    }
    let repair = Some(RepairPlan { packets: usize::MAX, ..RepairPlan::default() });
    let options = SenderOptions { repair, ..SenderOptions::default() };
    let sender = Sender::new(scheduler(), options, Epoch::new(1), at(0)).map(|_| ());
    assert_eq!(sender, Err(too_many("repair.packets")));
    let order = OrderOptions { packets_max: usize::MAX, ..OrderOptions::default() };
    assert_eq!(ChannelOrder::<u32>::new(order).map(|_| ()), Err(too_many("packets_max")));
}

#[test]
fn request_without_a_retransmission_buffer_is_rejected() {
    let options = SenderOptions::default();
    let mut sender = Sender::synchronised(scheduler(), options, Epoch::new(1), at(0)).unwrap();
    let kind = missing(0, 1);
    let message = Message { epoch: Epoch::new(1), channel: 0, channels: 3, kind };
    assert_eq!(sender.handle_message(at(0), 0, message), Err(Discard::NotRepairing));
    assert_eq!(sender.poll_repair(at(0)), None);
}
