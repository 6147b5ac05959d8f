//! Results of flows: sums, times held back, fairness, and steps of followed flows.

use crate::feed::{Feed, Journey, class, journey, plan};
use gingham_kernel::{Span, Time};
use gingham_net::measure::{Count, HeldShares};
use gingham_net::{
    AckPlan, Acknowledged, ClassId, FlowId, FlowKey, FollowPlan, Hold, Plan, Priority, Response,
    WindowPlan,
};
use gingham_topology::EndpointId;

/// 1,024 slices of 10 ps, 64 sections of 160 ps; followed up to 11,264 ps.
const TIME: u64 = 10_240;

fn counted(classes: usize, time_ps: u64) -> Plan {
    let mut plan = plan(classes, time_ps);
    plan.measure.flows = true;
    plan
}

fn key(class: usize, source: usize) -> FlowKey {
    FlowKey {
        class: ClassId::new(class),
        source: EndpointId::new(source),
        destination: EndpointId::new(9),
        stream: None,
    }
}

/// Adds one flow of class 0 for each source, numbered like it.
fn with_flows(plan: &Plan, flows: usize) -> Feed {
    let mut feed = Feed::new(plan);
    for source in 0..flows {
        feed.collector.on_flow(FlowId::new(source), key(0, source));
    }
    feed
}

/// Journeys are in order of creation, and each is delivered before the next is created.
fn carry(feed: &mut Feed, flow: usize, sample: &Journey) {
    let message = feed.create_of(sample, Some(FlowId::new(flow)));
    feed.deliver(sample, message);
}

fn messages(messages: u64) -> Count {
    Count { messages, bytes: 100 * messages }
}

fn close(found: f64, expected: f64) -> bool {
    (found - expected).abs() < 1e-9
}

fn shares(held: HeldShares) -> [f64; 3] {
    [Hold::Window, Hold::RateLimit, Hold::Tokens].map(|hold| held.of(hold))
}

#[test]
fn flow_counts_messages_created_and_delivered_in_the_window() {
    let mut plan = counted(1, TIME);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let mut feed = with_flows(&plan, 3);
    carry(&mut feed, 1, &journey(10, 300)); // all in the warm-up
    carry(&mut feed, 0, &journey(310, 900)); // delivered in the window
    carry(&mut feed, 0, &journey(1_000, 1_400)); // all in the window
    carry(&mut feed, 0, &journey(5_001, 10_240)); // created in the window and followed
    carry(&mut feed, 0, &journey(10_250, 10_260)); // created after it
    let flows = feed.collector.report().flows();
    assert_eq!(flows.len(), 1, "flow 1 had ended with the warm-up, and flow 2 never began");
    assert_eq!(flows[0].key, key(0, 0));
    assert_eq!((flows[0].created, flows[0].delivered), (messages(2), messages(2)));
    assert!(close(flows[0].accepted_bytes_per_ps.mean, 200.0 / 9_920.0));
    // 400 and 5,239.
    assert!(close(flows[0].latency_mean_ps.unwrap(), 2_819.5));
    assert_eq!(flows[0].held, HeldShares::default());
}

#[test]
fn dropped_message_is_not_counted_as_created_by_its_flow() {
    let mut feed = with_flows(&counted(1, TIME), 1);
    carry(&mut feed, 0, &journey(100, 200));
    let dropped = feed.create_of(&journey(300, 0), Some(FlowId::new(0)));
    assert_eq!(feed.collector.report().flows_in_flight(class()), 1);
    feed.collector.on_dropped(&dropped);
    assert_eq!(feed.collector.report().flows_in_flight(class()), 0);
    feed.end_sections(u64::MAX);
    assert_eq!(feed.collector.report().flows()[0].created, messages(1));
}

#[test]
fn flow_interval_is_estimated_from_its_sections() {
    let mut feed = with_flows(&counted(1, TIME), 1);
    for section in 0..64 {
        let empty = [57, 58, 59, 63].contains(&section);
        if !empty {
            carry(&mut feed, 0, &journey(160 * section + 20, 160 * section + 30));
        }
    }
    feed.end_sections(u64::MAX);
    let found = feed.collector.report().flows()[0].accepted_bytes_per_ps;
    let of_class = feed.collector.report().class(class()).accepted_bytes_per_ps.unwrap();
    assert!(close(found.mean, 6_000.0 / 10_240.0));
    assert!(found.half_width.unwrap() > 0.0);
    assert_eq!(found, of_class, "a class of one flow is that flow");
}

#[test]
fn blocked_time_is_clipped_to_the_window() {
    // The end of the run cuts the last section short.
    let mut plan = counted(1, 10_200);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let mut feed = with_flows(&plan, 2);
    carry(&mut feed, 0, &journey(0, 1_000));
    let hold = |feed: &mut Feed, flow, hold, from, to| {
        let [from, to] = [from, to].map(Time::from_ps);
        feed.collector.on_held(FlowId::new(flow), hold, from, to);
    };
    hold(&mut feed, 0, Hold::Window, 300, 420); // 100 in the window
    hold(&mut feed, 0, Hold::Window, 420, 712); // in two sections more
    hold(&mut feed, 0, Hold::RateLimit, 712, 960);
    hold(&mut feed, 0, Hold::Tokens, 10, 20);
    feed.end_sections(10_199);
    hold(&mut feed, 0, Hold::Tokens, 10_140, 20_000); // known ahead, beyond the run: 60 of it
    feed.end_sections(u64::MAX);
    hold(&mut feed, 0, Hold::Tokens, 10_300, 10_400); // after the window
    let report = feed.collector.report();
    let expected = [392.0 / 9_880.0, 248.0 / 9_880.0, 60.0 / 9_880.0];
    let found = shares(report.flows()[0].held);
    assert!(found.iter().zip(expected).all(|(found, expected)| close(*found, expected)));
    let of_class = report.class_flows(class()).unwrap();
    assert_eq!(of_class.used, 1, "a flow without a message was not used");
}

#[test]
fn flow_sums_survive_section_merging() {
    // 2^31 ps: 64 sections of 2^24 ps, then of 2^25. Messages 54 to 99 start in the second half: 54
    // x 20 million are 6,258,176 above 2^30.
    let mut plan = counted(1, 1 << 31);
    plan.stop.warm_up = Some(Time::from_ps(1 << 30));
    let mut feed = with_flows(&plan, 1);
    for index in 0..100_u64 {
        let at = index * 20_000_000;
        carry(&mut feed, 0, &journey(at, at + 1_000));
        let held = [at, at + 10_000_000].map(Time::from_ps);
        feed.collector.on_held(FlowId::new(0), Hold::RateLimit, held[0], held[1]);
    }
    feed.end_sections(u64::MAX);
    let flow = feed.collector.report().flows()[0];
    assert_eq!((flow.created, flow.delivered), (messages(46), messages(46)));
    assert!(close(flow.latency_mean_ps.unwrap(), 1_000.0));
    let expected = 46e7 / f64::from(1_u32 << 30);
    assert!(close(flow.held.of(Hold::RateLimit), expected));
}

#[test]
fn blocked_time_may_be_recorded_far_ahead() {
    // 64 sections of 2^24 ps, then of 2^25 and of 2^26; the window starts at 2^31 of 2^32 ps.
    let mut plan = counted(1, 1 << 32);
    plan.stop.warm_up = Some(Time::from_ps(1 << 31));
    let mut feed = with_flows(&plan, 1);
    let sample = journey(0, 3 << 30);
    let message = feed.create_of(&sample, Some(FlowId::new(0)));
    let [from, to] = [1_000, 3 << 30].map(Time::from_ps);
    feed.collector.on_held(FlowId::new(0), Hold::RateLimit, from, to);
    feed.deliver(&sample, message);
    feed.end_sections(u64::MAX);
    assert!(close(feed.collector.report().flows()[0].held.of(Hold::RateLimit), 0.5));
}

#[test]
fn blocked_time_recorded_ahead_may_have_several_causes() {
    // A packet over lanes starts after the tick that takes it: tokens hold it back beyond all
    // sections of 2^24 ps, and its rate limit the next one from there on.
    let mut plan = counted(1, 1 << 32);
    plan.stop.warm_up = Some(Time::ZERO);
    let mut feed = with_flows(&plan, 1);
    let sample = journey(0, 3 << 30);
    let message = feed.create_of(&sample, Some(FlowId::new(0)));
    let [from, turn, to] = [0, 5 << 28, 3 << 30].map(Time::from_ps);
    feed.collector.on_held(FlowId::new(0), Hold::RateLimit, turn, to);
    feed.collector.on_held(FlowId::new(0), Hold::Tokens, from, turn);
    feed.deliver(&sample, message);
    feed.end_sections(u64::MAX);
    let [window, rate_limit, tokens] = shares(feed.collector.report().flows()[0].held);
    assert!(window == 0.0 && close(rate_limit, 7.0 / 16.0) && close(tokens, 5.0 / 16.0));
}

/// Flows deliver these numbers of messages of 100 bytes in every section.
fn fairness_of(each: &[u64]) -> (f64, f64) {
    let mut feed = with_flows(&counted(1, TIME), each.len());
    for section in 0..64 {
        let from = 160 * section;
        for (flow, count) in each.iter().enumerate() {
            for _ in 0..*count {
                carry(&mut feed, flow, &journey(from, from + 1));
            }
        }
    }
    feed.end_sections(u64::MAX);
    let found = feed.collector.report().class_flows(class()).unwrap();
    assert_eq!(found.used, each.iter().filter(|count| **count > 0).count());
    let fairness = found.fairness.unwrap();
    (fairness.mean, fairness.half_width.unwrap())
}

#[test]
fn fairness_is_computed_from_delivered_messages() {
    for (each, expected) in [(&[2, 2, 2, 2][..], 1.0), (&[1, 2, 3], 6.0 / 7.0), (&[5, 0, 0], 1.0)] {
        let (mean, half_width) = fairness_of(each);
        assert!(close(mean, expected), "{each:?}: {mean}");
        assert!(half_width < 1e-9, "every section is the same: {half_width}");
    }
}

#[test]
fn starved_flow_lowers_fairness() {
    let mut feed = with_flows(&counted(1, TIME), 4);
    for flow in 0..3 {
        feed.create_of(&journey(0, 0), Some(FlowId::new(flow)));
    }
    carry(&mut feed, 3, &journey(1, 2));
    feed.end_sections(u64::MAX);
    let report = feed.collector.report();
    let found = report.class_flows(class()).unwrap();
    assert_eq!((found.used, report.flows().len()), (4, 4));
    let fairness = found.fairness.unwrap();
    assert!(close(fairness.mean, 0.25));
    assert_eq!(fairness.half_width, None, "one batch is too few for an interval");
    assert_eq!(report.flows_in_flight(class()), 3);
}

#[test]
fn equal_totals_are_fair_despite_unequal_sections() {
    // 40 flows deliver one message in every other section, half of them in even ones: 32 each, but
    // no section is fair. One flow has one more: 32 in 39, 33 in one.
    let mut feed = with_flows(&counted(1, TIME), 40);
    for section in 0..64_usize {
        let from = 160 * section as u64;
        for flow in (section % 2..40).step_by(2) {
            carry(&mut feed, flow, &journey(from, from + 1));
        }
    }
    carry(&mut feed, 7, &journey(10_239, 10_239));
    feed.end_sections(u64::MAX);
    let fairness = feed.collector.report().class_flows(class()).unwrap().fairness.unwrap();
    let expected = 1_281.0 * 1_281.0 / (40.0 * (39.0 * 1_024.0 + 1_089.0));
    assert!(close(fairness.mean, expected));
    assert!(1.0 - fairness.mean < fairness.half_width.unwrap(), "{fairness:?}");
}

#[test]
fn flows_are_counted_only_for_classes_that_need_it() {
    let ack = AckPlan { payload_bytes: 20, priority: Priority::default(), vc_class: None };
    let mut plan = plan(3, TIME);
    plan.classes[1].window = Some(WindowPlan {
        packets: 4,
        acknowledged: Acknowledged::All,
        ack,
        response: Response::default(),
    });
    plan.follow = FollowPlan {
        flows: vec![key(2, 1)],
        channels: Vec::new(),
        step: Span::from_ps(1_000),
        window_steps: 1,
    };
    let mut feed = Feed::new(&plan);
    for class in 0..3 {
        feed.collector.on_flow(FlowId::new(class), key(class, 0));
        let mut sample = journey(0, 100);
        sample.class = ClassId::new(class);
        carry(&mut feed, class, &sample);
    }
    feed.end_sections(u64::MAX);
    let report = feed.collector.report();
    let keys: Vec<_> = report.flows().iter().map(|flow| flow.key).collect();
    assert_eq!(keys, [key(1, 0), key(2, 0)]);
    assert_eq!(report.class_flows(ClassId::new(0)), None);
    assert!(report.class_flows(ClassId::new(1)).is_some());
}

#[test]
fn flows_are_reported_by_class_source_and_destination() {
    let mut feed = Feed::new(&counted(2, TIME));
    for (flow, (class, source)) in [(1, 0), (0, 5), (0, 2)].into_iter().enumerate() {
        feed.collector.on_flow(FlowId::new(flow), key(class, source));
        carry(&mut feed, flow, &journey(flow as u64, 100));
    }
    feed.end_sections(u64::MAX);
    let keys: Vec<_> = feed.collector.report().flows().iter().map(|flow| flow.key).collect();
    assert_eq!(keys, [key(0, 2), key(0, 5), key(1, 0)]);
}

#[test]
fn marked_share_counts_acks_of_the_window() {
    let mut plan = counted(1, TIME);
    plan.stop.warm_up = Some(Time::from_ps(320));
    let mut feed = with_flows(&plan, 2);
    carry(&mut feed, 0, &journey(0, 1_000));
    carry(&mut feed, 1, &journey(0, 1_000));
    let acknowledged = |feed: &mut Feed, flow, at, marked| {
        feed.collector.on_acknowledged(FlowId::new(flow), 1, u32::from(marked), Time::from_ps(at));
    };
    assert_eq!(feed.collector.report().class_flows(class()).unwrap().marked_share, None);
    acknowledged(&mut feed, 0, 319, true); // in the warm-up
    for (at, marked) in [(320, true), (900, false), (901, false)] {
        acknowledged(&mut feed, 0, at, marked);
    }
    acknowledged(&mut feed, 1, 10_239, false);
    feed.end_sections(u64::MAX);
    acknowledged(&mut feed, 1, 10_240, true); // after the window
    let report = feed.collector.report();
    let found: Vec<_> = report
        .flows()
        .iter()
        .map(|flow| (flow.acknowledged_packets, flow.marked_packets))
        .collect();
    assert_eq!(found, [(3, 1), (1, 0)]);
    assert_eq!(report.class_flows(class()).unwrap().marked_share, Some(0.25));
}

#[test]
fn ack_queue_maximum_is_reported_per_class() {
    let mut feed = Feed::new(&counted(2, TIME));
    for (class, depth) in [(0, 1), (0, 3), (1, 9), (0, 2)] {
        feed.collector.on_ack_queue(ClassId::new(class), depth);
    }
    let most =
        |class| feed.collector.report().class_flows(ClassId::new(class)).unwrap().acks_waiting_max;
    assert_eq!((most(0), most(1)), (3, 9));
}

#[test]
fn followed_flow_is_reported_per_step() {
    let mut plan = plan(1, TIME);
    plan.follow = FollowPlan {
        flows: vec![key(0, 1), key(0, 4)],
        channels: Vec::new(),
        step: Span::from_ps(3_000),
        window_steps: 3,
    };
    let mut feed = with_flows(&plan, 2);
    carry(&mut feed, 0, &journey(0, 10)); // another flow
    carry(&mut feed, 1, &journey(100, 2_999));
    carry(&mut feed, 1, &journey(2_999, 3_000));
    feed.collector.on_held(
        FlowId::new(1),
        Hold::Window,
        Time::from_ps(2_400),
        Time::from_ps(4_500),
    );
    carry(&mut feed, 1, &journey(9_500, 10_239));
    feed.end_sections(u64::MAX);
    let series = feed.collector.report().flow_series();
    assert_eq!(series.iter().map(|flow| flow.key).collect::<Vec<_>>(), [key(0, 1), key(0, 4)]);
    let steps = &series[0].steps;
    let bounds: Vec<_> = steps.iter().map(|step| (step.from.as_ps(), step.to.as_ps())).collect();
    assert_eq!(bounds, [(0, 3_000), (3_000, 6_000), (6_000, 9_000), (9_000, TIME)]);
    let bytes: Vec<f64> = steps.iter().map(|step| step.own.accepted_bytes_per_ps).collect();
    let smoothed: Vec<f64> = steps.iter().map(|step| step.smoothed.accepted_bytes_per_ps).collect();
    let third = 100.0 / 3_000.0;
    assert_each(&bytes, &[third, third, 0.0, 100.0 / 1_240.0]);
    assert_each(&smoothed, &[200.0 / 6_000.0, 200.0 / 9_000.0, 200.0 / 7_240.0, 100.0 / 4_240.0]);
    let held: Vec<f64> = steps.iter().map(|step| step.own.held.of(Hold::Window)).collect();
    assert_each(&held, &[0.2, 0.5, 0.0, 0.0]);
    let held: Vec<f64> = steps.iter().map(|step| step.smoothed.held.of(Hold::Window)).collect();
    assert_each(&held, &[0.35, 2_100.0 / 9_000.0, 1_500.0 / 7_240.0, 0.0]);
    // By creation, weighted by messages.
    let latencies: Vec<_> = steps.iter().map(|step| step.own.latency_mean_ps).collect();
    assert_eq!(latencies, [Some(1_450.0), None, None, Some(739.0)]);
    let latencies: Vec<_> = steps.iter().map(|step| step.smoothed.latency_mean_ps).collect();
    assert_eq!(latencies, [Some(1_450.0), Some(1_450.0), Some(739.0), Some(739.0)]);
    let unused: Vec<f64> =
        series[1].steps.iter().map(|step| step.own.accepted_bytes_per_ps).collect();
    assert_each(&unused, &[0.0; 4]);
}

fn assert_each(found: &[f64], expected: &[f64]) {
    let is_close = found.iter().zip(expected).all(|(found, expected)| close(*found, *expected));
    assert!(is_close && found.len() == expected.len(), "{found:?}, not {expected:?}");
}

#[test]
fn messages_after_an_early_window_end_are_not_in_flight() {
    let mut plan = counted(1, TIME);
    plan.stop.messages = Some(1);
    let mut feed = with_flows(&plan, 2);
    let followed = feed.create_of(&journey(10, 500), Some(FlowId::new(0)));
    // In flight when the first arrives: the window ends with the section before it.
    feed.create_of(&journey(350, 0), Some(FlowId::new(1)));
    assert_eq!(feed.collector.report().flows_in_flight(class()), 2);
    feed.deliver(&journey(10, 500), followed);
    feed.end_sections(640);
    let report = feed.collector.report();
    assert_eq!(report.window().end, Time::from_ps(320));
    assert_eq!(report.flows_in_flight(class()), 0);
}
