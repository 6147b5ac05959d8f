//! With tags, at most four of the markers sent by time are in flight.

use gingham_stripe::{
    ControlPlan, Controlled, Guarantee, Kind, Order, ReceiverOptions, ReportPlan, SenderOptions,
};

use crate::pair::{LONGEST_BYTES, Pair, Scheduler, at, milliseconds};

/// Free order, at a fixed rate.
fn pair(delays_ms: &[u64]) -> Pair {
    let quanta = vec![LONGEST_BYTES; delays_ms.len()];
    let scheduler = Scheduler::new(LONGEST_BYTES, &quanta).expect("quanta");
    let delays: Vec<_> = delays_ms.iter().copied().map(milliseconds).collect();
    let control = ControlPlan { by: Controlled::FixedRate(1_000_000), ..ControlPlan::default() };
    let sender =
        SenderOptions { order: Order::Free, control: Some(control), ..SenderOptions::default() };
    let receiver = ReceiverOptions {
        order: Order::Free,
        guaranteed: Some(Guarantee::default()),
        reports: Some(ReportPlan::default()),
        ..ReceiverOptions::default()
    };
    Pair::with(&scheduler, &delays, sender, receiver)
}

/// Markers sent at 0, 20, 40 ms and so on, each behind a packet.
fn markers(pair: &mut Pair, looks: u64) -> Vec<u64> {
    let look = |look| {
        let before = pair.sender.sending().markers;
        pair.run_to(at(20 * look));
        pair.send(100);
        pair.sender.sending().markers - before
    };
    (0..looks).map(look).collect()
}

/// Delays of 10 and 100 ms. Markers go every 20 ms on both channels until the first answer of the
/// slow one, at 200 ms. A quarter of its round trip is 50 ms: it then gets one at every third
/// check, at 260, 320 and 380 ms.
#[test]
fn four_markers_are_in_flight_on_a_slow_channel() {
    let mut pair = pair(&[10, 100]);
    let first = [2; 11];
    let then = [1, 1, 2].repeat(3);
    assert_eq!(markers(&mut pair, 20), [&first[..], &then].concat());
}

/// Without tags order is exact a marker after the last loss (theorem 5.1).
#[test]
fn quasi_fifo_markers_have_a_fixed_interval() {
    let scheduler = Scheduler::new(LONGEST_BYTES, &[LONGEST_BYTES]).expect("a quantum");
    let mut pair = Pair::new(&scheduler, &[milliseconds(100)], ReceiverOptions::default());
    assert_eq!(markers(&mut pair, 20), [1; 20]);
}

/// A silence of 200 ms is ten checks.
#[test]
fn marker_interval_is_at_most_the_silence_at_any_rtt() {
    let mut pair = pair(&[5_000]);
    let until = markers(&mut pair, 501);
    assert_eq!(until, [1; 501]);
    let mut look = 500;
    let mut next = || loop {
        look += 1;
        let before = pair.sender.sending().markers;
        pair.run_to(at(20 * look));
        pair.send(100);
        if pair.sender.sending().markers > before {
            return 20 * look;
        }
    };
    assert_eq!([next(), next(), next()], [10_200, 10_400, 10_600]);
}

/// The only packet is accounted for at 200 ms. Markers go at 260 ms and every 60 ms after: sixteen
/// until 1,160 ms carry no news.
#[test]
fn sixteen_markers_precede_rest_on_a_slow_channel() {
    let mut pair = pair(&[100]);
    pair.send(100);
    pair.run_to(at(200));
    let before = pair.sender.sending().markers;
    while !pair.sender.is_at_rest() {
        pair.run_for(milliseconds(20));
    }
    assert_eq!((pair.sender.sending().markers - before, pair.now), (16, at(1_180)));
}

/// The silence of 200 ms and two round trips of 200 ms; 20 + 50 ms until a marker goes, 25 ms for a
/// late check, and 20 ms to the next.
#[test]
fn marker_carries_the_latest_deactivation_time() {
    let mut pair = pair(&[100]);
    assert_eq!(markers(&mut pair, 22).iter().sum::<u64>(), 14);
    let (_, marker) = pair.sender.poll_message(at(440)).expect("one is due");
    let Kind::Marker(marker) = marker.kind else { panic!("{marker:?}") };
    assert_eq!(marker.out_after_ns, 715_000_000);
}
