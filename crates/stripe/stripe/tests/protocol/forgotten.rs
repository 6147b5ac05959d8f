//! A receiver that restarted during an epoch, and the evidence of it.
//!
//! A slow channel brings a reset of that epoch before anything else.

use gingham_fairq::{Round, Standing};
use gingham_stripe::{
    Departure, Discard, Epoch, Guarantee, Instant, Kind, Marker, Message, Receiver,
    ReceiverOptions, RepairOf, RepairRequests, Tag,
};

use super::pair::{Scheduler, at, milliseconds};

type End = Receiver<Scheduler, u32>;

type Comes = fn(&mut End) -> Result<(), Discard>;

const EPOCH: u16 = 7;

/// Without state: packets of 100 bytes, a wait of 50 ms.
fn restarted() -> End {
    let scheduler = Scheduler::new(100, &[100; 3]).expect("what a test may do");
    let guaranteed = Some(Guarantee { repair: Some(RepairRequests::default()) });
    let options =
        ReceiverOptions { wait: milliseconds(50), guaranteed, ..ReceiverOptions::default() };
    Receiver::new(scheduler, options).expect("what a test may do")
}

fn said(
    receiver: &mut End,
    now: Instant,
    (epoch, channel): (u16, u8),
    kind: Kind,
) -> Result<(), Discard> {
    let message = Message { epoch: Epoch::new(epoch.into()), channel, channels: 3, kind };
    receiver.handle_message(now, channel.into(), message)
}

fn reset(receiver: &mut End, now: Instant, epoch: u16, channel: u8) -> Result<(), Discard> {
    said(receiver, now, (epoch, channel), Kind::Reset { quantum: 100 })
}

fn marker(sent_packets: u32) -> Kind {
    let standing = Standing::beginning(Round::FIRST, 100);
    Kind::Marker(Marker { standing, sent_packets, ..Marker::default() })
}

fn left(sent_packets: u32) -> Kind {
    let since = Round::new(2);
    Kind::Left(Departure { channel: 0, since, sent_packets, next_sequence: sent_packets })
}

fn packet(
    receiver: &mut End,
    now: Instant,
    (channel, channel_sequence): (u8, u32),
    sequence: u32,
) -> Result<(), Discard> {
    let tag = Tag { sequence, channel, channel_sequence, session: EPOCH, repair_of: None };
    receiver.handle_tagged(now, tag, 100, sequence)
}

/// Copy of packet 0 of channel 0, as the first packet of channel 2.
fn copy(receiver: &mut End, now: Instant) -> Result<(), Discard> {
    let repair_of = Some(RepairOf { channel: 0, channel_sequence: 0, next_sequence: 1 });
    let tag = Tag { sequence: 0, channel: 2, channel_sequence: 0, session: EPOCH, repair_of };
    receiver.handle_tagged(now, tag, 100, 0)
}

fn drain(receiver: &mut End, now: Instant) -> Vec<u32> {
    std::iter::from_fn(|| receiver.poll_packet(now)).collect()
}

fn asked(receiver: &mut End, now: Instant) -> Vec<Epoch> {
    let said = std::iter::from_fn(|| receiver.poll_message(now));
    said.filter(|(_, message)| message.kind == Kind::ResetRequested)
        .map(|(_, message)| message.epoch)
        .collect()
}

/// After a reset on channel 2 alone.
fn after_a_late_reset() -> End {
    let mut receiver = restarted();
    assert_eq!(reset(&mut receiver, at(0), EPOCH, 2), Ok(()));
    assert_eq!(asked(&mut receiver, at(0)), []);
    receiver
}

/// The former receiver delivered packet 0, from channel 0. Its copy on channel 2 waits, and an
/// arrival on channel 0 reveals the former receiver.
#[test]
fn late_reset_does_not_redeliver_copies() {
    let came: [Comes; 4] = [
        |receiver| packet(receiver, at(2), (0, 1), 1),
        |receiver| said(receiver, at(2), (EPOCH, 0), marker(1)),
        |receiver| said(receiver, at(2), (EPOCH, 2), left(1)),
        |receiver| said(receiver, at(2), (EPOCH, 1), left(0)),
    ];
    for (way, tells) in came.iter().enumerate() {
        let mut receiver = after_a_late_reset();
        assert_eq!(copy(&mut receiver, at(1)), Ok(()), "{way}");
        assert_eq!(drain(&mut receiver, at(1)), [], "{way}");
        assert_eq!(tells(&mut receiver), Err(Discard::Unsynchronised), "{way}");
        let epoch = Epoch::new(EPOCH.into());
        assert_eq!(
            (receiver.epoch(), receiver.copies(), asked(&mut receiver, at(2))),
            (None, 0, vec![epoch])
        );
        assert_eq!(receiver.reception().discards.of(Discard::Reset), 1);
        assert_eq!(reset(&mut receiver, at(3), EPOCH, 2), Err(Discard::StaleEpoch));
        assert_eq!(drain(&mut receiver, at(100)), []);
        assert_eq!(reset(&mut receiver, at(100), EPOCH + 1, 2), Ok(()));
        assert_eq!(receiver.epoch(), Some(epoch.next()));
    }
}

/// Packet 0 on channel 2 waits until both other channels have begun.
#[test]
fn delivery_starts_once_every_channel_has_begun() {
    let begun: [Comes; 3] = [
        |receiver| reset(receiver, at(2), EPOCH, 0),
        |receiver| said(receiver, at(2), (EPOCH, 0), marker(0)),
        |receiver| said(receiver, at(2), (EPOCH, 2), left(0)),
    ];
    for (way, begins) in begun.iter().enumerate() {
        let mut receiver = after_a_late_reset();
        assert_eq!(packet(&mut receiver, at(1), (2, 0), 0), Ok(()), "{way}");
        assert_eq!(begins(&mut receiver), Ok(()), "{way}");
        let mut silent = receiver.clone();
        assert_eq!((drain(&mut receiver, at(3)), receiver.poll_timeout()), (vec![], Some(at(51))));
        assert_eq!(reset(&mut receiver, at(4), EPOCH, 1), Ok(()), "{way}");
        assert_eq!((drain(&mut receiver, at(4)), asked(&mut receiver, at(4))), (vec![0], vec![]));
        assert_eq!((drain(&mut silent, at(50)), drain(&mut silent, at(51))), (vec![], vec![0]));
    }
}
