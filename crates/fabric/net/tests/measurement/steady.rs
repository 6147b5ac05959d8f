//! Steady state of a class: messages left behind, and trends over the window.

use crate::feed::{Journey, class, collector_of, journey, plan};
use gingham_kernel::Time;
use gingham_net::ClassId;
use gingham_net::measure::{ClassReport, WarmUp};

/// 1,024 slices of 10 ps, 64 sections of 160 ps: 21 batches of three sections, the first of four.
const TIME: u64 = 10_240;

fn found(latency: impl Fn(u64) -> u64) -> ClassReport {
    let journeys = (0..1_024).map(|index| journey(10 * index, 10 * index + latency(index)));
    collector_of(&plan(1, TIME), journeys).report().class(class())
}

fn assert_near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
}

#[test]
fn undelivered_messages_cause_saturation_and_backlog_trend() {
    let of = found(|index| if index % 4 == 3 { 2 * TIME } else { 5 });
    let left = of.left_behind.unwrap();
    assert_near(left.mean, 0.25);
    assert_eq!(left.half_width, Some(0.0), "all sections are alike");
    assert!(of.is_saturated());
    // After slice n there are (n + 1) / 4 in flight, 4 s + 28 / 16 in section s on average: 12 more
    // in each batch than in the one before, over 20 steps.
    assert_near(of.backlog_trend.unwrap(), 240.0 / (4.0 * 31.5 + 1.75));
    assert_eq!(of.latency_trend, None, "all that is delivered takes 5 ps");
}

#[test]
fn immediate_delivery_is_steady() {
    let of = found(|_| 5);
    assert_near(of.left_behind.unwrap().mean, 0.0);
    assert!(!of.is_saturated());
    assert_eq!((of.backlog_trend, of.latency_trend), (None, None));
}

#[test]
fn monotonic_latencies_have_a_trend() {
    // One more, or less, per section: three per batch, over 20 steps; 36.5 on average.
    let rising = found(|index| 5 + index / 16).latency_trend.unwrap();
    assert_near(rising, 60.0 / 36.5);
    let falling = found(|index| 68 - index / 16).latency_trend.unwrap();
    assert_near(falling, -60.0 / 36.5);
}

#[test]
fn class_with_few_messages_has_no_trend() {
    let few = (1..10).map(|index| journey(1_000 * index, 1_001 * index));
    let of = collector_of(&plan(1, TIME), few).report().class(class());
    assert_eq!((of.latency_trend, of.is_saturated()), (None, false));
    let of = collector_of(&plan(1, TIME), []).report().class(class());
    assert_eq!((of.left_behind, of.latency_trend, of.backlog_trend), (None, None, None));
    // Nineteen sections are too few for intervals, and therefore for saturation.
    let mut short = plan(1, TIME);
    short.stop.warm_up = Some(Time::from_ps(45 * 160));
    let behind = (0..1_024).map(|index| journey(10 * index, 20 * index));
    let of = collector_of(&short, behind).report().class(class());
    assert_eq!((of.left_behind.unwrap().half_width, of.is_saturated()), (None, false));
}

#[test]
fn unsettled_class_does_not_affect_other_classes() {
    let mut plan = plan(2, TIME);
    plan.stop.warm_up = None;
    plan.stop.messages = Some(10);
    let [steady, growing] = [0, 1].map(ClassId::new);
    let journeys = (0..1_024).map(|index| {
        let latency = if index % 2 == 1 { 1 + index / 2 } else { 5 + index / 10 % 2 };
        let sample = journey(10 * index, 10 * index + latency);
        Journey { class: if index % 2 == 1 { growing } else { steady }, ..sample }
    });
    let collector = collector_of(&plan, journeys);
    let report = collector.report();
    let beginning = |class| {
        let window = report.class_window(class);
        (window.start, window.warm_up)
    };
    assert_eq!(beginning(steady), (Time::ZERO, WarmUp::Found));
    assert_eq!(beginning(growing), (Time::from_ps(TIME / 2), WarmUp::TooShort));
    let window = report.window();
    assert_eq!((window.start, window.warm_up), (Time::ZERO, WarmUp::Found));
    assert_eq!(window.end, Time::from_ps(TIME));
    assert_eq!(report.class(steady).created.messages, 512);
    assert_eq!(report.class(growing).created.messages, 256);
}
