//! Competing traffic, hand-traced and counted.

use crate::common::{APART_PS, channel, clean, offer, probability, sparse};
use gingham_kernel::{Rate, Time};
use gingham_linkemu::{Competing, Counters, DropReason, Loss, Parameters, Policer, Spacing};

const QUEUE_FULL: Result<Vec<u64>, DropReason> = Err(DropReason::QueueFull);

/// Traffic of 100 bytes every 200 ns, from 50 ns until 650 ns (not included).
fn half(spacing: Spacing) -> Competing {
    Competing {
        rate: Rate::from_bytes_per_second(500_000_000),
        packet_bytes: 100,
        spacing,
        from: Time::from_ps(50_000),
        until: Time::from_ps(650_000),
    }
}

#[test]
fn competing_traffic_takes_queue_space_and_transmission_time() {
    let mut channel = channel(Parameters { competing: vec![half(Spacing::Even)], ..clean(150) });
    assert_eq!(channel.next_competing(), Some(Time::from_ps(50_000)));
    // A competing packet arrives at 50 ns, when 50 bytes are left.
    assert_eq!(offer(&mut channel, 0, 100), Ok(vec![105_000]));
    assert_eq!(offer(&mut channel, 60_000, 10), Ok(vec![215_000]));
    assert_eq!(offer(&mut channel, 60_000, 1), QUEUE_FULL);
    // At 250 ns a competing packet arrives before ours, at an idle queue.
    assert_eq!(offer(&mut channel, 250_000, 60), QUEUE_FULL);
    assert_eq!(offer(&mut channel, 250_000, 50), Ok(vec![405_000]));
    // At 450 ns 90 bytes of ours are left, and the competing packet is dropped.
    assert_eq!(offer(&mut channel, 440_000, 100), Ok(vec![545_000]));
    assert_eq!(offer(&mut channel, 700_000, 1), Ok(vec![706_000]));
    assert_eq!(channel.next_competing(), None);
    let ours = Counters { offered: 7, arrived: 5, queue_full: 2, ..Counters::default() };
    assert_eq!(channel.counters(), Counters { competing: 3, competing_dropped: 1, ..ours });
}

#[test]
fn compete_brings_the_backlog_up_to_date() {
    let mut channel = channel(Parameters { competing: vec![half(Spacing::Even)], ..clean(150) });
    assert_eq!(channel.backlog_bytes(Time::from_ps(60_000)), 0, "it was not let come");
    channel.compete(Time::from_ps(60_000));
    assert_eq!(channel.backlog_bytes(Time::from_ps(60_000)), 90);
    assert_eq!(channel.next_competing(), Some(Time::from_ps(250_000)));
}

#[test]
fn rate_change_applies_after_earlier_competing_packets() {
    let mut channel = channel(Parameters { competing: vec![half(Spacing::Even)], ..clean(150) });
    channel.set_rate(Time::from_ps(100_000), Rate::from_bytes_per_second(500_000_000));
    assert_eq!(offer(&mut channel, 100_000, 10), Ok(vec![225_000]));
}

#[test]
fn competing_traffic_bypasses_the_policer() {
    let policer = Policer { rate: Rate::from_bytes_per_second(1), burst_bytes: 10 };
    let competing = vec![half(Spacing::Even)];
    let mut channel = channel(Parameters { policer: Some(policer), competing, ..clean(150) });
    assert_eq!(offer(&mut channel, 60_000, 10), Ok(vec![165_000]));
    assert_eq!((channel.counters().policed, channel.counters().competing_dropped), (0, 0));
}

/// The number of packets in a second is Poisson: its variance equals its mean.
#[test]
fn poisson_spacing_has_its_rate_and_variance() {
    let second = Time::from_ps(1_000_000_000_000);
    let drawn = Competing {
        rate: Rate::from_bytes_per_second(1_000_000),
        from: Time::ZERO,
        until: second,
        ..half(Spacing::Poisson)
    };
    let counts: Vec<u64> = (0..200)
        .map(|seed| {
            let plan = Parameters { competing: vec![drawn], ..clean(1_000_000) };
            let mut channel =
                gingham_linkemu::Channel::new(plan, seed, "east").expect("it makes sense");
            channel.compete(second);
            channel.counters().competing
        })
        .collect();
    // Five standard errors of 200 seconds are 5 x sqrt(10,000 / 200) = 35 packets.
    let sum: u64 = counts.iter().sum();
    assert!((sum / 200).abs_diff(10_000) < 35, "{sum}");
    // Variance 10,000, within five standard errors of 10,000 x sqrt(2 / 200) = 1,000.
    let squares: u64 = counts.iter().map(|count| count.abs_diff(10_000).pow(2)).sum();
    assert!((squares / 200).abs_diff(10_000) < 5_000, "{squares}");
}

#[test]
fn competing_traffic_does_not_change_other_draws() {
    let lossy = Parameters { loss: Loss::Independent(probability(0.25)), ..clean(1_000) };
    let until = Time::from_ps(2_000 * APART_PS);
    let beside =
        Competing { until, rate: Rate::from_bytes_per_second(50_000), ..half(Spacing::Poisson) };
    let lost = |competing| {
        let mut channel = channel(Parameters { competing, ..lossy.clone() });
        let fates = sparse(&mut channel, 2_000, 100);
        assert!(channel.counters().competing_dropped == 0, "it leaves room");
        fates.iter().map(|fate| fate.arrivals().count()).collect::<Vec<_>>()
    };
    assert_eq!(lost(vec![]), lost(vec![beside]));
}
