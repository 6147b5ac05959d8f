//! Messages of the window are followed to their delivery; later ones are counted as censored.

use crate::feed::{Feed, class, collector_of, journey, plan};
use gingham_kernel::{Span, Time};
use gingham_net::measure::Count;

/// 1,024 slices of 10 ps, 64 sections of 160 ps; followed up to 11,264 ps.
const TIME: u64 = 10_240;

fn messages(messages: u64) -> Count {
    Count { messages, bytes: 100 * messages }
}

#[test]
fn messages_are_counted_by_their_place_in_the_window() {
    let mut plan = plan(1, TIME);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let collector = collector_of(
        &plan,
        [
            journey(10, 300),        // all in the warm-up
            journey(310, 900),       // delivered in the window
            journey(320, 720),       // all in the window
            journey(5_000, 10_239),  // delivered in the last instant of the window
            journey(5_001, 10_240),  // created in the window and followed
            journey(10_239, 10_500), // created in its last instant and followed
            journey(10_240, 10_400), // created after it
        ],
    );
    let of = collector.report().class(class());
    assert_eq!((of.created, of.followed_messages), (messages(4), 4));
    assert_eq!(of.delivered, messages(3), "at 900, 720 and 10,239");
    // Payload, three bytes, and one route byte each.
    assert_eq!(of.delivered_wire_bytes, 3 * 104);
    let latencies = [400, 5_239, 5_239, 261];
    let mean = f64::from(latencies.iter().sum::<u32>()) / 4.0;
    assert!((of.latency_ps.unwrap().mean - mean).abs() < 1e-9);
    assert_eq!(of.latency_max, Some(Span::from_ps(5_239)));
    assert!((of.hops.unwrap().mean - 1.0).abs() < 1e-12);
    // The run ends with the section of the last delivery of the window; a section takes 160 ps.
    assert!(collector.is_complete());
    assert_eq!(collector.end(), Time::from_ps(10_560));
    assert_eq!((collector.created_messages(), collector.in_flight_messages()), (7, 0));
}

#[test]
fn network_latency_starts_at_network_entry() {
    let mut late = journey(100, 900);
    late.entered = 700;
    let of = collector_of(&plan(1, TIME), [late]).report().class(class());
    assert!((of.network_latency_ps.unwrap().mean - 200.0).abs() < 1e-9);
    assert!((of.latency_ps.unwrap().mean - 800.0).abs() < 1e-9);
}

#[test]
fn head_latency_ends_at_head_arrival() {
    let mut late = journey(100, 900);
    (late.entered, late.head_arrived) = (700, 760);
    let of = collector_of(&plan(1, TIME), [late, journey(1_000, 1_010)]).report().class(class());
    assert!((of.head_latency_ps.unwrap().mean - f64::midpoint(60.0, 10.0)).abs() < 1e-9);
    assert!((of.network_latency_ps.unwrap().mean - f64::midpoint(200.0, 10.0)).abs() < 1e-9);
}

#[test]
fn late_messages_are_censored() {
    let journeys =
        [journey(100, 200), journey(300, 11_264), journey(400, 11_265), journey(500, 90_000)];
    let collector = collector_of(&plan(1, TIME), journeys);
    let of = collector.report().class(class());
    assert_eq!(
        (of.followed_messages, of.censored_messages()),
        (2, 2),
        "11,264 ps is the last instant"
    );
    assert!(!collector.is_complete());
    assert_eq!(collector.end(), Time::from_ps(11_264));
}

#[test]
fn run_ends_with_the_window_if_nothing_is_in_flight() {
    let collector = collector_of(&plan(1, TIME), [journey(100, 10_000)]);
    assert!(collector.is_complete());
    assert_eq!(collector.end(), Time::from_ps(TIME));
}

#[test]
fn running_measurement_reports_completed_sections() {
    let mut feed = Feed::new(&plan(1, TIME));
    for start in [10, 170, 330] {
        let sample = journey(start, start + 100);
        let message = feed.create(&sample);
        feed.deliver(&sample, message);
    }
    let measured = feed.collector.report();
    assert_eq!(measured.window().end, Time::from_ps(320), "two sections have ended at 430 ps");
    assert_eq!(measured.class(class()).created, messages(2));
    assert_eq!(feed.collector.end(), Time::from_ps(11_264));
    let empty = Feed::new(&plan(1, TIME)).collector;
    let of = empty.report().class(class());
    assert_eq!((of.latency_ps, of.accepted_bytes_per_ps, of.latency_max), (None, None, None));
    assert!(!of.is_saturated());
}

#[test]
fn growing_backlog_is_saturation_but_constant_delay_is_not() {
    let time = 1 << 24;
    let at = |index: u64| index * (time / 4_000);
    // Delivery at 1.05 times the instant of creation, or a twentieth of the run after it.
    let behind = (0..4_000).map(|index| journey(at(index), at(index) * 105 / 100 + 1));
    let delayed = (0..4_000).map(|index| journey(at(index), at(index) + time / 20));
    assert!(collector_of(&plan(1, time), behind).report().class(class()).is_saturated());
    assert!(!collector_of(&plan(1, time), delayed).report().class(class()).is_saturated());
}

#[test]
fn dropped_message_is_neither_followed_nor_censored() {
    let mut feed = Feed::new(&plan(1, TIME));
    let sample = journey(100, 200);
    let message = feed.create(&sample);
    feed.deliver(&sample, message);
    let dropped = feed.create(&journey(300, 0));
    feed.collector.on_dropped(&dropped);
    feed.end_sections(u64::MAX);
    let of = feed.collector.report().class(class());
    assert_eq!((of.created, of.dropped), (messages(2), messages(1)));
    assert_eq!((of.followed_messages, of.censored_messages()), (1, 0));
    assert!(feed.collector.is_complete(), "nothing is left to follow");
    assert_eq!(
        (feed.collector.end(), feed.collector.in_flight_messages()),
        (Time::from_ps(TIME), 0)
    );
}

#[test]
fn dropped_messages_cause_no_saturation() {
    let time = 1 << 24;
    let mut feed = Feed::new(&plan(1, time));
    for index in 0..4_000 {
        let sample = journey(index * (time / 4_000), index * (time / 4_000) + 1);
        let message = feed.create(&sample);
        if index % 2 == 0 {
            feed.deliver(&sample, message);
        } else {
            feed.collector.on_dropped(&message);
        }
    }
    feed.end_sections(u64::MAX);
    let of = feed.collector.report().class(class());
    assert_eq!((of.created.messages, of.dropped.messages), (4_000, 2_000));
    assert!(!of.is_saturated());
}
