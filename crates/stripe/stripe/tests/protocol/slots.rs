//! Channels that are added, removed and moved while packets flow.

use std::time::Duration;

use gingham_stripe::{
    ChannelError, ControlPlan, Epoch, Guarantee, Instant, Kind, OptionsError, Order, QuantaError,
    ReceiverOptions, RepairPlan, RepairRequests, ReportPlan, Sender, SenderOptions,
};

use super::pair::{Pair, Scheduler, Words, at, milliseconds};

const CAP: usize = 8;

/// Eight slots, some of them present; delays of 5, 7, 9 ms and so on.
fn pair(order: Order, present: u64) -> Pair {
    let scheduler = Scheduler::new(1_500, &[1_500; CAP]).expect("options of a test");
    let delays: Vec<Duration> = (0..CAP as u64).map(|slot| milliseconds(5 + 2 * slot)).collect();
    let sender = SenderOptions {
        order,
        control: Some(ControlPlan::default()),
        repair: Some(RepairPlan::default()),
        present: Some(present),
        ..SenderOptions::default()
    };
    let receiver = ReceiverOptions {
        order,
        wait: milliseconds(3_600_000),
        guaranteed: Some(Guarantee { repair: Some(RepairRequests::default()) }),
        reports: Some(ReportPlan::default()),
        ..ReceiverOptions::default()
    };
    Pair::with(&scheduler, &delays, sender, receiver)
}

/// Up to two packets each millisecond.
fn send_for(pair: &mut Pair, words: &mut Words, steps: u32) {
    for _ in 0..steps {
        (0..2).for_each(|_| pair.send_or_lose(words.length_bytes(), false));
        pair.run_for(milliseconds(1));
    }
}

fn assert_nothing_lost(pair: &mut Pair) {
    pair.run_for(milliseconds(2_000));
    let (delivered, sent) = (pair.delivered.len(), pair.sent);
    let wrong = pair.delivered.iter().zip(1..).find(|(packet, number)| *packet != number);
    assert_eq!((delivered, wrong), (sent as usize, None));
    assert_eq!(pair.receiver.reception().given_up, 0);
}

/// A removed channel is cut at once, and loses everything in flight in both directions.
#[test]
fn hundred_channel_changes_lose_nothing() {
    for (order, seed) in
        [(Order::Strict, 1), (Order::Free, 2), (Order::Strict, 3), (Order::Free, 4)]
    {
        let (mut pair, mut words) = (pair(order, 0b11), Words(seed));
        pair.dead = !0b11;
        for _ in 0..100 {
            send_for(&mut pair, &mut words, 30);
            let (id, now) = (words.below(8) as usize, pair.now);
            if !pair.sender.is_there(id) {
                assert_eq!(pair.sender.add_channel(now, id), Ok(()));
                pair.dead &= !(1 << id);
            } else if pair.sender.remove_channel(now, id) == Ok(()) {
                pair.dead |= 1 << id;
                pair.cut(id);
            }
        }
        send_for(&mut pair, &mut words, 500);
        for id in 0..CAP {
            let is_in = pair.sender.scheduler().standing(id).is_in();
            assert_eq!(is_in, pair.sender.is_there(id), "{order:?}, channel {id}");
        }
        assert!(pair.sent > 3_000, "{} were sent", pair.sent);
        assert_eq!((pair.sender.sending().deaths, pair.sender.sending().resets), (0, 0));
        assert_nothing_lost(&mut pair);
    }
}

/// An uplink that appears and vanishes beside a slower one that stays, in one slot or in seven
/// alternately: ids are slots. Each time it carries packets within five of the longest round trips.
#[test]
fn ten_thousand_returns_of_a_channel_exhaust_no_id() {
    for (order, slots) in [(Order::Strict, 7), (Order::Free, 1), (Order::Free, 7)] {
        let (mut pair, mut words) = (pair(order, 1 << 7), Words(8));
        pair.dead = !(1 << 7);
        for turn in 0..10_000 {
            let (id, added) = (turn % slots, pair.now);
            assert_eq!(pair.sender.add_channel(added, id), Ok(()), "{order:?}, turn {turn}");
            pair.dead &= !(1 << id);
            let before = pair.sender.sent(id).packets;
            while pair.sender.sent(id).packets == before {
                assert!(pair.now < added.after(milliseconds(200)), "{order:?}, turn {turn}: {id}");
                send_for(&mut pair, &mut words, 1);
            }
            send_for(&mut pair, &mut words, 3);
            assert_eq!(pair.sender.remove_channel(pair.now, id), Ok(()));
            pair.dead |= 1 << id;
            pair.cut(id);
            send_for(&mut pair, &mut words, 2);
        }
        assert_eq!((pair.sender.sending().deaths, pair.sender.sending().resets), (0, 0));
        assert_nothing_lost(&mut pair);
    }
}

/// The ids 0 to 7 are slots; 0 and 1 are present.
#[test]
fn invalid_channel_ids_are_rejected() {
    let mut pair = pair(Order::Strict, 0b11);
    let (now, sender) = (pair.now, &mut pair.sender);
    for id in [CAP, 64, usize::MAX] {
        let above = Err(ChannelError::AboveCap { id, cap: CAP });
        assert_eq!(sender.add_channel(now, id), above);
        assert_eq!(sender.remove_channel(now, id), above);
        assert_eq!(sender.move_channel(now, id), above);
        assert!(!sender.is_there(id));
    }
    assert_eq!(sender.add_channel(now, 1), Err(ChannelError::AlreadyThere { id: 1 }));
    assert_eq!(sender.remove_channel(now, 2), Err(ChannelError::NotThere { id: 2 }));
    assert_eq!(sender.move_channel(now, 2), Err(ChannelError::NotThere { id: 2 }));
    assert_eq!(sender.remove_channel(now, 0), Ok(()));
    assert_eq!(sender.remove_channel(now, 1), Err(ChannelError::Last { id: 1 }));
    // None of the ids with a nonzero quantum is present.
    assert_eq!(sender.change_quanta(&[0, 0, 9_000, 0, 0, 0, 0, 0]), Err(QuantaError::NoneIn));
    assert_eq!(sender.add_channel(now, 0), Ok(()));
    let quanta = [1_500, 0, 1_500, 1_500, 1_500, 1_500, 1_500, 1_500];
    assert_eq!(sender.change_quanta(&quanta), Ok(()));
    assert_eq!(sender.remove_channel(now, 0), Err(ChannelError::Last { id: 0 }));
}

#[test]
fn start_without_channels_or_above_the_cap_is_rejected() {
    let start = |present| {
        let scheduler = Scheduler::new(1_500, &[1_500; CAP]).expect("options of a test");
        let options = SenderOptions { present: Some(present), ..SenderOptions::default() };
        Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).map(|_| ())
    };
    assert_eq!(start(0), Err(OptionsError::NonePresent));
    assert_eq!(start(1 << 9 | 1), Err(OptionsError::NoSuchChannel { channel: 9, count: CAP }));
    assert_eq!(start(0b1000_0000), Ok(()));
}

/// Packets sent at 0 ms over two channels, the slower of 7 ms, have arrived by then.
#[test]
fn absent_channel_gets_no_packets_and_causes_no_wait() {
    for order in [Order::Strict, Order::Free] {
        let mut pair = pair(order, 0b11);
        for _ in 0..10 {
            pair.send_or_lose(1_000, false);
        }
        pair.run_for(milliseconds(7));
        assert_eq!(pair.delivered, (1..=pair.sent).collect::<Vec<_>>(), "{order:?}");
        for _ in 0..200 {
            while let Some((channel, _)) = pair.sender.poll_message(pair.now) {
                assert!(channel < 2, "a message on channel {channel}");
            }
            pair.now = pair.now.after(milliseconds(10));
        }
    }
}

/// Channel 0 stays in the schedule without packets until channel 1 is in, a round trip of 14 ms
/// later.
#[test]
fn last_active_channel_leaves_once_another_is_active() {
    for order in [Order::Strict, Order::Free] {
        let (mut pair, mut words) = (pair(order, 0b1), Words(5));
        send_for(&mut pair, &mut words, 100);
        assert_eq!(pair.sender.add_channel(pair.now, 1), Ok(()));
        assert_eq!(pair.sender.remove_channel(pair.now, 0), Ok(()));
        let (before, sent) = (pair.sender.sent(0), pair.sent);
        send_for(&mut pair, &mut words, 13);
        assert_eq!((pair.sender.sent(0), pair.sent), (before, sent), "{order:?}");
        send_for(&mut pair, &mut words, 100);
        assert!(pair.sent > sent + 100 && pair.sender.sent(0) == before, "{order:?}");
        assert!(!pair.sender.scheduler().standing(0).is_in());
        assert_nothing_lost(&mut pair);
    }
}

fn said_round_trip_ns(pair: &Pair, channel: usize) -> u32 {
    let (mut sender, soon) = (pair.sender.clone(), pair.now.after(milliseconds(20)));
    let said = std::iter::from_fn(|| sender.poll_message(soon));
    let markers = said.filter_map(|(on, message)| match message.kind {
        Kind::Marker(marker) if on == channel => Some(marker.round_trip_ns),
        _ => None,
    });
    markers.last().expect("a marker goes each 20 ms")
}

/// The other channel keeps its measurements.
#[test]
fn moved_channel_starts_afresh_without_loss() {
    for order in [Order::Strict, Order::Free] {
        let (mut pair, mut words) = (pair(order, 0b11), Words(6));
        send_for(&mut pair, &mut words, 300);
        let learned = |pair: &Pair, channel| pair.sender.flight(channel).expect("controlled");
        let (old, other) = (learned(&pair, 0), learned(&pair, 1));
        assert!(!old.round_trip.is_zero() && old.in_flight_bytes > 0, "{old:?}");
        assert_eq!(pair.sender.move_channel(pair.now, 0), Ok(()));
        let new = learned(&pair, 0);
        assert_eq!((new.round_trip, new.round_trip_least, new.in_flight_bytes), Default::default());
        assert_eq!(learned(&pair, 1), other);
        // Arrivals from the old address within a round trip of 10 ms are not measurements of the
        // new one.
        pair.run_for(milliseconds(9));
        pair.cut(0);
        assert_eq!(learned(&pair, 0).round_trip, Duration::ZERO);
        assert_eq!(said_round_trip_ns(&pair, 0), 0);
        send_for(&mut pair, &mut words, 300);
        assert_eq!(learned(&pair, 0).round_trip_least, milliseconds(10));
        assert_eq!((pair.sender.sending().deaths, pair.sender.sending().resets), (0, 0));
        assert_nothing_lost(&mut pair);
    }
}

#[test]
fn reset_covers_the_present_channels() {
    let (mut pair, mut words) = (pair(Order::Strict, 0b111), Words(7));
    send_for(&mut pair, &mut words, 20);
    pair.sender.reset(pair.now);
    assert_eq!(pair.sender.remove_channel(pair.now, 2), Ok(()));
    pair.dead |= 1 << 2;
    assert_eq!(pair.sender.add_channel(pair.now, 3), Ok(()));
    pair.run_to(at(20).after(milliseconds(22)));
    assert!(pair.sender.is_open());
    let sent = pair.sent;
    send_for(&mut pair, &mut words, 300);
    pair.run_for(milliseconds(500));
    let is_in = |id| pair.sender.scheduler().standing(id).is_in();
    assert_eq!([0, 1, 2, 3, 4].map(is_in), [true, true, false, true, false]);
    assert_eq!(pair.delivered_after(sent), (sent + 1..=pair.sent).collect::<Vec<_>>());
}
