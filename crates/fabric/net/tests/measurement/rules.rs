//! End of the window by stop rules, and the automatic warm-up.

use crate::feed::{Journey, class, collector_of, journey, plan};
use gingham_kernel::{Span, Time};
use gingham_net::measure::{Collector, WarmUp, Window};
use gingham_net::traffic::{
    ArrivalPlan, DestinationPlan, DrawnPlan, LaterPlan, LengthPlan, MessagePlan, SourcePlan,
};
use gingham_net::{ClassId, Plan, Quantity};
use gingham_topology::EndpointId;

/// 1,024 slices of 10 ps, 64 sections of 160 ps.
const TIME: u64 = 10_240;

fn every_slice(latency: impl Fn(u64) -> u64) -> impl Iterator<Item = Journey> {
    (0..1_200).map(move |index| journey(10 * index, 10 * index + latency(index)))
}

fn window(plan: &Plan, journeys: impl IntoIterator<Item = Journey>) -> (Window, Collector) {
    let collector = collector_of(plan, journeys);
    (collector.report().window(), collector)
}

#[test]
fn message_limit_ends_the_window_at_a_section_end() {
    let mut plan = plan(1, TIME);
    plan.stop.messages = Some(40);
    // Sixteen messages per section, each delivered after 15 ps: at 480 ps, the end of the third
    // section, the last two are in flight; at 640 ps there are 40 in the first three.
    let (end, collector) = window(&plan, every_slice(|_| 15));
    assert_eq!(end.end, Time::from_ps(480));
    assert_eq!(collector.report().class(class()).followed_messages, 48);
    assert!(collector.is_complete());
    assert_eq!(collector.end(), Time::from_ps(640), "nothing is left to follow");
}

#[test]
fn straggler_delays_the_message_limit() {
    let mut plan = plan(1, TIME);
    plan.stop.messages = Some(40);
    // The message of 200 ps arrives at 2,000 ps, in the section that ends at 2,080.
    let (end, _) = window(&plan, every_slice(|index| if index == 20 { 1_800 } else { 5 }));
    assert_eq!(end.end, Time::from_ps(2_080));
}

/// 2^20 ps in 1,024 slices of 1,024 ps.
const LONG: u64 = 1 << 20;

fn four_a_slice(latency: impl Fn(u64) -> u64) -> impl Iterator<Item = Journey> {
    (0..5_000).map(move |index| journey(256 * index, 256 * index + latency(index)))
}

#[test]
fn relative_width_must_hold_twice_to_end_the_window() {
    let mut plan = plan(1, LONG << 11);
    plan.stop.relative_width = Some(0.01);
    // Nothing varies. Slices of 2^20 ps, 4,096 messages each: narrow with 32 sections, and again
    // with 64.
    let (end, collector) =
        window(&plan, (0..5_000_000).map(|index| journey(256 * index, 256 * index + 5)));
    assert_eq!(end.end, Time::from_ps(1 << 30));
    assert!(collector.report().is_narrow_enough());
}

#[test]
fn unreached_relative_width_ends_with_the_run() {
    let mut plan = plan(1, LONG);
    plan.stop.relative_width = Some(0.01);
    let (end, collector) =
        window(&plan, four_a_slice(|index| if index / 64 % 2 == 0 { 5 } else { 100 }));
    assert_eq!(end.end, Time::from_ps(LONG));
    assert!(!collector.report().is_narrow_enough());
}

#[test]
fn relative_width_must_hold_for_every_class() {
    let mut plan = plan(2, LONG);
    plan.stop.relative_width = Some(0.01);
    for (second_from, narrow) in [(0, true), (4_000, false)] {
        let second = |index: u64| usize::from(index > second_from && index.is_multiple_of(2));
        let journeys = four_a_slice(|_| 5)
            .zip(0..)
            .map(|(sample, index)| Journey { class: ClassId::new(second(index)), ..sample });
        let (_, collector) = window(&plan, journeys);
        assert_eq!(collector.report().is_narrow_enough(), narrow, "{second_from}");
    }
}

#[test]
fn accepted_load_does_not_wait_for_stragglers() {
    let time = 1 << 31;
    let mut plan = plan(1, time);
    plan.stop.relative_width = Some(0.01);
    plan.stop.quantity = Quantity::AcceptedLoad;
    // 64 messages per section; one of the second section takes until 1.5 x 2^30 ps.
    let straggler = |index: u64| if index == 100 { 3 << 29 } else { 1 };
    let journeys =
        || (0..9_000).map(|index| journey(index << 18, (index << 18) + straggler(index)));
    let (end, collector) = window(&plan, journeys());
    assert_eq!(end.end, Time::from_ps(1 << 30), "narrow with 32 and with 64 sections of 2^24 ps");
    assert_eq!(collector.report().class(class()).censored_messages(), 1);
    assert_eq!(collector.end(), Time::from_ps((1 << 30) + time / 10));
    plan.stop.quantity = Quantity::Latency;
    assert_eq!(window(&plan, journeys()).0.end, Time::from_ps(time));
}

#[test]
fn warm_up_ends_at_the_section_end_after_the_transient() {
    let mut plan = plan(1, TIME);
    plan.stop.warm_up = None;
    // 205 groups of five slices; the first 40, 2,000 ps, are far above the alternating others.
    let latency = |index: u64| if index < 200 { 90 } else { 5 + index / 5 % 2 };
    let (found, _) = window(&plan, every_slice(latency));
    assert_eq!((found.start, found.warm_up), (Time::from_ps(2_080), WarmUp::Found));
}

#[test]
fn slowest_class_determines_the_warm_up() {
    let mut plan = plan(3, TIME);
    plan.stop.warm_up = None;
    // Two classes alternate, ten slices each; the second is steady after 100 messages, at 3,000 ps.
    let journeys = every_slice(|_| 0).zip(0..1_024).map(|(sample, index)| {
        let second = index / 10 % 2 == 1;
        let first_ones = if second { 300 } else { 60 };
        let latency = if index < first_ones { 90 } else { 5 + index / 5 % 2 };
        Journey {
            class: ClassId::new(usize::from(second)),
            delivered: sample.created + latency,
            ..sample
        }
    });
    let (found, _) = window(&plan, journeys);
    assert_eq!((found.start, found.warm_up), (Time::from_ps(3_040), WarmUp::Found));
}

#[test]
fn window_begins_after_every_class_has_started() {
    let mut plan = plan(2, TIME);
    plan.stop.warm_up = None;
    plan.classes[1].active.start = Time::from_ps(2_000);
    let (found, _) = window(&plan, every_slice(|index| 5 + index / 5 % 2));
    assert_eq!((found.start, found.warm_up), (Time::from_ps(2_080), WarmUp::Found));
}

#[test]
fn window_begins_after_every_source_may_have_started() {
    let mut plan = plan(2, TIME);
    plan.stop.warm_up = None;
    let destinations = DestinationPlan::Fixed(EndpointId::new(1));
    let (arrivals, lengths) = (ArrivalPlan::Backlogged, LengthPlan::Fixed(64));
    for (turn, jitter) in [(0, 0), (1_500, 500)] {
        let later = LaterPlan { turn: Span::from_ps(turn), jitter: Span::from_ps(jitter) };
        let (lengths, destinations) = (lengths.clone(), destinations.clone());
        let drawn = DrawnPlan { later, arrivals, lengths, destinations };
        let messages = MessagePlan::Drawn(drawn);
        plan.classes[1].sources.push(SourcePlan { endpoint: EndpointId::new(0), messages });
    }
    let (found, _) = window(&plan, every_slice(|index| 5 + index / 5 % 2));
    assert_eq!((found.start, found.warm_up), (Time::from_ps(2_080), WarmUp::Found));
}

#[test]
fn stopped_class_does_not_affect_the_warm_up() {
    let mut plan = plan(2, TIME);
    plan.stop.warm_up = None;
    plan.classes[1].active.end = Time::from_ps(4_000);
    let journeys = every_slice(|_| 0).zip(0..1_024).map(|(sample, index)| {
        let second = index < 400 && index % 2 == 1;
        let latency = if second { 1 + index / 2 } else { 5 + index / 5 % 2 };
        Journey {
            class: ClassId::new(usize::from(second)),
            delivered: sample.created + latency,
            ..sample
        }
    });
    let (found, _) = window(&plan, journeys);
    assert_eq!((found.start, found.warm_up), (Time::ZERO, WarmUp::Found));
}

#[test]
fn growing_latency_is_too_short_and_ends_no_window() {
    let mut plan = plan(1, TIME);
    plan.stop.warm_up = None;
    plan.stop.messages = Some(10);
    let (found, _) = window(&plan, every_slice(|index| 1 + index / 2));
    assert_eq!(found.warm_up, WarmUp::TooShort);
    assert_eq!((found.start, found.end), (Time::from_ps(TIME / 2), Time::from_ps(TIME)));
}

#[test]
fn run_without_messages_has_no_warm_up() {
    let mut plan = plan(1, TIME);
    plan.stop.warm_up = None;
    let (found, collector) = window(&plan, []);
    assert_eq!((found.start, found.warm_up), (Time::ZERO, WarmUp::Found));
    assert_eq!(collector.report().class(class()).latency_ps, None);
}
