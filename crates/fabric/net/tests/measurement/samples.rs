//! Time series of followed channels.

use crate::feed::{Feed, journey, plan};
use gingham_kernel::{Span, Time};
use gingham_net::measure::ChannelCount;
use gingham_net::{FollowPlan, Plan};
use gingham_topology::ChannelId;

/// 64 sections of 160 ps.
const TIME: u64 = 10_240;

/// Steps of 3,000 ps, flits of 10 ps.
fn following(channels: &[usize]) -> Plan {
    let mut plan = plan(1, TIME);
    plan.follow = FollowPlan {
        flows: Vec::new(),
        channels: channels.iter().map(|index| ChannelId::new(*index)).collect(),
        step: Span::from_ps(3_000),
        window_steps: 3,
    };
    plan
}

fn flits(data_flits: u64, control_flits: u64) -> ChannelCount {
    ChannelCount { data_flits, control_flits, ..ChannelCount::default() }
}

fn sample(feed: &mut Feed, ps: u64, counts: &[ChannelCount]) {
    assert_eq!(feed.collector.next_sample(), Some(Time::from_ps(ps)));
    feed.collector.on_sample(Time::from_ps(ps), counts);
}

#[test]
fn followed_channel_is_reported_per_step() {
    let mut feed = Feed::new(&following(&[2, 0]));
    for (step, own) in [(1, flits(60, 0)), (2, flits(60, 30)), (3, flits(200, 40))] {
        feed.end_sections(3_000 * step);
        sample(&mut feed, 3_000 * step, &[own, flits(300 * step, 0)]);
    }
    // The run ends with a step of 1,240 ps and a section.
    feed.end_sections(TIME - 1);
    sample(&mut feed, TIME, &[flits(262, 40), flits(900, 0)]);
    assert_eq!(feed.collector.next_sample(), None);
    feed.end_sections(u64::MAX);
    assert_eq!(feed.collector.next_sample(), None);
    let series = feed.collector.report().link_series();
    assert_eq!([series[0].channel, series[1].channel], [2, 0].map(ChannelId::new));
    let bounds: Vec<_> =
        series[0].steps.iter().map(|step| (step.from.as_ps(), step.to.as_ps())).collect();
    assert_eq!(bounds, [(0, 3_000), (3_000, 6_000), (6_000, 9_000), (9_000, TIME)]);
    let of = |place: usize| {
        let steps = series[place].steps.iter();
        steps.map(|step| (step.utilisation, step.utilisation_smoothed)).collect::<Vec<_>>()
    };
    // 60, 30, 150 and 62 flits of 10 ps.
    let own = [
        (0.2, 900.0 / 6_000.0),
        (0.1, 2_400.0 / 9_000.0),
        (0.5, 2_420.0 / 7_240.0),
        (0.5, 2_120.0 / 4_240.0),
    ];
    for (found, expected) in of(0).iter().zip(own) {
        assert!((found.0 - expected.0).abs() < 1e-12, "{found:?}, not {expected:?}");
        assert!((found.1 - expected.1).abs() < 1e-12, "{found:?}, not {expected:?}");
    }
    assert_eq!(of(1).iter().map(|found| found.0).collect::<Vec<_>>(), [1.0, 1.0, 1.0, 0.0]);
}

#[test]
fn samples_end_with_the_window() {
    // The first section with an undelivered message is that of 3,300: the window ends before it, at
    // 3,200.
    let mut plan = following(&[1]);
    plan.stop.messages = Some(2);
    let mut feed = Feed::new(&plan);
    let message = feed.create(&journey(100, 3_100));
    feed.end_sections(3_000);
    sample(&mut feed, 3_000, &[flits(60, 0)]);
    feed.deliver(&journey(100, 3_100), message);
    let message = feed.create(&journey(3_150, 6_100));
    feed.create(&journey(3_300, 9_900));
    feed.end_sections(6_000);
    sample(&mut feed, 6_000, &[flits(90, 0)]);
    assert_eq!(feed.collector.next_sample(), Some(Time::from_ps(9_000)));
    feed.deliver(&journey(3_150, 6_100), message);
    feed.end_sections(u64::MAX);
    assert_eq!(feed.collector.report().window().end, Time::from_ps(3_200));
    assert_eq!(feed.collector.next_sample(), None);
    assert_eq!(feed.collector.report().link_series()[0].steps.len(), 1);
}

#[test]
fn no_channel_samples_without_followed_channels() {
    let feed = Feed::new(&following(&[]));
    assert_eq!(feed.collector.next_sample(), None);
    assert_eq!(Feed::new(&plan(1, TIME)).collector.next_sample(), None);
    assert!(feed.collector.report().link_series().is_empty());
}
