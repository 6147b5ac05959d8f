//! Contents of markers and of reports.

use gingham_fairq::{Number, Round, Standing};
use gingham_stripe::{
    Charge, Epoch, Guarantee, Kind, Marker, Message, Receiver, ReceiverOptions, Report, ReportPlan,
    Sender, SenderOptions, Tag,
};

use super::pair::{Pair, Scheduler, at, milliseconds};

fn scheduler() -> Scheduler {
    Scheduler::new(100, &[100, 200]).expect("options of a test")
}

/// Packet 1 on channel 0, 2 and 3 on channel 1; markers are due after 20 ms.
#[test]
fn marker_carries_the_state_of_its_channel() {
    let options = SenderOptions::default();
    let mut sender = Sender::synchronised(scheduler(), options, Epoch::new(1), at(0)).unwrap();
    while sender.poll_message(at(0)).is_some() {}
    for length_bytes in [100, 90, 80] {
        sender.handle_packet(at(1), length_bytes).unwrap();
    }
    let mut marker = || sender.poll_message(at(20)).map(|(_, message)| message.kind);
    let said = |quantum_bytes, round, deficit_bytes, sent_packets, sent_bytes| {
        let next = Number { round: Round::new(round), deficit_bytes };
        let standing = Standing { next, quantum_bytes, coming: None };
        let (next_sequence, sent_at, round_trip_ns) = (3, at(20), 0);
        Some(Kind::Marker(Marker {
            standing,
            sent_packets,
            sent_bytes,
            next_sequence,
            sent_at,
            round_trip_ns,
            // A second, since the round trip is unknown; 200 ms; two intervals; and an eighth of
            // the 200 ms for a late check.
            out_after_ns: 1_265_000_000,
            lowered: false,
        }))
    };
    assert_eq!(marker(), said(100, 2, 100, 1, 100));
    assert_eq!(marker(), said(200, 1, 30, 2, 170));
    assert_eq!(marker(), None);
}

/// The marker counts 7 packets, but only 2 arrived: 5 are lost.
#[test]
fn report_counts_from_the_last_marker() {
    let options = ReceiverOptions {
        buffer_bytes_max: 40,
        charge: Charge::PACKETS,
        ..ReceiverOptions::default()
    };
    let mut receiver = Receiver::synchronised(scheduler(), options, Epoch::new(1)).unwrap();
    assert_eq!(receiver.poll_message(at(0)), None);
    (0..2).for_each(|packet| receiver.handle_packet(at(1), 1, 100, packet).unwrap());
    let next = Number { round: Round::new(4), deficit_bytes: 100 };
    let standing = Standing { next, quantum_bytes: 200, coming: None };
    let marker = Marker {
        standing,
        sent_packets: 7,
        sent_bytes: 700,
        next_sequence: 9,
        sent_at: at(3),
        round_trip_ns: 0,
        out_after_ns: 0,
        lowered: false,
    };
    let message = |kind| Message { epoch: Epoch::new(1), channel: 1, channels: 2, kind };
    receiver.handle_message(at(5), 1, message(Kind::Marker(marker))).unwrap();
    receiver.handle_packet(at(6), 1, 50, 2).unwrap();
    let report = Report {
        // 8 accounted for, 3 wait with a reserve of 10, and no further need was measured.
        limit_bytes: 15,
        lowered: false,
        accounted_packets: 8,
        accounted_bytes: 750,
        received_packets: 3,
        received_bytes: 250,
        received_at: at(6),
        coming_from: None,
        echo: at(3),
        held_ns: 2_000_000,
        received_ago_ns: 1_000_000,
        longest_bytes: 100,
    };
    assert_eq!(receiver.poll_message(at(7)), Some((1, message(Kind::Report(report)))));
    assert_eq!(receiver.poll_message(at(7)), None);
}

/// Delays of 10 and 20 ms, markers at the start.
#[test]
fn sender_keeps_the_last_report_of_each_channel() {
    let delays = [milliseconds(10), milliseconds(20)];
    let mut pair = Pair::new(&scheduler(), &delays, ReceiverOptions::default());
    pair.send(100);
    pair.run_to(at(19));
    assert_eq!((pair.sender.reported(0), pair.sender.reported(1)), (None, None));
    pair.run_to(at(40));
    let reported = [0, 1].map(|channel| pair.sender.reported(channel).expect("a report"));
    assert_eq!(reported.map(|reported| reported.at), [at(40), at(40)]);
    // On channel 0 the second marker, of 20 ms, is answered; it counts the packet.
    assert_eq!(reported[0].report.accounted_packets, 1);
    assert_eq!((reported[0].report.echo, reported[1].report.echo), (at(20), at(0)));
    assert_eq!(pair.sender.sent(0).bytes, 100);
}

/// Times, in microseconds after a marker, and counts of the reports on channel 1, for packets at
/// this interval.
fn reported(apart_us: u64, packets: u32, lost: &[u32]) -> Vec<(u64, u32)> {
    let reports = Some(ReportPlan { interval: milliseconds(5) });
    let guaranteed = Some(Guarantee::default());
    let options = ReceiverOptions { reports, guaranteed, ..ReceiverOptions::default() };
    let mut receiver =
        Receiver::<_, u32>::synchronised(scheduler(), options, Epoch::new(1)).expect("options");
    let next = Number { round: Round::FIRST, deficit_bytes: 100 };
    let standing = Standing { next, quantum_bytes: 200, coming: None };
    let kind = Kind::Marker(Marker { standing, ..Marker::default() });
    let message = Message { epoch: Epoch::new(1), channel: 1, channels: 2, kind };
    receiver.handle_message(at(20), 1, message).expect("a marker");
    let mut reported = Vec::new();
    for us in (0..50_000).step_by(100) {
        let now = at(20).after(std::time::Duration::from_micros(us));
        let sequence = u32::try_from(us / apart_us).expect("few").wrapping_sub(1);
        if us % apart_us == 0 && sequence < packets && !lost.contains(&sequence) {
            let tag = Tag {
                channel: 1,
                session: 1,
                sequence,
                channel_sequence: sequence,
                repair_of: None,
            };
            receiver.handle_tagged(now, tag, 100, 0).expect("room");
        }
        while let Some((_, message)) = receiver.poll_message(now) {
            let Kind::Report(report) = message.kind else { panic!("{message:?}") };
            reported.push((us, report.accounted_packets));
        }
    }
    reported
}

/// Each fourth packet, or 5 ms after the first unreported one; never within a millisecond of the
/// last.
#[test]
fn reports_between_markers_follow_packet_count_and_time() {
    assert_eq!(reported(100, 30, &[]), [(0, 0), (1_000, 10), (2_000, 20), (3_000, 30)]);
    assert_eq!(reported(1_000, 8, &[]), [(0, 0), (4_000, 4), (8_000, 8)]);
    assert_eq!(reported(2_000, 6, &[]), [(0, 0), (7_000, 3), (13_000, 6)]);
}

/// The arrival proves the loss of packet 1.
#[test]
fn losses_are_reported_immediately() {
    assert_eq!(reported(2_000, 3, &[1]), [(0, 0), (6_000, 3)]);
    assert_eq!(reported(100, 3, &[1]), [(0, 0), (1_000, 3)]);
}
