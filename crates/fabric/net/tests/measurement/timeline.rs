//! Ends of sections, merging without losses, and windows at section boundaries.

use crate::feed::{Feed, class, collector_of, journey, plan};
use gingham_kernel::Time;
use gingham_net::measure::{ChannelCount, Count, WarmUp};
use gingham_topology::ChannelId;

/// 1,024 slices of 10 ps, 64 sections of 160 ps.
const TIME: u64 = 10_240;

#[test]
fn given_warm_up_is_rounded_up_to_a_section() {
    for (given, start) in [(0, 0), (1, 160), (160, 160), (161, 320), (10_239, 10_240)] {
        let mut plan = plan(1, TIME);
        plan.stop.warm_up = Some(Time::from_ps(given));
        let window = collector_of(&plan, []).report().window();
        assert_eq!((window.start.as_ps(), window.end.as_ps()), (start, TIME));
        assert_eq!(window.warm_up, WarmUp::Given);
    }
}

#[test]
fn sections_merge_in_pairs_at_64() {
    // 2^32 ps: slices of 2^20 ps at first, sections of 2^24, doubled twice on the way.
    let mut feed = Feed::new(&plan(1, 1 << 32));
    let mut lengths = Vec::new();
    let mut before = 0;
    while let Some(end) = feed.collector.section_end() {
        feed.end_sections(end.as_ps());
        lengths.push(end.as_ps() - before);
        before = end.as_ps();
    }
    let expected = [vec![1 << 24; 64], vec![1 << 25; 32], vec![1 << 26; 32]].concat();
    assert_eq!(lengths, expected);
    assert_eq!(feed.collector.end(), Time::from_ps(1 << 32));
}

#[test]
fn last_section_ends_with_the_run() {
    // 10,000 ps: slices of 10 ps, 62 sections of 160 ps and one of 80.
    let mut feed = Feed::new(&plan(1, 10_000));
    feed.end_sections(9_999);
    assert_eq!(feed.collector.section_end(), Some(Time::from_ps(10_000)));
    feed.end_sections(10_000);
    assert_eq!(feed.collector.section_end(), None);
    // The short section has its actual length: 10,000 ps with 100 bytes each at 50 ps and 9,990 ps.
    let collector = collector_of(&plan(1, 10_000), [journey(0, 50), journey(1, 9_990)]);
    let accepted = collector.report().class(class()).accepted_bytes_per_ps.unwrap();
    assert!((accepted.mean - 200.0 / 10_000.0).abs() < 1e-15, "{accepted:?}");
}

#[test]
fn section_merging_preserves_window_sums() {
    // A run that doubles five times and one that never does.
    let time = 1 << 35;
    let step = time / 3_000;
    let messages = |index: u64| journey(index * step, index * step + step / 3 + 50 * index);
    let collector = collector_of(&plan(1, time), (0..3_000).map(messages));
    let measured = collector.report();
    let of = measured.class(class());
    assert_eq!(of.created, Count { messages: 3_000, bytes: 300_000 });
    assert_eq!(of.followed_messages, 3_000);
    #[expect(clippy::cast_precision_loss, reason = "a mean of thousands")]
    let mean = (0..3_000).map(|index| (step / 3 + 50 * index) as f64).sum::<f64>() / 3_000.0;
    assert!((of.latency_ps.unwrap().mean / mean - 1.0).abs() < 1e-12);
    assert_eq!(measured.histogram(class()).iter().map(|bar| bar.messages).sum::<u64>(), 3_000);
    assert_eq!(of.latency_max.unwrap().as_ps(), step / 3 + 50 * 2_999);
}

#[test]
fn channel_counts_are_clipped_to_the_window() {
    // One data flit and 4 ps of stop every 16 ps, on every channel, with a window from 320 ps on.
    let mut plan = plan(1, TIME);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let mut feed = Feed::new(&plan);
    while let Some(end) = feed.collector.section_end() {
        let ticks = end.as_ps() / 16;
        let count = ChannelCount { data_flits: ticks, stopped_ps: 4 * ticks, ..Default::default() };
        let channels = ChannelId::first(plan.channels.len());
        feed.collector
            .on_section_end(&channels.map(|channel| (channel, count)).collect::<Vec<_>>());
    }
    let channel = feed.collector.report().channel(ChannelId::new(0)).unwrap();
    assert_eq!(channel.count.data_flits, (TIME - 320) / 16);
    assert!((channel.utilisation.mean - 10.0 / 16.0).abs() < 1e-12);
    assert!((channel.stopped_share.mean - 0.25).abs() < 1e-12);
    assert!(channel.utilisation.half_width.unwrap() < 1e-12, "every section is the same");
}
