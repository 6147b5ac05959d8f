//! The reorder buffer of a channel: hand-traced scenarios, and emulated channels.

use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{Channel, Loss, Parameters, Probability, Reordering};
use gingham_stripe::{
    ChannelOrder, Discard, Epoch, Instant, Kind, Marker, Message, OptionsError, OrderOptions,
    Ordered, Tag,
};
use proptest::prelude::*;
use std::time::Duration;

const EPOCH: Epoch = Epoch::new(7);

fn at(milliseconds: u64) -> Instant {
    Instant::from_nanoseconds(milliseconds * 1_000_000)
}

fn order(packets_max: usize) -> ChannelOrder<u32> {
    let options = OrderOptions { packets_max, ..OrderOptions::default() };
    ChannelOrder::synchronised(options, EPOCH).expect("what a test may do")
}

fn packet(order: &mut ChannelOrder<u32>, at_ms: u64, number: u32) -> Result<(), Discard> {
    let tag = Tag { channel_sequence: number, session: 7, ..Tag::default() };
    order.handle_packet(at(at_ms), tag, 100, number)
}

fn message(epoch: Epoch, kind: Kind) -> Message {
    Message { epoch, channel: 0, channels: 1, kind }
}

fn marker(sent_packets: u32, sent_at_ms: u64) -> Message {
    let marker = Marker { sent_packets, sent_at: at(sent_at_ms), ..Marker::default() };
    message(EPOCH, Kind::Marker(marker))
}

fn drain(order: &mut ChannelOrder<u32>, at_ms: u64) -> Vec<Result<u32, Message>> {
    let given = std::iter::from_fn(|| order.poll(at(at_ms)));
    let outcome = |ordered| match ordered {
        Ordered::Packet(_, _, number) => Ok(number),
        Ordered::Message(message) => Err(message),
    };
    given.map(outcome).collect()
}

/// Waits only after late packets, for 20 ms at most.
fn adaptive() -> ChannelOrder<u32> {
    let options = OrderOptions { adapts: true, ..OrderOptions::default() };
    ChannelOrder::synchronised(options, EPOCH).expect("what a test may do")
}

fn come(order: &mut ChannelOrder<u32>, at_ms: u64, number: u32) -> Vec<u32> {
    assert_eq!(packet(order, at_ms, number), Ok(()), "{number}");
    drain(order, at_ms).into_iter().map(|given| given.expect("a packet")).collect()
}

#[test]
fn ordered_channel_causes_no_wait() {
    let mut order = adaptive();
    for (at_ms, number) in [0, 1, 5, 6, 300, 1_000_000].into_iter().enumerate() {
        assert_eq!(come(&mut order, at_ms as u64, number), [number]);
        assert_eq!((order.held(), order.poll_timeout()), (0, None));
    }
    assert_eq!(order.handle_message(at(9), marker(1_000_005, 0)), Ok(()));
    assert_eq!(drain(&mut order, 9), [Err(marker(1_000_005, 0))]);
    assert_eq!(order.window(), Duration::ZERO);
}

/// 2 arrives 4 ms after 3: gaps are awaited for 5 ms, until sixteen of them were losses.
#[test]
fn reordering_channel_is_waited_for_by_its_observed_lateness() {
    let mut order = adaptive();
    assert_eq!((come(&mut order, 0, 1), come(&mut order, 0, 3)), (vec![1], vec![3]));
    assert_eq!(come(&mut order, 4, 2), [2]);
    assert_eq!(order.window(), Duration::from_millis(5));
    assert_eq!(packet(&mut order, 19, 2), Err(Discard::Repeated));
    assert_eq!(packet(&mut order, 19, 3), Err(Discard::Repeated));
    assert_eq!(come(&mut order, 20, 5), [0; 0]);
    assert_eq!((come(&mut order, 24, 4), order.held()), (vec![4, 5], 0));
    // 0 is 100 ms late: longer than any wait.
    assert_eq!(come(&mut order, 100, 0), [0]);
    assert_eq!(order.window(), Duration::from_millis(20));
    for loss in 0..16 {
        let (at_ms, number) = (1_000 + 100 * u64::from(loss), 7 + 2 * loss);
        assert_eq!(order.window(), Duration::from_millis(20), "{loss} losses");
        assert_eq!(
            (come(&mut order, at_ms, number), order.poll_timeout()),
            (vec![], Some(at(at_ms + 20)))
        );
        assert_eq!(drain(&mut order, at_ms + 20), [Ok(number)]);
    }
    assert_eq!(order.window(), Duration::ZERO);
}

/// The drawing of the module page, from number 0 on.
#[test]
fn packets_and_markers_are_released_in_send_order() {
    let mut order = order(256);
    for number in [0, 1, 4, 3] {
        assert_eq!(packet(&mut order, 0, number), Ok(()));
    }
    assert_eq!((packet(&mut order, 1, 4), order.held()), (Err(Discard::Repeated), 4));
    assert_eq!(order.handle_message(at(1), marker(5, 0)), Ok(()));
    assert_eq!(drain(&mut order, 1), [Ok(0), Ok(1)]);
    assert_eq!(packet(&mut order, 2, 1), Err(Discard::TooLate));
    assert_eq!(order.poll_timeout(), Some(at(20)));
    assert_eq!(packet(&mut order, 19, 2), Ok(()));
    assert_eq!(drain(&mut order, 19), [Ok(2), Ok(3), Ok(4), Err(marker(5, 0))]);
    assert_eq!((order.poll_timeout(), order.held()), (None, 0));
    assert_eq!(order.handle_message(at(20), marker(5, 0)), Err(Discard::Repeated));
    assert_eq!(order.handle_message(at(20), marker(4, 0)), Err(Discard::TooLate));
}

/// 0 and 3 are lost.
#[test]
fn wait_for_a_gap_is_bounded() {
    let mut order = order(256);
    assert_eq!(packet(&mut order, 0, 1), Ok(()));
    assert_eq!(packet(&mut order, 5, 4), Ok(()));
    assert_eq!(packet(&mut order, 6, 2), Ok(()));
    assert_eq!(drain(&mut order, 19), []);
    assert_eq!(drain(&mut order, 20), [Ok(1), Ok(2)]);
    assert_eq!((order.poll_timeout(), drain(&mut order, 24)), (Some(at(25)), vec![]));
    assert_eq!(drain(&mut order, 25), [Ok(4)]);
    assert_eq!((packet(&mut order, 26, 0), packet(&mut order, 26, 3)), {
        (Err(Discard::TooLate), Err(Discard::TooLate))
    });
}

/// Room for four numbers: 6 makes room by giving up 0 and 2.
#[test]
fn number_too_far_ahead_makes_room() {
    let mut order = order(4);
    for number in [1, 3] {
        assert_eq!(packet(&mut order, 0, number), Ok(()));
    }
    assert_eq!(drain(&mut order, 0), []);
    assert_eq!((packet(&mut order, 1, 6), order.held()), (Ok(()), 3));
    assert_eq!(packet(&mut order, 1, 7), Err(Discard::BufferFull));
    assert_eq!(drain(&mut order, 1), [Ok(1), Ok(3)]);
    assert_eq!(packet(&mut order, 2, 4), Ok(()));
    assert_eq!(packet(&mut order, 2, 5), Ok(()));
    assert_eq!(drain(&mut order, 2), [Ok(4), Ok(5), Ok(6)]);
}

#[test]
fn reset_begins_an_epoch_and_old_ones_are_rejected() {
    let mut order = ChannelOrder::new(OrderOptions::default()).unwrap();
    let reset = |epoch| message(Epoch::new(epoch), Kind::Reset { quantum: 1_500 });
    assert_eq!(packet(&mut order, 0, 0), Err(Discard::Unsynchronised));
    assert_eq!(order.handle_message(at(0), reset(6)), Ok(()));
    assert_eq!(drain(&mut order, 0), [Err(reset(6))]);
    assert_eq!(packet(&mut order, 1, 0), Err(Discard::StaleEpoch));
    assert_eq!(order.handle_message(at(2), reset(7)), Ok(()));
    assert_eq!(order.handle_message(at(2), reset(6)), Err(Discard::StaleEpoch));
    assert_eq!(drain(&mut order, 2), [Err(reset(7))]);
    // A repeated reset before any data is the sender's own repetition.
    assert_eq!(order.handle_message(at(3), reset(7)), Ok(()));
    assert_eq!(drain(&mut order, 3), [Err(reset(7))]);
    assert_eq!((packet(&mut order, 4, 0), drain(&mut order, 4)), (Ok(()), vec![Ok(0)]));
}

/// A sender without its state sends nothing else.
#[test]
fn late_reset_is_released_if_nothing_else_arrives() {
    let mut order = order(256);
    let reset = message(EPOCH, Kind::Reset { quantum: 1_500 });
    assert_eq!((packet(&mut order, 0, 0), drain(&mut order, 0)), (Ok(()), vec![Ok(0)]));
    assert_eq!(order.handle_message(at(1), reset), Err(Discard::RepeatedReset));
    assert_eq!((packet(&mut order, 2, 1), drain(&mut order, 30)), (Ok(()), vec![Ok(1)]));
    assert_eq!(order.handle_message(at(31), reset), Err(Discard::RepeatedReset));
    assert_eq!((order.poll_timeout(), drain(&mut order, 280)), (Some(at(281)), vec![]));
    assert_eq!(drain(&mut order, 281), [Err(reset)]);
    // Numbers start anew.
    assert_eq!((packet(&mut order, 282, 0), drain(&mut order, 282)), (Ok(()), vec![Ok(0)]));
}

/// Number 1,000,000 was never sent: the fourth marker in a row with a lower count is believed.
#[test]
fn wrong_packet_number_is_recovered_from() {
    let mut order = order(256);
    assert_eq!(packet(&mut order, 0, 1_000_000), Ok(()));
    assert_eq!(drain(&mut order, 20), [Ok(1_000_000)]);
    for sent_at_ms in 1..=3 {
        let late = order.handle_message(at(20), marker(10, sent_at_ms));
        assert_eq!(late, Err(Discard::TooLate));
        assert_eq!(packet(&mut order, 20, 10), Err(Discard::TooLate));
    }
    assert_eq!(order.handle_message(at(20), marker(10, 4)), Ok(()));
    assert_eq!(drain(&mut order, 20), [Err(marker(10, 4))]);
    assert_eq!((packet(&mut order, 20, 10), drain(&mut order, 20)), (Ok(()), vec![Ok(10)]));
}

/// Epochs wrap: more than 2^31 ahead is behind.
#[test]
fn earlier_epoch_is_accepted_if_nothing_else_arrives() {
    let mut order = order(256);
    let marker =
        |sent_at_ms| Message { epoch: Epoch::new(8 + (1 << 31)), ..marker(10, sent_at_ms) };
    assert_eq!(order.handle_message(at(0), marker(1)), Err(Discard::StaleEpoch));
    assert_eq!((drain(&mut order, 249), drain(&mut order, 250)), (vec![], vec![Err(marker(1))]));
    let tag = Tag { channel_sequence: 10, session: 8, ..Tag::default() };
    assert_eq!(order.handle_packet(at(251), tag, 100, 10), Ok(()));
    assert_eq!(drain(&mut order, 251), [Ok(10)]);
}

/// A marker with a time far in the future counts the same packets as those that follow: the fourth
/// of them is believed.
#[test]
fn wrong_marker_time_is_recovered_from() {
    let mut order = order(256);
    assert_eq!(order.handle_message(at(0), marker(0, 1 << 40)), Ok(()));
    assert_eq!(drain(&mut order, 0), [Err(marker(0, 1 << 40))]);
    for sent_at_ms in 1..=3 {
        let repeated = order.handle_message(at(20), marker(0, sent_at_ms));
        assert_eq!(repeated, Err(Discard::Repeated));
    }
    for sent_at_ms in 4..=5 {
        assert_eq!(order.handle_message(at(20), marker(0, sent_at_ms)), Ok(()));
        assert_eq!(drain(&mut order, 20), [Err(marker(0, sent_at_ms))]);
    }
}

#[test]
fn zero_packet_capacity_is_rejected() {
    let none = OrderOptions { packets_max: 0, ..OrderOptions::default() };
    let refused = ChannelOrder::<u32>::new(none).map(|_| ());
    assert_eq!(refused, Err(OptionsError::Zero { option: "packets_max" }));
}

fn percent(percent: u32) -> Probability {
    Probability::new(f64::from(percent) / 100.0).expect("at most a hundred")
}

proptest! {
    /// Packets are delayed by less than the wait.
    #[test]
    fn reordering_and_duplication_become_loss_at_most(
        seed: u64, held_back in 0_u32..=30, duplicated in 0_u32..=30, lost in 0_u32..=50,
        span_us in 1_u64..20_000, gap_us in 50_u64..2_000, first in prop_oneof![Just(0), Just(u32::MAX - 50)],
    ) {
        let rate = Rate::from_bytes_per_second(10_000_000);
        let clean = Parameters::clean(rate, 1_000_000, Span::from_ns(10_000_000));
        let mut channel = Channel::new(Parameters {
            loss: Loss::Independent(percent(lost)),
            duplication: percent(duplicated),
            reordering: Reordering { probability: percent(held_back), span: Span::from_ns(1_000 * span_us) },
            ..clean
        }, seed, "udp").unwrap();
        let mut arrivals = Vec::new();
        for number in 0..300_u32 {
            let now = Time::ZERO + Span::from_ns(1_000 * gap_us * u64::from(number));
            arrivals.extend(channel.offer(now, 1_000).arrivals().map(|arrival| {
                (arrival.at.since(Time::ZERO).as_ps().div_ceil(1_000), first.wrapping_add(number))
            }));
        }
        arrivals.sort_unstable();
        let options = OrderOptions { packets_max: 1_024, ..OrderOptions::default() };
        let mut order = ChannelOrder::synchronised(options, EPOCH).unwrap();
        // Four such markers in a row make it begin shortly before the wrap.
        for sent_at_ms in 1..=4 {
            let _ = order.handle_message(Instant::ORIGIN, marker(first, sent_at_ms));
        }
        drain(&mut order, 0);
        let mut given = Vec::new();
        let mut take = |order: &mut ChannelOrder<u32>, now| {
            while let Some(Ordered::Packet(_, _, number)) = order.poll(now) {
                given.push(number.wrapping_sub(first));
            }
            assert!(order.poll_timeout().is_none_or(|timeout| timeout > now));
        };
        for (at_ns, number) in &arrivals {
            let now = Instant::from_nanoseconds(*at_ns);
            while let Some(timeout) = order.poll_timeout().filter(|timeout| *timeout <= now) {
                take(&mut order, timeout);
            }
            let tag = Tag { channel_sequence: *number, session: 7, ..Tag::default() };
            let _ = order.handle_packet(now, tag, 1_000, *number);
            take(&mut order, now);
            prop_assert!(order.held() <= 1_024);
        }
        take(&mut order, Instant::from_nanoseconds(u64::MAX));
        prop_assert!(given.is_sorted_by(|one, next| one < next), "{given:?}");
        let mut came: Vec<u32> = arrivals.iter().map(|(_, number)| number.wrapping_sub(first)).collect();
        came.sort_unstable();
        came.dedup();
        prop_assert_eq!(given, came);
    }
}
