//! Resets: the first contact, crashes of either end, past epochs.

use std::time::Duration;

use gingham_stripe::{
    Charge, ControlPlan, Discard, Epoch, Kind, Marker, MarkerPlan, Message, OptionsError, Order,
    Receiver, ReceiverOptions, SendError, Sender, SenderOptions, SharePlan,
};
use proptest::prelude::*;

use super::pair::{LONGEST_BYTES, Pair, Scheduler, Words, at, milliseconds};

fn scheduler(channels: usize) -> Scheduler {
    Scheduler::new(LONGEST_BYTES, &vec![LONGEST_BYTES; channels]).expect("options of a test")
}

/// Channels of 10, 20, ... ms.
fn pair(channels: usize) -> Pair {
    let delays: Vec<_> = (1..=channels as u64).map(|channel| milliseconds(10 * channel)).collect();
    Pair::new(&scheduler(channels), &delays, ReceiverOptions::default())
}

fn restart_sender(pair: &mut Pair, epoch: Epoch, channels: usize) {
    let options = SenderOptions::default();
    pair.sender =
        Sender::new(scheduler(channels), options, epoch, pair.now).expect("options of a test");
}

fn restart_receiver(pair: &mut Pair, channels: usize) {
    pair.receiver =
        Receiver::new(scheduler(channels), ReceiverOptions::default()).expect("options of a test");
}

fn assert_in_order_from_here(pair: &mut Pair) {
    let last = pair.sent;
    (0..50).for_each(|_| pair.send(1_000));
    pair.run_for(milliseconds(400));
    assert_eq!(pair.delivered_after(last), (last + 1..=last + 50).collect::<Vec<_>>());
}

/// Resets reach channels 0 and 1 after 10 and 20 ms, and are acknowledged after 20 and 40 ms.
#[test]
fn first_contact_is_a_reset_acknowledged_before_data() {
    let mut pair = pair(2);
    restart_sender(&mut pair, Epoch::new(5), 2);
    restart_receiver(&mut pair, 2);
    assert_eq!(pair.sender.handle_packet(at(0), 100), Err(SendError::Resetting));
    pair.run_to(at(39));
    assert_eq!((pair.next_channel(), pair.receiver.epoch()), (None, Some(Epoch::new(5))));
    pair.run_to(at(40));
    assert_eq!((pair.next_channel(), pair.sender.epoch()), (Some(0), Epoch::new(5)));
    assert_in_order_from_here(&mut pair);
    assert_eq!(pair.receiver.reception().discards.total(), 0);
}

/// Packet 3 is lost, and 4 waits until the reset.
#[test]
fn packets_of_the_old_epoch_are_delivered_at_a_reset() {
    let mut pair = pair(2);
    (1..=4).for_each(|packet| pair.send_or_lose(1_500, packet == 3));
    pair.run_to(at(20));
    assert_eq!((pair.delivered.as_slice(), pair.receiver.buffered_packets(1)), (&[1, 2][..], 1));
    pair.sender.reset(pair.now);
    pair.run_to(at(29));
    assert_eq!(pair.delivered, [1, 2]);
    pair.run_to(at(30));
    assert_eq!(pair.delivered, [1, 2, 4]);
    pair.run_to(at(60));
    assert_eq!(pair.receiver.reception().discards.of(Discard::Reset), 0);
    assert_eq!((pair.sender.epoch(), pair.sender.is_open()), (Epoch::new(2), true));
    assert_eq!(pair.sender.scheduler(), &scheduler(2));
    assert_in_order_from_here(&mut pair);
}

/// All packets on the first of three channels are lost: 1, 4 and 7.
#[test]
fn packets_waiting_at_a_reset_are_delivered_in_order() {
    let markers = MarkerPlan { interval: milliseconds(1_000), ..SenderOptions::default().markers };
    let options = SenderOptions { markers, ..SenderOptions::default() };
    let delays = [10, 20, 30].map(milliseconds);
    let mut pair = Pair::with(&scheduler(3), &delays, options, ReceiverOptions::default());
    (1..=9).for_each(|packet| pair.send_or_lose(1_500, [1, 4, 7].contains(&packet)));
    pair.run_to(at(30));
    assert_eq!(pair.delivered, []);
    pair.sender.reset(pair.now);
    pair.run_to(at(40));
    assert_eq!(pair.delivered, [2, 3, 5, 6, 8, 9]);
}

/// Channels 0 1 2 3 of the sender arrive at ports 2 0 3 1.
#[test]
fn receiver_adopts_the_channel_numbers_of_the_sender() {
    let mut pair = pair(4);
    pair.wires = vec![2, 0, 3, 1];
    restart_sender(&mut pair, Epoch::new(5), 4);
    restart_receiver(&mut pair, 4);
    pair.run_to(at(80));
    assert!(pair.sender.is_open());
    assert_in_order_from_here(&mut pair);
    assert_eq!(pair.receiver.reception().discards.total(), 0);
    // Permuted again during operation: messages at port 0 now name channel 0.
    pair.wires = vec![0, 1, 2, 3];
    pair.run_for(milliseconds(1_000));
    assert_in_order_from_here(&mut pair);
    assert!(pair.receiver.reception().discards.of(Discard::OtherChannel) > 0);
}

/// Cables are exchanged while the sender is down, and it begins in a past epoch: the request goes
/// on the port that the receiver takes for the other channel.
#[test]
fn reset_is_requested_despite_exchanged_channels() {
    let mut pair = pair(2);
    (0..10).for_each(|_| pair.send(1_000));
    pair.run_to(at(100));
    pair.wires = vec![1, 0];
    restart_sender(&mut pair, Epoch::new(0), 2);
    pair.run_for(milliseconds(1_000));
    assert!(pair.sender.is_open());
    assert_in_order_from_here(&mut pair);
}

/// One message that names the other channel, in an epoch unknown to the sender, exchanges the
/// numbers.
#[test]
fn single_wrong_message_does_not_end_the_pipe() {
    for epoch in [2, 5, 1 << 20] {
        let mut pair = pair(2);
        let kind = Kind::Reset { quantum: LONGEST_BYTES };
        let wrong = Message { epoch: Epoch::new(epoch), channel: 1, channels: 2, kind };
        pair.inject(0, wrong);
        pair.run_for(milliseconds(2_000));
        assert_in_order_from_here(&mut pair);
    }
}

#[test]
fn reset_interval_may_be_endless() {
    let options = SenderOptions { reset_interval: Duration::MAX, ..SenderOptions::default() };
    let mut sender = Sender::synchronised(scheduler(2), options, Epoch::new(1), at(0)).unwrap();
    let kind = Kind::ResetRequested;
    let request = |epoch| Message { epoch: Epoch::new(epoch), channel: 0, channels: 2, kind };
    assert_eq!(sender.handle_message(at(0), 0, request(1)), Ok(()));
    assert_eq!(sender.handle_message(at(1), 0, request(2)), Err(Discard::TooSoon));
}

/// Two ports claim channel 0.
#[test]
fn ports_claiming_the_same_channel_are_counted() {
    let mut receiver: Receiver<_, ()> =
        Receiver::new(scheduler(2), ReceiverOptions::default()).unwrap();
    let kind = Kind::Reset { quantum: 1_500 };
    let reset = Message { epoch: Epoch::new(3), channel: 0, channels: 2, kind };
    receiver.handle_message(at(0), 0, reset).unwrap();
    assert_eq!(receiver.handle_packet(at(0), 0, 100, ()), Ok(()));
    assert_eq!(receiver.handle_message(at(0), 1, reset), Err(Discard::OtherChannel));
    assert_eq!(receiver.handle_packet(at(0), 0, 100, ()), Err(Discard::Unsynchronised));
    let nowhere = Message { channel: 2, ..reset };
    assert_eq!(receiver.handle_message(at(0), 1, nowhere), Err(Discard::NoSuchChannel));
}

#[test]
fn restarted_receiver_requests_a_reset() {
    let mut pair = pair(3);
    (0..10).for_each(|_| pair.send(1_000));
    pair.run_to(at(100));
    restart_receiver(&mut pair, 3);
    pair.run_to(at(300));
    assert_eq!((pair.sender.epoch(), pair.receiver.epoch()), (Epoch::new(2), Some(Epoch::new(2))));
    assert_in_order_from_here(&mut pair);
}

/// The sender starts in the present epoch or in an earlier one.
#[test]
fn restarted_sender_learns_the_current_epoch() {
    for forgotten in [1, 0, u32::MAX - 5] {
        let mut pair = pair(3);
        (0..10).for_each(|_| pair.send(1_000));
        pair.run_to(at(100));
        restart_sender(&mut pair, Epoch::new(forgotten), 3);
        pair.run_to(at(400));
        // Epoch 2 may be one that it had begun before its restart.
        let fresh = if forgotten == 1 { 2 } else { 3 };
        assert_eq!(pair.sender.epoch(), Epoch::new(fresh), "from {forgotten}");
        assert!(pair.sender.is_open());
        assert_in_order_from_here(&mut pair);
    }
}

/// Two starts in epoch 1: acknowledgements of the first open the second, while a request caused by
/// the first moves the receiver on to epoch 2.
#[test]
fn marker_of_a_superseded_epoch_causes_a_reset_request() {
    let message = |epoch, kind| Message { epoch: Epoch::new(epoch), channel: 0, channels: 2, kind };
    let options = ReceiverOptions::default();
    let mut receiver =
        Receiver::<_, u32>::synchronised(scheduler(2), options, Epoch::new(1)).unwrap();
    let standing = scheduler(2).standing(0);
    let marker = Kind::Marker(Marker { standing, ..Marker::default() });
    receiver.handle_message(at(0), 0, message(2, Kind::Reset { quantum: 1_500 })).unwrap();
    assert_eq!(receiver.poll_message(at(0)), Some((0, message(2, Kind::Acknowledged))));
    assert_eq!(receiver.handle_message(at(0), 0, message(1, marker)), Err(Discard::StaleEpoch));
    assert_eq!(receiver.poll_message(at(0)), Some((0, message(2, Kind::ResetRequested))));
    // On a channel that has not named epoch 2 it may have been in flight: a sender in epoch 2
    // ignores requests to one in epoch 1.
    let other = Message { channel: 1, ..message(1, marker) };
    assert_eq!(receiver.handle_message(at(0), 1, other), Err(Discard::StaleEpoch));
    let asked = Message { channel: 1, ..message(1, Kind::ResetRequested) };
    assert_eq!(receiver.poll_message(at(0)), Some((1, asked)));
    assert_eq!(receiver.poll_message(at(0)), None);
}

/// The reset waits 500 ms for channel 1.
#[test]
fn dead_channel_does_not_block_a_reset_forever() {
    let mut pair = pair(2);
    pair.dead = 0b10;
    pair.sender.reset(pair.now);
    pair.run_to(at(499));
    assert!(!pair.sender.is_open());
    pair.run_to(at(500));
    assert!(pair.sender.is_open());
    assert!(pair.sender.is_dead(1));
    // Nothing goes there, and nothing waits for it: 10 ms is the delay of channel 0.
    (1..=6).for_each(|_| pair.send(1_500));
    pair.run_for(milliseconds(10));
    assert_eq!(pair.delivered, [1, 2, 3, 4, 5, 6]);
    // Probes replace the reset: they go at 520, 560, 640 and 800 ms.
    pair.run_to(at(700));
    pair.dead = 0;
    pair.run_to(at(839));
    assert!(pair.sender.is_dead(1));
    pair.run_to(at(840));
    assert!(!pair.sender.is_dead(1));
    assert_in_order_from_here(&mut pair);
}

#[test]
fn messages_of_other_epochs_and_ends_change_nothing() {
    let mut pair = pair(2);
    let message = |epoch, kind| Message { epoch: Epoch::new(epoch), channel: 0, channels: 2, kind };
    let now = pair.now;
    let mut to_sender = |epoch, kind| pair.sender.handle_message(now, 0, message(epoch, kind));
    assert_eq!(to_sender(0, Kind::ResetRequested), Err(Discard::StaleEpoch));
    assert_eq!(to_sender(0, Kind::Acknowledged), Err(Discard::StaleEpoch));
    assert_eq!(to_sender(1, Kind::Reset { quantum: 1_500 }), Err(Discard::OtherEnd));
    assert!(pair.sender.is_open());
    assert_eq!(pair.sender.handle_bytes(now, 0, b"GS").unwrap_err().to_string(), {
        "no message: truncated to 2 bytes"
    });
    assert_eq!(pair.sender.sending().discards.total(), 4);
    let mut to_receiver = |epoch, kind| pair.receiver.handle_message(now, 0, message(epoch, kind));
    assert_eq!(to_receiver(0, Kind::Reset { quantum: 1_500 }), Err(Discard::StaleEpoch));
    assert_eq!(to_receiver(1, Kind::Acknowledged), Err(Discard::OtherEnd));
}

/// Resets go every 100 ms.
#[test]
fn unacknowledged_reset_is_repeated() {
    let options = SenderOptions::default();
    let mut sender = Sender::new(scheduler(2), options, Epoch::new(3), at(0)).unwrap();
    let mut resets = |now, acknowledged: Option<u8>| {
        let channels: Vec<_> =
            std::iter::from_fn(|| sender.poll_message(now)).map(|(channel, _)| channel).collect();
        if let Some(channel) = acknowledged {
            let kind = Kind::Acknowledged;
            let message = Message { epoch: Epoch::new(3), channel, channels: 2, kind };
            sender.handle_message(now, usize::from(channel), message).unwrap();
        }
        (channels, sender.poll_timeout())
    };
    assert_eq!(resets(at(0), Some(0)), (vec![0, 1], at(100)));
    assert_eq!(resets(at(99), None), (vec![], at(100)));
    assert_eq!(resets(at(100), None), (vec![1], at(200)));
    // Open: markers go at once.
    assert_eq!(resets(at(130), Some(1)), (vec![], at(130)));
    assert_eq!(resets(at(130), None), (vec![0, 1], at(150)));
}

/// A channel keeps order: a reset behind data of its own epoch comes from a sender without its
/// state.
#[test]
fn reset_is_acknowledged_again_until_data_follows() {
    let options = ReceiverOptions::default();
    let mut receiver = Receiver::new(scheduler(2), options).unwrap();
    let message = |kind| Message { epoch: Epoch::new(3), channel: 1, channels: 2, kind };
    for _ in 0..2 {
        receiver.handle_message(at(0), 1, message(Kind::Reset { quantum: 1_500 })).unwrap();
        assert_eq!(receiver.poll_message(at(0)), Some((1, message(Kind::Acknowledged))));
    }
    assert_eq!(receiver.handle_packet(at(0), 0, 100, ()), Err(Discard::Unsynchronised));
    receiver.handle_packet(at(0), 1, 100, ()).unwrap();
    let again = receiver.handle_message(at(0), 1, message(Kind::Reset { quantum: 1_500 }));
    assert_eq!(again, Err(Discard::RepeatedReset));
    assert_eq!(receiver.poll_message(at(0)), Some((1, message(Kind::ResetRequested))));
    assert_eq!((receiver.poll_message(at(0)), receiver.reception().epochs), (None, 1));
}

#[test]
fn invalid_options_are_rejected() {
    let sender = |change: fn(&mut SenderOptions)| {
        let mut options = SenderOptions::default();
        change(&mut options);
        Sender::new(scheduler(2), options, Epoch::default(), at(0)).err()
    };
    assert_eq!(sender(|options| options.markers.every_rounds = 0), Some(OptionsError::NoRounds));
    let nowhere = OptionsError::NoSuchChannel { channel: 2, count: 2 };
    assert_eq!(sender(|options| options.markers.before_channel = 2), Some(nowhere));
    let zero = |option| Some(OptionsError::Zero { option });
    assert_eq!(sender(|options| options.reset_interval = Duration::ZERO), zero("reset_interval"));
    let endless = |option| Some(OptionsError::EndlessSilence { option });
    let held_by_credits = |options: &mut SenderOptions| {
        (options.silence, options.credits) = (None, Some(Charge::default()));
    };
    assert_eq!(sender(held_by_credits), endless("credits"));
    let held_by_windows = |options: &mut SenderOptions| {
        (options.silence, options.control) = (None, Some(ControlPlan::default()));
    };
    assert_eq!(sender(held_by_windows), endless("control"));
    assert_eq!(sender(|options| options.silence = None), None);
    let is_free = |options: &mut SenderOptions| options.order = Order::Free;
    assert_eq!(sender(is_free), Some(OptionsError::NoControl));
    let follows = |options: &mut SenderOptions| options.shares = Some(SharePlan::default());
    assert_eq!(sender(follows), Some(OptionsError::NoControl));
    let small = |options: &mut SenderOptions| {
        let window_bytes_max = Some(u64::from(LONGEST_BYTES) - 1);
        options.control = Some(ControlPlan { window_bytes_max, ..ControlPlan::default() });
    };
    let longest_bytes = LONGEST_BYTES;
    assert_eq!(sender(small), Some(OptionsError::SmallWindow { longest_bytes }));
    let receiver = |change: fn(&mut ReceiverOptions)| {
        let mut options = ReceiverOptions::default();
        change(&mut options);
        Receiver::<_, ()>::new(scheduler(2), options).err()
    };
    assert_eq!(receiver(|options| options.wait = Duration::ZERO), zero("wait"));
    assert_eq!(receiver(|options| options.late_in_a_row_max = 0), zero("late_in_a_row_max"));
    assert_eq!(receiver(|options| options.order = Order::Free), Some(OptionsError::NoTags));
    let far = OptionsError::FarRounds { rounds: u32::MAX, rounds_max: 1 << 30 };
    assert_eq!(receiver(|options| options.far_rounds_max = u32::MAX), Some(far));
}

proptest! {
    /// Messages are lost as well.
    #[test]
    fn crashes_of_either_end_are_recovered_from(
        seed: u64, loss_percent in 0_u32..=80, channels in 2_usize..=16,
        crashes in prop::collection::vec((any::<bool>(), 0_u32..4, 0_u64..300), 1..5),
    ) {
        let mut words = Words(seed);
        let mut pair = pair(channels).seeded(seed);
        for (of_sender, epoch, span) in crashes {
            pair.loss_percent = loss_percent;
            if of_sender {
                restart_sender(&mut pair, Epoch::new(epoch), channels);
            } else {
                restart_receiver(&mut pair, channels);
            }
            for _ in 0..50 {
                pair.send(words.length_bytes());
                pair.run_for(milliseconds(span) / 50);
            }
        }
        pair.loss_percent = 0;
        pair.run_for(milliseconds(5_000));
        prop_assert!(pair.sender.is_open());
        prop_assert_eq!(Some(pair.sender.epoch()), pair.receiver.epoch());
        assert_in_order_from_here(&mut pair);
        prop_assert!(pair.is_without_repetition());
    }
}

#[test]
fn quanta_changed_during_a_reset_are_announced_after_it() {
    let mut pair = pair(2);
    pair.sender.reset(pair.now);
    pair.run_for(milliseconds(5));
    pair.sender.change_quanta(&[LONGEST_BYTES, 2 * LONGEST_BYTES]).expect("what a test may do");
    pair.run_for(milliseconds(100));
    assert!(pair.sender.is_open());
    for _ in 0..40 {
        pair.send(LONGEST_BYTES);
        pair.run_for(milliseconds(5));
    }
    let quantum = |channel| pair.sender.scheduler().standing(channel).quantum_bytes;
    assert_eq!([quantum(0), quantum(1)], [LONGEST_BYTES, 2 * LONGEST_BYTES]);
    assert_in_order_from_here(&mut pair);
}

/// Epochs a third of the number range apart are each later than the one before. Requests are
/// accepted at 0 ms, after another 100 ms, and after another 200 ms; if none has arrived for four
/// times that, after 100 ms again.
#[test]
fn repeated_requests_are_accepted_ever_more_rarely() {
    let mut pair = pair(2);
    let mut ask = |at_ms, after| {
        let (epoch, kind) = (Epoch::new(after), Kind::ResetRequested);
        let message = Message { epoch, channel: 0, channels: 2, kind };
        pair.sender.handle_message(at(at_ms), 0, message).map(|()| pair.sender.epoch().get())
    };
    let third = u32::MAX / 3;
    assert_eq!(ask(0, 1), Ok(2));
    assert_eq!(ask(99, third), Err(Discard::TooSoon));
    assert_eq!(ask(100, third), Ok(third + 2));
    assert_eq!(ask(299, 2 * third), Err(Discard::TooSoon));
    assert_eq!(ask(300, 2 * third), Ok(2 * third + 2));
    assert_eq!((ask(699, 5), ask(2_000, 5)), (Err(Discard::TooSoon), Ok(7)));
    assert_eq!((ask(2_099, 7), ask(2_100, 7)), (Err(Discard::TooSoon), Ok(8)));
}
