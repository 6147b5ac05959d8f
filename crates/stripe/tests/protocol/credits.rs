//! Credits: what the receiver has no room for is not sent.

use gingham_stripe::{
    Discard, Epoch, ReceiverOptions, ReportPlan, SendError, Sender, SenderOptions,
};

use super::pair::{LONGEST_BYTES, Pair, Scheduler, at, milliseconds};

fn pair(credits: bool, buffer_packets_max: usize) -> Pair {
    let quanta = [LONGEST_BYTES, 2 * LONGEST_BYTES];
    let scheduler = Scheduler::new(LONGEST_BYTES, &quanta).expect("options of a test");
    let delays = [milliseconds(1), milliseconds(30)];
    let reports = Some(ReportPlan { interval: milliseconds(2) });
    let receiver = ReceiverOptions { buffer_packets_max, reports, ..ReceiverOptions::default() };
    Pair::with(&scheduler, &delays, SenderOptions { credits, ..SenderOptions::default() }, receiver)
}

/// One channel, nothing reported yet: ten packets go, and the eleventh waits.
#[test]
fn ten_packets_go_before_anything_is_known() {
    let options = SenderOptions { credits: true, ..SenderOptions::default() };
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES]).unwrap();
    let mut sender = Sender::synchronised(scheduler, options, Epoch::new(1), at(0)).unwrap();
    for _ in 0..10 {
        assert_eq!(sender.handle_packet(at(0), 100), Ok(0));
    }
    assert_eq!(sender.poll_transmit(at(0)), None);
    assert_eq!(sender.handle_packet(at(0), 100), Err(SendError::NoCredit { channel: 0 }));
}

/// A packet each 100 microseconds: what goes on the fast channel waits 29 ms for the slow one, 97
/// packets or more, in a buffer for 40. Without credits some find no room; with them they are not
/// sent.
#[test]
fn credits_keep_buffers_from_overflowing() {
    for (credits, loss_percent) in [(false, 0), (true, 0), (true, 30)] {
        let mut pair = pair(credits, 40);
        pair.loss_percent = loss_percent;
        for _ in 0..5_000 {
            pair.send(1_000);
            pair.run_for(std::time::Duration::from_micros(100));
        }
        let full = pair.receiver.reception().discards.of(Discard::BufferFull);
        assert_eq!(full == 0, credits, "{full} packets found no room");
        assert!(pair.buffered_max <= 40 && pair.sent > 200, "{} sent", pair.sent);
    }
}

/// All that goes back is lost for a while, and so the credit is used up; when reports come again
/// the pipe goes on: nothing has leaked.
#[test]
fn lost_reports_and_lost_packets_leak_no_credit() {
    let mut pair = pair(true, 40);
    for burst in 0..20 {
        pair.loss_percent = if burst % 2 == 0 { 100 } else { 0 };
        for _ in 0..200 {
            pair.send(1_000);
            pair.run_for(std::time::Duration::from_micros(100));
        }
    }
    pair.loss_percent = 0;
    pair.run_for(milliseconds(500));
    let before = pair.sent;
    for _ in 0..30 {
        pair.send(1_000);
    }
    assert_eq!(pair.sent - before, 30, "both buffers are empty, and a channel has 40 places");
    assert!(pair.is_without_repetition());
}
