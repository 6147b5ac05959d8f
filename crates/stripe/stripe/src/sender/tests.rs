//! Tests that involve several parts of the sender.

use gingham_fairq::SurplusRoundRobin;

use super::*;

type Ends = Sender<SurplusRoundRobin<2>>;

const NOW: Instant = Instant::from_nanoseconds(50_000_000);

fn sender_of(longest_bytes: u32, quanta: [u32; 2], options: &SenderOptions, now: Instant) -> Ends {
    let scheduler = SurplusRoundRobin::new(longest_bytes, &quanta).expect("quanta");
    Sender::synchronised(scheduler, *options, Epoch::new(1), now).expect("options")
}

fn sender(order: Order) -> Ends {
    let control = Some(ControlPlan::default());
    let options = SenderOptions { order, control, ..SenderOptions::default() };
    sender_of(1_000, [1_000; 2], &options, NOW)
}

fn probing(longest_bytes: u32, max: u32, now: Instant) -> Ends {
    let options = SenderOptions {
        order: Order::Free,
        control: Some(ControlPlan::default()),
        sizes: Some(SizePlan { max, ..SizePlan::default() }),
        ..SenderOptions::default()
    };
    sender_of(longest_bytes, [longest_bytes; 2], &options, now)
}

fn revive(sender: &mut Ends, channel: usize) {
    assert!(sender.presence.revive(channel));
    sender.revived(NOW, channel);
}

#[test]
fn free_order_packets_bypass_a_blocked_channel() {
    for blocked in 0..2 {
        let mut sender = sender(Order::Free);
        sender.set_blocked(1 << blocked);
        assert_eq!(sender.handle_packet(NOW, 1_000), Ok(1 - blocked));
    }
}

#[test]
fn strict_order_packets_wait_for_a_blocked_channel() {
    let mut sender = sender(Order::Strict);
    sender.set_blocked(0b10);
    assert_eq!(sender.handle_packet(NOW, 1_000), Ok(0));
    assert_eq!(sender.poll_transmit(NOW), None);
    let full = Err(SendError::FlightFull { channel: 1 });
    assert_eq!(sender.handle_packet(NOW, 1_000), full);
    sender.set_blocked(0);
    assert_eq!(sender.handle_packet(NOW, 1_000), Ok(1));
}

#[test]
fn requested_channel_sends_a_message_immediately() {
    let mut sender = sender(Order::Free);
    while sender.poll_message(NOW).is_some() {}
    sender.ask_channel(1);
    assert_eq!(sender.poll_timeout(), NOW);
    let (channel, message) = sender.poll_message(NOW).expect("it was asked for");
    assert!(channel == 1 && matches!(message.kind, Kind::Marker(_)), "{message:?}");
    assert_eq!(sender.poll_message(NOW), None);
    let scheduler = SurplusRoundRobin::<2>::new(1_000, &[1_000, 1_000]).expect("quanta");
    let options = SenderOptions::default();
    let mut sender = Sender::new(scheduler, options, Epoch::new(1), NOW).expect("options");
    while sender.poll_message(NOW).is_some() {}
    sender.ask_channel(0);
    let (_, message) = sender.poll_message(NOW).expect("it was asked for");
    assert!(matches!(message.kind, Kind::Reset { .. }), "{message:?}");
}

#[test]
fn wait_reason_of_a_channel_is_reported() {
    let mut sender = sender(Order::Free);
    assert_eq!(
        [0, 1, 2].map(|channel| sender.wait_of(NOW, channel)),
        [None, None, Some(Wait::Absent)]
    );
    sender.set_blocked(0b10);
    assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Link));
    while sender.handle_packet(NOW, 1_000).is_ok() {}
    let held = sender.wait_of(NOW, 0);
    assert!(matches!(held, Some(Wait::Pacing | Wait::Window)), "{held:?}");
    sender.set_blocked(0);
    assert!(sender.lose_channel(NOW, 1));
    assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Silent));
    sender.remove_channel(NOW, 1).expect("it is there");
    assert_eq!(sender.wait_of(NOW, 1), Some(Wait::Absent));
    sender.reset(NOW);
    assert_eq!(sender.wait_of(NOW, 0), Some(Wait::Resetting));
}

#[test]
fn wait_reason_distinguishes_plan_announcement_and_turn() {
    let mut free = sender(Order::Free);
    free.lose_channel(NOW, 1);
    free.change_quanta(&[1_000, 0]).expect("one stays");
    revive(&mut free, 1);
    assert_eq!(free.wait_of(NOW, 1), Some(Wait::Planned));
    free.change_quanta(&[1_000, 1_000]).expect("both");
    assert_eq!(free.wait_of(NOW, 1), Some(Wait::Announced));
    let strict = sender(Order::Strict);
    assert_eq!([0, 1].map(|one| strict.wait_of(NOW, one)), [None, Some(Wait::Turn)]);
}

#[test]
fn strict_order_run_is_the_rest_of_a_turn() {
    let (mut sender, now) = (sender_of(1_000, [3_000, 2_000], &SenderOptions::default(), NOW), NOW);
    let run = |channel, bytes| Some(Transmit { channel, bytes, longest_bytes: 1_000 });
    assert_eq!(sender.poll_transmit(now), run(0, 3_000));
    sender.handle_packet(now, 800).expect("open");
    assert_eq!(sender.poll_transmit(now), run(0, 2_200));
    (0..3).for_each(|_| assert_eq!(sender.handle_packet(now, 800), Ok(0)));
    assert_eq!(sender.poll_transmit(now), run(1, 2_000));
}

#[test]
fn free_order_run_is_one_millisecond_at_the_pace() {
    let control = ControlPlan { by: Controlled::FixedRate(4_000_000), ..ControlPlan::default() };
    let options =
        SenderOptions { order: Order::Free, control: Some(control), ..SenderOptions::default() };
    let mut sender = sender_of(1_000, [3_000, 2_000], &options, Instant::ORIGIN);
    let now = Instant::from_nanoseconds(50_000_000);
    let run = sender.poll_transmit(now).expect("nothing is in flight");
    assert_eq!(run.bytes, 4_001);
    for _ in 0..5 {
        assert_eq!(sender.handle_packet(now, 1_000), Ok(run.channel));
    }
    let other = sender.poll_transmit(now).expect("the other channel is free");
    assert_ne!(other.channel, run.channel);
}

#[test]
fn reset_is_sent_on_a_channel_corrupted_to_dead() {
    let scheduler = SurplusRoundRobin::<2>::new(1_000, &[1_000, 1_000]).expect("quanta");
    let options = SenderOptions::default();
    let mut sender =
        Sender::new(scheduler, options, Epoch::new(1), Instant::ORIGIN).expect("options");
    while sender.poll_message(Instant::ORIGIN).is_some() {}
    sender.presence.begin(0, Instant::ORIGIN, Life::Dead);
    sender.presence.begin(1, Instant::ORIGIN, Life::Absent);
    let again = Instant::ORIGIN.after(options.reset_interval);
    let (channel, message) = sender.poll_message(again).expect("it goes again");
    assert_eq!((channel, message.kind), (0, Kind::Reset { quantum: 1_000 }));
    assert_eq!(sender.poll_message(again), None);
}

/// Runs a sender whose first channel accepts frames of `takes` bytes; returns the lengths of the
/// probes on this channel.
fn run(sender: &mut Ends, from_ms: u64, takes: u32) -> Vec<u32> {
    let mut probes = Vec::new();
    for milliseconds in from_ms..from_ms + 40 {
        let now = Instant::from_nanoseconds(milliseconds * 1_000_000);
        let mut answers = Vec::new();
        while let Some((channel, message)) = sender.poll_message(now) {
            let bytes = u32::try_from(sender.padded_bytes(channel)).expect("short");
            if bytes > 0 && channel == 0 {
                probes.push(bytes);
            }
            if bytes > takes && channel == 0 {
                sender.handle_refused(now, channel, bytes).expect("sizes are found");
            } else if let Kind::Marker(marker) = message.kind {
                answers.push((channel, message, marker));
            }
        }
        for (channel, message, marker) in answers {
            let report = Report { echo: marker.sent_at, ..Report::default() };
            let message = Message { kind: Kind::Report(report), ..message };
            sender.handle_message(now, channel, message).expect("a report");
        }
    }
    probes
}

#[test]
fn frame_refused_by_the_socket_is_too_long_without_probes() {
    let mut sender = probing(1_500, 1_512, Instant::ORIGIN);
    let probes = run(&mut sender, 0, 1_420);
    assert_eq!(probes, [1_200, 1_512, 1_500, 1_492, 1_420, 1_456, 1_438, 1_429, 1_424]);
    assert_eq!(sender.size(0).state, SizeState::SearchComplete);
    let now = Instant::from_nanoseconds(50_000_000);
    sender.handle_refused(now, 0, 1_420).expect("sizes are found");
    assert_eq!((sender.size(0).frame_bytes, sender.size(0).state), (1_200, SizeState::Base));
    let probes = run(&mut sender, 50, 1_280);
    assert_eq!(probes[..3], [1_200, 1_400, 1_280]);
    assert_eq!(sender.size(0).frame_bytes, 1_280);
}

#[test]
fn refused_base_size_deactivates_the_channel() {
    let mut sender = probing(1_500, 1_512, Instant::ORIGIN);
    let probes = run(&mut sender, 0, 1_000);
    assert!(sender.is_dead(0) && probes.len() < 5, "{probes:?}");
    assert_eq!(sender.size(0).state, SizeState::Error);
    assert!(!sender.is_dead(1));
}

#[test]
fn channel_passing_all_sizes_is_neither_probed_nor_limited() {
    let (mut sender, now) = (probing(9_000, 9_000, NOW), NOW);
    sender.set_passes_all(1, true);
    let mut padded = 0;
    while let Some((channel, _)) = sender.poll_message(now) {
        assert!(channel == 0 || sender.padded_bytes(channel) == 0);
        padded += usize::from(sender.padded_bytes(channel) > 0);
    }
    assert_eq!(padded, 1);
    assert_eq!(sender.size(1).state, SizeState::SearchComplete);
    assert_eq!(sender.handle_packet(now, 8_900), Ok(1));
    assert!(sender.lose_channel(now, 1));
    revive(&mut sender, 1);
    sender.reset(now);
    assert_eq!(sender.size(1).state, SizeState::SearchComplete);
    sender.set_passes_all(1, false);
    assert_eq!(sender.size(1).state, SizeState::Base);
}

/// Until a size is known, any packet that the scheduler accepts may fit.
#[test]
fn channel_limits_the_bundle_once_its_size_is_known() {
    let (mut sender, now) = (probing(1_500, 1_512, Instant::ORIGIN), Instant::ORIGIN);
    assert_eq!((sender.bundle_bytes(), sender.longest_bytes()), (1_500, 1_188));
    assert!(sender.may_fit(1_500) && !sender.may_fit(1_501));
    assert!(!sender.fits_somewhere(1_500));
    sender.handle_refused(now, 0, 1_200).expect("sizes are found");
    assert_eq!(sender.bundle_bytes(), 1_188);
    assert!(sender.may_fit(1_500), "the other channel may take it");
    sender.handle_refused(now, 1, 1_512).expect("sizes are found");
    assert!(!sender.may_fit(1_500));
}
