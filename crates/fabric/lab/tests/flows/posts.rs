//! Channel adapters: credits, retried posts, DMA, drawn lanes. Worms of three flits over one cable
//! take 30 ps to leave and 55 to arrive.

use crate::common::lanes::{lane_plan, lanes, on_lanes};
use crate::common::{backlogged, chain, quiet_plan, scheduled, stop_at};
use crate::support::{Run, run};
use gingham_kernel::Span;
use gingham_net::{
    AdapterPlan, Credits, Delivery, DmaPlan, LaneChoice, Plan, Priority, REFILL_BYTES, Refused,
};
use gingham_topology::routing::{LaneSet, VcClass};

fn adapters(send_buffer: u32) -> Plan {
    let mut plan = quiet_plan(chain(0));
    plan.adapters = Some(AdapterPlan { send_buffer, dma: None, throttle: None });
    plan
}

fn retry(plan: &mut Plan, class: usize, after: u64) {
    plan.classes[class].post.refused = Refused::Retry(vec![Span::from_ps(after); 2].into());
}

fn posted(run: &Run, class: usize) -> Vec<[u64; 4]> {
    let of_class = |delivery: &&Delivery| delivery.message.class.index() == class;
    let instants = |of: &Delivery| [of.message.created, of.posted, of.entered, of.delivered];
    let found = run.deliveries.iter().filter(of_class);
    found.map(|delivery| instants(delivery).map(gingham_kernel::Time::as_ps)).collect()
}

/// Two credits: the third message is accepted as the first has left; from then on each is in the
/// adapter for two message times.
#[test]
fn posting_latency_grows_by_a_message_time_per_credit() {
    let mut plan = adapters(2);
    backlogged(&mut plan, 0, 1, 3);
    plan.stop = stop_at(1_000);
    let found = posted(&run(&plan), 0);
    let expected =
        [[0, 0, 0, 55], [0, 0, 30, 85], [0, 30, 60, 115], [30, 60, 90, 145], [60, 90, 120, 175]];
    assert_eq!(found[..5], expected);
    // Accepted when the message `credits` before it has left.
    for credits in [1, 5, 7] {
        plan.adapters = Some(AdapterPlan { send_buffer: credits, dma: None, throttle: None });
        for [_, posted, _, delivered] in &posted(&run(&plan), 0)[20..] {
            assert_eq!(delivered - posted, u64::from(credits) * 30 + 25, "{credits}");
        }
    }
}

/// The buffer holds one message, which leaves at 30. The second is posted at 0, 20 and 40, and
/// leaves at 70; the third every 20 up to 80. A message of a class that waits, created at 50, goes
/// at 70.
#[test]
fn refused_message_is_retried_at_its_phase() {
    let mut plan = adapters(1);
    scheduled(&mut plan, 0, 1, &[(0, 3), (0, 3), (0, 3)]);
    retry(&mut plan, 0, 20);
    plan.stop = stop_at(1_000);
    let found = run(&plan);
    assert_eq!(posted(&found, 0), [[0, 0, 0, 55], [0, 40, 40, 95], [0, 80, 80, 135]]);
    let mut simulation = gingham_engine::start(std::sync::Arc::new(plan.clone()));
    simulation.advance(u64::MAX);
    let refused = simulation.collector().refused_posts(gingham_net::ClassId::new(0));
    assert_eq!(refused, 2 + 4, "at 0 and 20, and at 0, 20, 40 and 60");
    // The waiting message takes the credit as it returns, at 70. The third is refused at 80, and
    // accepted at 100, since the other leaves exactly then.
    scheduled(&mut plan, 0, 1, &[(50, 3)]);
    let found = run(&plan);
    assert_eq!(posted(&found, 1), [[50, 70, 70, 125]]);
    assert_eq!(posted(&found, 0)[2], [0, 120, 120, 175]);
}

/// 7 ps and 5 a byte: 22 for each. At 22 a message of the higher level is copied before that of the
/// lower level, which arrived first; the link is busy until 52, and again until 82.
#[test]
fn copies_are_ordered_by_priority_then_arrival() {
    let mut plan = adapters(9);
    scheduled(&mut plan, 0, 1, &[(0, 3), (1, 3)]);
    scheduled(&mut plan, 0, 1, &[(2, 3)]);
    plan.classes[1].priority = Priority::new(1).unwrap();
    let (setup, refill) = (Span::from_ps(7), Span::from_ps(5 * REFILL_BYTES));
    plan.adapters =
        Some(AdapterPlan { send_buffer: 9, dma: Some(DmaPlan { setup, refill }), throttle: None });
    plan.stop = stop_at(1_000);
    let found = run(&plan);
    assert_eq!(posted(&found, 0), [[0, 0, 22, 77], [1, 1, 82, 137]]);
    assert_eq!(posted(&found, 1), [[2, 2, 52, 107]]);
}

#[test]
fn classes_with_own_credits_do_not_block_each_other() {
    let mut plan = adapters(2);
    scheduled(&mut plan, 0, 1, &[(0, 3), (0, 3)]);
    scheduled(&mut plan, 0, 1, &[(1, 3), (1, 3)]);
    scheduled(&mut plan, 0, 1, &[(2, 3), (2, 3)]);
    for class in [0, 1] {
        plan.classes[class].post.credits = Credits::OfClass([1, 1].into());
    }
    plan.classes[2].post.credits = Credits::Exempt;
    plan.stop = stop_at(1_000);
    let found = run(&plan);
    // Queued: the first message of each class with credits, and both of control without; at 30 and
    // 60, the second ones.
    assert_eq!(posted(&found, 0), [[0, 0, 0, 55], [0, 30, 120, 175]]);
    assert_eq!(posted(&found, 1), [[1, 1, 30, 85], [1, 60, 150, 205]]);
    assert_eq!(posted(&found, 2), [[2, 2, 60, 115], [2, 2, 90, 145]]);
}

/// No control is the credit scheme with one pool as large as the buffer.
#[test]
fn no_control_equals_one_pool_of_the_whole_buffer() {
    for credits in [1, 3, 20] {
        let mut plan = lane_plan(chain(2), 4);
        for messages in [[(0, 48), (0, 160), (35, 16)], [(0, 80), (10, 48), (500, 32)]] {
            scheduled(&mut plan, 0, 1, &messages);
        }
        plan.stop = stop_at(100_000);
        plan.adapters = Some(AdapterPlan { send_buffer: credits, dma: None, throttle: None });
        // One class, so that its pool is the pool of the host.
        plan.classes.truncate(1);
        let shared = run(&plan);
        plan.classes[0].post.credits = Credits::OfClass([credits; 2].into());
        plan.adapters = Some(AdapterPlan { send_buffer: 1_000, dma: None, throttle: None });
        assert_eq!(run(&plan).deliveries, shared.deliveries, "{credits}");
    }
}

#[test]
fn more_credits_than_lanes_change_no_delivery() {
    let deliveries = |credits| {
        let mut plan = lane_plan(chain(2), 3);
        // A single lane waits for its credits.
        lanes(&mut plan, |of| of.depths_flits = [2; 16]);
        for (from, to) in [(0, 1), (1, 0)] {
            backlogged(&mut plan, from, to, 80);
        }
        plan.stop = stop_at(50_000);
        plan.adapters = Some(AdapterPlan { send_buffer: credits, dma: None, throttle: None });
        let found = run(&plan).deliveries;
        found.iter().map(|of| (of.message.source, of.entered, of.delivered)).collect::<Vec<_>>()
    };
    let of_lanes = deliveries(3);
    assert!(of_lanes.len() > 100, "{}", of_lanes.len());
    assert!(deliveries(4) == of_lanes && deliveries(40) == of_lanes);
    assert!(deliveries(1) != of_lanes, "one message at a time waits for credits of its lane");
}

/// Each lane has a queue: eight messages go at once on two lanes.
#[test]
fn lanes_are_drawn_per_message_or_per_flow() {
    let lanes_of = |lane: fn(Box<[VcClass]>) -> LaneChoice| {
        let mut plan = lane_plan(chain(1), 2);
        scheduled(&mut plan, 0, 1, &[(0, 160); 32]);
        on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
        plan.classes[0].post.lane = lane([VcClass(0), VcClass(1)].into());
        plan.stop = stop_at(100_000);
        let found = run(&plan);
        let began = found.noted.iter().filter(|noted| noted.what == "began");
        let lane = |packet: gingham_net::Packet| packet.vc_class.0;
        began.filter_map(|noted| noted.packet.map(lane)).collect::<Vec<u8>>()
    };
    let drawn = lanes_of(LaneChoice::AtRandom);
    let ones = drawn.iter().map(|lane| u32::from(*lane)).sum::<u32>();
    assert!((6..=26).contains(&ones), "32 draws of a half: {ones}");
    let of_flow = lanes_of(LaneChoice::OfFlow);
    assert!(of_flow.iter().all(|lane| *lane == of_flow[0]), "{of_flow:?}");
}
