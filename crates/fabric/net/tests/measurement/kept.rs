//! Individual records of messages, and series.

use crate::feed::{Feed, class, collector_of, journey, plan};
use gingham_kernel::{Span, Time};
use gingham_net::KeptMessages;

const TIME: u64 = 10_240;

#[test]
fn message_sample_is_uniform() {
    // Five of forty messages, with 4,000 seeds: each is expected 500 times.
    let mut times_kept = [0_u32; 40];
    for seed in 0..4_000 {
        let mut plan = plan(1, TIME);
        plan.seed = seed;
        plan.measure.sample_size = 5;
        let collector =
            collector_of(&plan, (0..40).map(|index| journey(200 * index, 200 * index + 10)));
        let sample = collector.report().sample();
        assert_eq!(sample.len(), 5);
        for delivery in sample {
            times_kept[delivery.message.number.index()] += 1;
        }
    }
    // Binomial(4,000, 1/8) has the variance 437.5. For a fixed size the sum of squares over it,
    // times 39/40, is nearly chi-square with 39 degrees of freedom: above 73 with probability
    // 1/1,000.
    let squares: u32 = times_kept.iter().map(|kept| kept.abs_diff(500) * kept.abs_diff(500)).sum();
    assert!(f64::from(squares) / 437.5 * 39.0 / 40.0 < 73.0, "{times_kept:?}");
}

#[test]
fn sample_does_not_depend_on_the_order_of_deliveries() {
    let mut plan = plan(1, TIME);
    plan.measure.sample_size = 5;
    let sampled = |delivered: fn(u64) -> u64| -> Vec<usize> {
        let journeys = (0..40).map(|index| journey(100 * index, delivered(index)));
        let sample = collector_of(&plan, journeys).report().sample();
        sample.iter().map(|delivery| delivery.message.number.index()).collect()
    };
    let in_order = sampled(|index| 100 * index + 10);
    assert_eq!(in_order.len(), 5);
    assert_eq!(in_order, sampled(|index| 9_000 - index), "in reverse order");
}

#[test]
fn sample_holds_window_messages_in_creation_order() {
    let mut plan = plan(1, TIME);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let collector = collector_of(
        &plan,
        [journey(0, 50), journey(400, 5_000), journey(500, 600), journey(10_300, 10_400)],
    );
    let sample = collector.report().sample();
    let created: Vec<_> = sample.iter().map(|delivery| delivery.message.created.as_ps()).collect();
    assert_eq!(created, [400, 500]);
}

#[test]
fn take_messages_returns_each_message_once() {
    let mut plan = plan(1, TIME);
    plan.measure.messages = KeptMessages::All;
    let mut feed = Feed::new(&plan);
    let carry_one = |feed: &mut Feed, created| {
        let sample = journey(created, created + 10);
        let message = feed.create(&sample);
        feed.deliver(&sample, message);
    };
    carry_one(&mut feed, 0);
    carry_one(&mut feed, 20);
    assert_eq!(feed.collector.take_messages().len(), 2);
    carry_one(&mut feed, 40);
    let created: Vec<_> = feed
        .collector
        .take_messages()
        .iter()
        .map(|delivery| delivery.message.created.as_ps())
        .collect();
    assert_eq!(created, [40]);
    assert!(feed.collector.take_messages().is_empty());
}

#[test]
fn no_messages_are_kept_if_disabled() {
    let mut plan = plan(1, TIME);
    plan.measure.messages = KeptMessages::None;
    let mut collector = collector_of(&plan, [journey(400, 500)]);
    assert!(collector.report().sample().is_empty());
    assert!(collector.take_messages().is_empty());
    assert_eq!(collector.report().class(class()).followed_messages, 1);
}

#[test]
fn series_has_the_requested_steps() {
    let mut plan = plan(1, TIME);
    plan.measure.step = Some(Span::from_ps(3_000));
    let journeys = [
        journey(100, 2_999),
        journey(2_900, 3_000),
        journey(3_000, 10_000),
        journey(9_500, 10_239),
    ];
    let series = collector_of(&plan, journeys).report().series(class());
    let rows: Vec<_> = series
        .iter()
        .map(|step| {
            (step.from.as_ps(), step.to.as_ps(), step.created.messages, step.delivered.messages)
        })
        .collect();
    let expected =
        [(0, 3_000, 2, 1), (3_000, 6_000, 1, 1), (6_000, 9_000, 0, 0), (9_000, TIME, 1, 2)];
    assert_eq!(rows, expected, "the last step ends with the run");
    let means: Vec<_> = series.iter().map(|step| step.latency_mean_ps).collect();
    // (2,899 + 100) / 2; by creation.
    assert_eq!(means, [Some(1_499.5), Some(7_000.0), None, Some(739.0)]);
}

#[test]
fn series_without_step_uses_slices_of_the_whole_run() {
    let collector = collector_of(&plan(1, TIME), [journey(15, 25), journey(10_235, 10_300)]);
    let series = collector.report().series(class());
    assert_eq!(series.len(), 1_024);
    assert_eq!((series[1].from.as_ps(), series[1].to.as_ps()), (10, 20));
    assert_eq!((series[1].created.messages, series[2].delivered.messages), (1, 1));
    assert_eq!(series[1_023].latency_mean_ps, Some(65.0), "followed beyond the window");
    let mut late = plan(1, TIME);
    late.stop.warm_up = Some(Time::from_ps(TIME / 2));
    assert_eq!(collector_of(&late, []).report().series(class()).len(), 1_024);
}
