use super::*;
use crate::{BbrParameters, FixedRate};
use std::collections::VecDeque;

const MILLISECOND: u64 = 1_000_000;

fn assert_fresh(path: &mut Path) {
    let before = (path.window_bytes(), path.pacing_rate_bytes_per_second());
    path.ask_control();
    assert_eq!(before, (path.window_bytes(), path.pacing_rate_bytes_per_second()));
}

#[test]
fn cached_window_and_pace_equal_those_of_the_controller() {
    let control = Control::bbr(BbrParameters::default(), 1_000);
    let mut path = Path::new(PathPlan::new(1_000), control);
    let mut there_at = VecDeque::new();
    let mut acknowledgement = Acknowledgement { held_ns: Some(0), ..Acknowledgement::default() };
    for ms in 1..12_000 {
        let now_ns = ms * MILLISECOND;
        while ms % 400 < 300 && path.admits(now_ns) {
            path.sent(now_ns, 1_000);
            assert_fresh(&mut path);
            let last = there_at.back().map_or(0, |last| last + 1);
            there_at.push_back(last.max(ms + 20));
        }
        if ms % 400 >= 300 {
            path.see_idleness(now_ns);
        }
        while there_at.front().is_some_and(|at| *at <= ms) {
            there_at.pop_front();
            acknowledgement.accounted_packets += 1;
            acknowledgement.accounted_bytes += 1_000;
            acknowledgement.received_bytes += 1_000;
            acknowledgement.received_at_ns = now_ns;
            assert!(path.acknowledged(now_ns, &acknowledgement));
            assert_fresh(&mut path);
        }
    }
    path.set_control(Control::FixedRate(FixedRate::new(1_000_000_000, 1_000)));
    assert_eq!(path.pacing_rate_bytes_per_second(), Some(1_000_000_000));
}

/// The minimum rate is two packets of 1,000 bytes per smoothed RTT of 20 ms, later 22.5 ms.
#[test]
fn minimum_pace_follows_the_rtt() {
    let control = Control::FixedRate(FixedRate::new(1, 1_000));
    let mut path = Path::new(PathPlan::new(1_000), control);
    path.timed(0, 20 * MILLISECOND);
    assert_eq!(path.pacing_rate_bytes_per_second(), Some(100_000));
    path.timed(0, 40 * MILLISECOND);
    assert_eq!(path.pacing_rate_bytes_per_second(), Some(88_888));
}

/// The window is 40 packets: 1.5 RTTs of 20 ms at 1 MB/s, plus ten packets. With 40 packets in
/// flight, one more may be sent after 1 ms, because one packet is then assumed to have arrived. The
/// next packet must wait for an acknowledgement.
#[test]
fn in_flight_shrinks_by_assumed_arrivals_between_acks() {
    let plan = PathPlan { kept: Duration::from_millis(1), ..PathPlan::new(1_000) };
    let mut path = Path::new(plan, Control::FixedRate(FixedRate::new(1_000_000, 1_000)));
    path.timed(0, 20 * MILLISECOND);
    (0..48).for_each(|_| path.sent(0, 1_000));
    let acknowledgement = |packets| Acknowledgement {
        accounted_packets: packets,
        accounted_bytes: packets * 1_000,
        received_bytes: packets * 1_000,
        received_at_ns: packets * MILLISECOND,
        held_ns: Some(0),
    };
    assert!(path.acknowledged(96 * MILLISECOND, &acknowledgement(4)));
    assert!(path.acknowledged(100 * MILLISECOND, &acknowledgement(8)));
    assert_eq!(path.next_ns(), Some(101 * MILLISECOND));
    path.sent(101 * MILLISECOND, 1_000);
    assert_eq!((path.next_ns(), path.admits(200 * MILLISECOND)), (None, false));
}

#[test]
fn rate_cap_includes_packet_overhead() {
    let mut path =
        Path::new(PathPlan::new(1_000), Control::FixedRate(FixedRate::new(10_000_000, 1_000)));
    path.set_cap(Some(RateCap { bytes_per_second: 1_000_000, overhead_bytes: 100 }));
    assert_eq!(path.pacing_rate_bytes_per_second(), Some(1_000_000));
    let mut sent_at = Vec::new();
    for ms in 10..20 {
        while path.admits(ms * MILLISECOND) {
            path.sent(ms * MILLISECOND, 900);
            sent_at.push(ms);
        }
    }
    assert_eq!(sent_at, [10, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19]);
    path.set_cap(None);
    assert_eq!(path.pacing_rate_bytes_per_second(), Some(10_000_000));
}

#[test]
fn cap_above_the_pace_changes_nothing() {
    let sent = |cap| {
        let mut path =
            Path::new(PathPlan::new(1_000), Control::FixedRate(FixedRate::new(1_000_000, 1_000)));
        path.set_cap(cap);
        (0..10).for_each(|_| path.sent(MILLISECOND, 1_000));
        path.next_ns()
    };
    let cap = |bytes_per_second| Some(RateCap { bytes_per_second, overhead_bytes: 100 });
    assert_eq!(sent(cap(2_000_000)), sent(None));
    assert!(sent(cap(1_050_000)) > sent(None));
    let mut path = Path::new(PathPlan::new(1_000), Control::FixedRate(FixedRate::new(1, 1_000)));
    path.timed(0, 20 * MILLISECOND);
    path.set_cap(cap(5_000));
    assert_eq!(path.pacing_rate_bytes_per_second(), Some(5_000));
}

#[test]
fn path_is_busy_since_it_was_last_idle() {
    let mut path =
        Path::new(PathPlan::new(1_000), Control::FixedRate(FixedRate::new(2_000_000, 1_000)));
    for ms in 10..30 {
        let packets = if ms < 20 { 1 } else { 4 };
        for _ in 0..packets {
            path.see_work(ms * MILLISECOND);
            path.sent(ms * MILLISECOND, 1_000);
        }
    }
    assert_eq!(path.busy_since_ns(), 20 * MILLISECOND);
}
