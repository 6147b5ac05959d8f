//! Sizes of channels: reports of frames that are too big, and refused packets.

use gingham_fairq::SurplusRoundRobin;
use gingham_stripe::{
    ControlPlan, Controlled, Epoch, Instant, Kind, Marker, Message, Order, Report, SendError,
    Sender, SenderOptions, SizeError, SizePlan, SizeState,
};

use super::pair::at;

type Scheduler = SurplusRoundRobin<2>;

fn sender(order: Order) -> Sender<Scheduler> {
    let control = ControlPlan { by: Controlled::FixedRate(125_000_000), ..ControlPlan::default() };
    let sizes = Some(SizePlan { max: 1_512, ..SizePlan::default() });
    let options =
        SenderOptions { order, control: Some(control), sizes, ..SenderOptions::default() };
    let scheduler = Scheduler::new(1_500, &[1_500, 1_500]).expect("quanta");
    Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options")
}

/// Channel, padded length, and marker.
fn messages(sender: &mut Sender<Scheduler>, now: Instant) -> Vec<(usize, usize, Marker)> {
    let mut messages = Vec::new();
    while let Some((channel, message)) = sender.poll_message(now) {
        if let Kind::Marker(marker) = message.kind {
            messages.push((channel, sender.padded_bytes(channel), marker));
        }
    }
    messages
}

/// Answers the messages that fit the path of their channel.
fn answer(
    sender: &mut Sender<Scheduler>,
    now: Instant,
    paths: [usize; 2],
    messages: &[(usize, usize, Marker)],
) {
    for &(channel, bytes, marker) in messages.iter().filter(|(on, bytes, _)| *bytes <= paths[*on]) {
        let report = Report {
            echo: marker.sent_at,
            coming_from: marker.standing.coming.map(|change| change.from),
            accounted_packets: marker.sent_packets,
            accounted_bytes: marker.sent_bytes,
            ..Report::default()
        };
        let number = u8::try_from(channel).expect("small");
        let kind = Kind::Report(report);
        let message = Message { epoch: sender.epoch(), channel: number, channels: 2, kind };
        sender.handle_message(now, channel, message).unwrap_or_else(|_| panic!("{bytes} bytes"));
    }
}

/// All messages at once, each millisecond of a span.
fn run(sender: &mut Sender<Scheduler>, span_ms: core::ops::Range<u64>, paths: [usize; 2]) {
    for now in span_ms.map(at) {
        let sent = messages(sender, now);
        answer(sender, now, paths, &sent);
    }
}

fn sizes(sender: &Sender<Scheduler>) -> [(SizeState, u32); 2] {
    [0, 1].map(|channel| (sender.size(channel).state, sender.size(channel).frame_bytes))
}

/// A tag has 12 bytes; one of the channels passes 1,500.
#[test]
fn packet_uses_a_channel_it_fits_or_is_rejected() {
    let mut sender = sender(Order::Free);
    assert_eq!(sender.longest_bytes(), 1_188);
    let too_long = SendError::TooLong { longest_bytes: 1_188 };
    assert_eq!(sender.handle_packet(at(0), 1_189), Err(too_long));
    run(&mut sender, 0..2_000, [1_512, 1_400]);
    assert_eq!(
        sizes(&sender),
        [(SizeState::SearchComplete, 1_512), (SizeState::SearchComplete, 1_400)]
    );
    assert_eq!(sender.longest_bytes(), 1_388);
    for _ in 0..20 {
        assert_eq!(sender.handle_tagged(at(2_000), 1_389).map(|(channel, _)| channel), Ok(0));
    }
    let channels: Vec<_> = (0..100)
        .map(|_| sender.handle_tagged(at(2_000), 1_388).map(|(channel, _)| channel))
        .collect();
    assert!(channels.contains(&Ok(1)), "{channels:?}");
    let too_long = SendError::TooLong { longest_bytes: 1_388 };
    assert_eq!(sender.handle_packet(at(3_000), 1_501), Err(too_long));
}

/// A report below the size is applied, probed, and undone by the next search.
#[test]
fn too_big_report_applies_only_below_the_current_size() {
    let mut sender = sender(Order::Free);
    run(&mut sender, 0..500, [1_512; 2]);
    assert_eq!(sizes(&sender), [(SizeState::SearchComplete, 1_512); 2]);
    let not_below = SizeError::NotBelow { frame_bytes: 1_512 };
    assert_eq!(sender.handle_too_big(at(500), 1, 1_512), Err(not_below));
    assert_eq!(sender.handle_too_big(at(500), 2, 1_400), Err(SizeError::NoSuchChannel));
    assert_eq!(sender.handle_too_big(at(500), 1, 1_300), Ok(()));
    assert_eq!(sizes(&sender)[1], (SizeState::Base, 1_300));
    let sent = messages(&mut sender, at(500));
    assert!(sent.iter().any(|(channel, bytes, _)| (*channel, *bytes) == (1, 1_300)), "{sent:?}");
    answer(&mut sender, at(500), [1_512, 1_300], &sent);
    run(&mut sender, 501..600, [1_512, 1_300]);
    assert_eq!(sizes(&sender)[1], (SizeState::SearchComplete, 1_300));
    assert_eq!(sender.longest_bytes(), 1_288);
}

#[test]
fn too_big_report_for_a_probe_sets_the_next_probe() {
    let mut sender = sender(Order::Free);
    for (now, path) in (0..200).map(|now| (at(now), 1_452)) {
        let sent = messages(&mut sender, now);
        for (channel, _, _) in sent.iter().filter(|(_, bytes, _)| *bytes > path) {
            assert_eq!(sender.handle_too_big(now, *channel, 1_452), Ok(()));
        }
        answer(&mut sender, now, [path; 2], &sent);
    }
    assert_eq!(sizes(&sender), [(SizeState::SearchComplete, 1_452); 2]);
}

/// It is probed with the former size.
#[test]
fn strict_order_channel_with_reduced_size_is_deactivated() {
    let mut sender = sender(Order::Strict);
    assert_eq!(
        sender.handle_packet(at(0), 1_201),
        Err(SendError::TooLong { longest_bytes: 1_200 })
    );
    run(&mut sender, 0..500, [1_512; 2]);
    assert_eq!(sender.longest_bytes(), 1_500);
    assert_eq!(sender.handle_too_big(at(500), 1, 1_300), Ok(()));
    assert!(sender.is_dead(1) && sender.size(1).state == SizeState::Error);
    run(&mut sender, 500..3_000, [1_512, 1_300]);
    assert!(sender.is_dead(1) && sender.longest_bytes() == 1_500);
    run(&mut sender, 3_000..6_000, [1_512; 2]);
    assert_eq!(sizes(&sender)[1], (SizeState::SearchComplete, 1_500));
    assert!(!sender.is_dead(1));
}

/// Not even the base passes: the first channel goes out, the last stays in.
#[test]
fn failing_base_size_is_an_error() {
    let mut sender = sender(Order::Free);
    run(&mut sender, 0..4_000, [1_100; 2]);
    assert_eq!(sizes(&sender), [(SizeState::Error, 1_200); 2]);
    assert!(sender.is_dead(0) && !sender.is_dead(1), "the last stays in");
    run(&mut sender, 4_000..8_000, [1_512; 2]);
    assert_eq!(sizes(&sender), [(SizeState::SearchComplete, 1_512); 2]);
    assert!(!sender.is_dead(0));
}

#[test]
fn configured_sizes_are_not_probed() {
    let scheduler = Scheduler::new(1_500, &[1_500, 1_500]).expect("quanta");
    let options = SenderOptions::default();
    let mut sender =
        Sender::synchronised(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options");
    assert_eq!(sender.handle_too_big(at(0), 0, 1_300), Err(SizeError::Configured));
    assert_eq!((sender.longest_bytes(), sender.size(0).frame_bytes), (1_500, 1_500));
    assert!(messages(&mut sender, at(0)).iter().all(|(_, bytes, _)| *bytes == 0));
}
