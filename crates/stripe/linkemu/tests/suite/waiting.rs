//! Queues bounded by waiting time, hand-traced.

use crate::common::{channel, clean, offer, offer_all};
use gingham_kernel::{Rate, Span, Time};
use gingham_linkemu::{Channel, DropReason, Parameters, QueueBound};

const QUEUE_FULL: Result<Vec<u64>, DropReason> = Err(DropReason::QueueFull);

/// A packet waits for at most 200 ns at one byte per ns.
fn waiting() -> Channel {
    channel(Parameters { queue: QueueBound::Time(Span::from_ps(200_000)), ..clean(1) })
}

#[test]
fn packet_is_accepted_by_its_wait_and_not_its_length() {
    let mut channel = waiting();
    let found = offer_all(&mut channel, &[(0, 100), (0, 150), (0, 1)]);
    assert_eq!(found, [Ok(vec![105_000]), Ok(vec![255_000]), QUEUE_FULL]);
    // At 49.999 ns the wait is a ps too long. At 50 ns it is 200 ns.
    assert_eq!(channel.wait(Time::from_ps(49_999)), Span::from_ps(200_001));
    assert_eq!(offer(&mut channel, 49_999, 1), QUEUE_FULL);
    assert_eq!(offer(&mut channel, 50_000, 1_000), Ok(vec![1_255_000]));
    assert_eq!(channel.wait(Time::from_ps(1_250_000)), Span::ZERO);
    assert_eq!((channel.counters().arrived, channel.counters().queue_full), (3, 2));
}

#[test]
fn lower_rate_admits_less_but_keeps_the_backlog() {
    let mut channel = waiting();
    assert_eq!(offer(&mut channel, 0, 300), Ok(vec![305_000]));
    // At half the rate, the 150 bytes left at 150 ns mean a wait of 300 ns, too much until 250 ns.
    channel.set_rate(Time::from_ps(150_000), Rate::from_bytes_per_second(500_000_000));
    assert_eq!(channel.wait(Time::from_ps(150_000)), Span::from_ps(300_000));
    assert_eq!(offer(&mut channel, 249_999, 1), QUEUE_FULL);
    assert_eq!(offer(&mut channel, 250_000, 10), Ok(vec![475_000]));
    // At four times the rate, the 100 bytes left at 270 ns mean a wait of 50 ns.
    channel.set_rate(Time::from_ps(270_000), Rate::from_bytes_per_second(2_000_000_000));
    let found = offer_all(&mut channel, &[(270_000, 400), (270_000, 1), (320_000, 1)]);
    assert_eq!(found, [Ok(vec![525_000]), QUEUE_FULL, Ok(vec![525_500])]);
}

#[test]
fn queue_of_one_second_holds_one_second_of_packets() {
    let queue = QueueBound::Time(Span::from_ps(1_000_000_000_000));
    let rate = Rate::from_bytes_per_second(1_000_000);
    assert_eq!(queue.bytes_at(rate), 1_000_000);
    let mut bloated = channel(Parameters { queue, rate, ..clean(1) });
    let found = offer_all(&mut bloated, &[(0, 1_000); 1_003]);
    assert!(found[..1_001].iter().all(Result::is_ok));
    assert_eq!(found[1_001..], [QUEUE_FULL, QUEUE_FULL]);
    assert_eq!(found[1_000], Ok(vec![1_001_000_005_000]));
    assert_eq!(bloated.backlog_bytes(Time::ZERO), 1_001_000);
}

#[test]
fn queue_bound_is_parsed_from_bytes_or_time() {
    let time = QueueBound::Time(Span::from_ps(20_000_000_000));
    for (text, bound) in [("64 kB", QueueBound::Bytes(64_000)), ("20 ms", time)] {
        assert_eq!(text.parse(), Ok(bound));
        assert_eq!(bound.to_string(), text);
    }
    let error = "20".parse::<QueueBound>().expect_err("no unit").to_string();
    assert!(error.ends_with("such as \"64 kB\" or \"20 ms\""), "{error}");
}
