//! Credits: no packet is sent without room at the receiver.

use std::time::Duration;

use gingham_fairq::CHANNELS_MAX;
use gingham_stripe::{
    Charge, Departure, Discard, Epoch, Guarantee, Kind, Marker, Message, Receiver, ReceiverOptions,
    ReportPlan, SendError, Sender, SenderOptions, Tag,
};

use super::pair::{LONGEST_BYTES, Pair, Scheduler, at, milliseconds};

const LENGTH_BYTES: u32 = 1_000;

/// Memory for `packets` of 1,000 bytes.
fn pair_over(delays: &[Duration], credits: bool, charge: Charge, packets: u32) -> Pair {
    let quanta: Vec<u32> = (1..).map(|turn| LONGEST_BYTES * turn).take(delays.len()).collect();
    let scheduler = Scheduler::new(LONGEST_BYTES, &quanta).expect("options of a test");
    let reports = Some(ReportPlan { interval: milliseconds(2) });
    let buffer_bytes_max = u64::from(packets * charge.of(LENGTH_BYTES));
    let receiver = ReceiverOptions { buffer_bytes_max, charge, reports, ..Default::default() };
    let credits = credits.then_some(charge);
    Pair::with(&scheduler, delays, SenderOptions { credits, ..SenderOptions::default() }, receiver)
}

fn pair(credits: bool, charge: Charge, packets: u32) -> Pair {
    pair_over(&[milliseconds(1), milliseconds(30)], credits, charge, packets)
}

/// A packet every 100 microseconds.
fn send(pair: &mut Pair, packets: u32) {
    for _ in 0..packets {
        pair.send(LENGTH_BYTES);
        pair.run_for(Duration::from_micros(100));
    }
}

fn full(pair: &Pair) -> u64 {
    pair.receiver.reception().discards.of(Discard::BufferFull)
}

#[test]
fn ten_packets_have_credit_before_the_first_report() {
    for charge in [Charge::BYTES, Charge::PACKETS] {
        let options = SenderOptions { credits: Some(charge), ..SenderOptions::default() };
        let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES]).unwrap();
        let mut sender = Sender::synchronised(scheduler, options, Epoch::new(1), at(0)).unwrap();
        for _ in 0..10 {
            assert_eq!(sender.handle_packet(at(0), 1_460), Ok(0));
        }
        assert_eq!(sender.poll_transmit(at(0)), None);
        assert_eq!(sender.handle_packet(at(0), 1), Err(SendError::NoCredit { channel: 0 }));
    }
}

/// Packets on the fast channel wait 29 ms for the slow one, at least 97 packets with room for 80.
#[test]
fn credits_prevent_buffer_overflow() {
    for charge in [Charge::BYTES, Charge::PACKETS] {
        for (credits, loss_percent) in [(false, 0), (true, 0), (true, 30)] {
            let mut pair = pair(credits, charge, 80);
            pair.loss_percent = loss_percent;
            send(&mut pair, 5_000);
            assert_eq!(full(&pair) == 0, credits, "{} packets found no room", full(&pair));
            let held_max = u64::from(80 * charge.of(LENGTH_BYTES));
            assert!(pair.held_max <= held_max && pair.sent > 200, "{} sent", pair.sent);
        }
    }
}

/// All reports are lost for a while, which uses up the credit.
#[test]
fn lost_reports_and_packets_leak_no_credit() {
    for charge in [Charge::BYTES, Charge::PACKETS] {
        let mut pair = pair(true, charge, 80);
        for burst in 0..20 {
            pair.loss_percent = if burst % 2 == 0 { 100 } else { 0 };
            send(&mut pair, 200);
        }
        pair.loss_percent = 0;
        pair.run_for(milliseconds(500));
        let before = pair.sent;
        for _ in 0..28 {
            pair.send(LENGTH_BYTES);
        }
        assert_eq!(pair.sent - before, 28, "nothing waits, and half of the room is shared out");
        assert!(pair.is_without_repetition());
    }
}

/// After a pause of two seconds, the pipe continues within a marker interval and a round trip,
/// although half of all reports are lost.
#[test]
fn slow_reader_stops_the_sender_without_loss() {
    for charge in [Charge::BYTES, Charge::PACKETS] {
        let mut pair = pair(true, charge, 400);
        pair.back_loss_percent = 50;
        send(&mut pair, 1_000);
        pair.reads = false;
        send(&mut pair, 5_000);
        let stopped = pair.sent;
        send(&mut pair, 15_000);
        assert_eq!(pair.sent, stopped, "what nobody reads is held back");
        pair.reads = true;
        pair.run_for(milliseconds(300));
        let before = pair.sent;
        send(&mut pair, 3_000);
        assert!(pair.sent > before + 1_000, "{} sent", pair.sent - before);
        pair.run_for(milliseconds(300));
        assert_eq!(pair.delivered_after(0), (1..=pair.sent).collect::<Vec<_>>());
        assert_eq!(full(&pair), 0);
    }
}

/// The reports with new credit are lost; others follow a marker interval later.
#[test]
fn markers_continue_while_the_sender_waits_for_credit() {
    let mut pair = pair(true, Charge::BYTES, 80);
    pair.reads = false;
    send(&mut pair, 2_000);
    assert_eq!(pair.next_channel(), None);
    pair.run_for(milliseconds(10_000));
    (pair.reads, pair.back_loss_percent) = (true, 100);
    pair.run_for(milliseconds(100));
    pair.back_loss_percent = 0;
    pair.run_for(milliseconds(20 + 60 + 20));
    assert!(pair.next_channel().is_some(), "there is credit, and it is known");
}

/// Channel 0 ignores credits; the others find their reserves, a sixth of the memory each.
#[test]
fn channel_ignoring_credits_leaves_the_reserve_of_others() {
    let mut pair = pair_over(&[milliseconds(1); 3], false, Charge::BYTES, 120);
    let receiver = &mut pair.receiver;
    receiver.handle_packet(at(0), 0, LONGEST_BYTES, 0).expect("room");
    assert_eq!(receiver.poll_packet(at(0)), Some(0));
    let taken = |receiver: &mut Receiver<_, _>, channel| {
        (0..100)
            .filter(|one| receiver.handle_packet(at(0), channel, LENGTH_BYTES, *one).is_ok())
            .count()
    };
    assert_eq!(taken(receiver, 0), 80);
    assert_eq!((taken(receiver, 1), taken(receiver, 2)), (20, 20));
    assert_eq!(receiver.held_bytes(), 120 * 1_112);
}

/// One of three channels dies while it has credit.
#[test]
fn dead_channel_returns_its_memory() {
    let mut pair = pair_over(&[milliseconds(5); 3], true, Charge::BYTES, 240);
    send(&mut pair, 3_000);
    pair.dead = 0b100;
    send(&mut pair, 4_000);
    let before = pair.sent;
    send(&mut pair, 5_000);
    assert_eq!((pair.sent - before, full(&pair)), (5_000, 0));
}

/// Room for one longest packet per channel: no packet is lost for lack of room after the first
/// report.
#[test]
fn minimum_memory_makes_progress() {
    for channels in [1, 2, CHANNELS_MAX] {
        for charge in [Charge::BYTES, Charge::PACKETS] {
            let packets = u32::try_from(channels).expect("few");
            let mut pair = pair_over(&vec![milliseconds(2); channels], true, charge, 2 * packets);
            send(&mut pair, 2_000);
            let (first, sent) = (full(&pair), pair.sent);
            send(&mut pair, 10_000);
            assert_eq!(full(&pair), first, "{channels} channels");
            assert!(pair.sent > sent + 150, "{} sent over {channels}", pair.sent - sent);
            pair.run_for(milliseconds(100));
            let expected: Vec<u32> = (sent + 1..=pair.sent).collect();
            assert_eq!(pair.delivered_after(sent), expected);
        }
    }
}

/// Four channels with a round trip of 20 ms, at 2.5 packets a millisecond each.
#[test]
fn grants_grow_with_the_bandwidth_delay_product() {
    let mut pair = pair_over(&[milliseconds(10); 4], true, Charge::BYTES, 600);
    send(&mut pair, 10_000);
    let before = pair.sent;
    send(&mut pair, 10_000);
    assert!(pair.sent - before > 9_900, "{} of 10,000 sent", pair.sent - before);
    assert_eq!(full(&pair), 0);
}

/// Three channels with room for 60 packets, and reserves of 10; packets have tags.
struct Tagged(Receiver<Scheduler, u32>);

impl Tagged {
    fn new() -> Self {
        let options = ReceiverOptions {
            buffer_bytes_max: 60,
            charge: Charge::PACKETS,
            reports: Some(ReportPlan { interval: milliseconds(2) }),
            guaranteed: Some(Guarantee::default()),
            ..ReceiverOptions::default()
        };
        let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES; 3]).expect("quanta");
        Self(Receiver::synchronised(scheduler, options, Epoch::new(1)).expect("options of a test"))
    }

    /// Packet `sequence` of the pipe, packet `channel_sequence` of its channel.
    fn packet(&mut self, channel: u8, sequence: u32, channel_sequence: u32) -> Result<(), Discard> {
        let tag = Tag { sequence, channel, channel_sequence, session: 1, repair_of: None };
        self.0.handle_tagged(at(0), tag, LENGTH_BYTES, sequence)
    }

    fn say(&mut self, channel: u8, kind: Kind) {
        let message = Message { epoch: Epoch::new(1), channel, channels: 3, kind };
        self.0.handle_message(at(0), channel.into(), message).expect("what a test may do");
    }

    /// Returns the limit in the report to a marker behind `sent_packets` packets.
    fn mark(&mut self, channel: u8, sent_packets: u32, next_sequence: u32) -> Option<u32> {
        let standing = self.0.scheduler().standing(channel.into());
        let sent_bytes = u64::from(sent_packets * LENGTH_BYTES);
        let marker =
            Marker { standing, sent_packets, sent_bytes, next_sequence, ..Marker::default() };
        self.say(channel, Kind::Marker(marker));
        match self.0.poll_message(at(0))?.1.kind {
            Kind::Report(report) => Some(report.limit_bytes),
            _ => None,
        }
    }
}

/// Packet 0 of the pipe is slow on channel 2, and ten packets on each of channels 0 and 1 wait for
/// it. Both have credit for ten more: those of channel 1 arrive; channel 0 leaves with its ten in
/// flight, 31 to 40. Packet 31 finds room; then channel 1 is granted all the memory that Left
/// freed.
#[test]
fn in_flight_packets_of_a_departed_channel_have_no_credit() {
    let mut end = Tagged::new();
    for number in 0..10 {
        assert_eq!(end.packet(0, 1 + number, number), Ok(()));
        assert_eq!(end.packet(1, 11 + number, number), Ok(()));
    }
    assert_eq!(end.0.poll_packet(at(0)), None);
    assert_eq!((end.mark(0, 10, 21), end.mark(1, 10, 21)), (Some(20), Some(20)));
    assert!((10..20).all(|number| end.packet(1, 11 + number, number).is_ok()));
    let since = end.0.scheduler().round().next();
    end.say(1, Kind::Left(Departure { channel: 0, since, sent_packets: 20, next_sequence: 41 }));
    assert!(matches!(end.0.poll_message(at(0)), Some((1, _))), "Left is acknowledged");
    assert_eq!(end.packet(0, 31, 10), Ok(()));
    // 60, less 11 on channel 0 and the reserve of channel 2.
    assert_eq!(end.mark(1, 20, 41), Some(39));
    for number in 11..20 {
        assert_eq!(end.packet(0, 21 + number, number), Err(Discard::ChannelOut));
    }
    assert!((20..39).all(|number| end.packet(1, 21 + number, number).is_ok()));
    assert_eq!(end.packet(2, 0, 0), Ok(()));
    end.mark(2, 1, 60);
    let delivered: Vec<u32> = std::iter::from_fn(|| end.0.poll_packet(at(0))).collect();
    assert_eq!(delivered, (0..=31).chain(41..=59).collect::<Vec<_>>());
    assert_eq!(end.0.reception().discards.of(Discard::BufferFull), 0);
}
