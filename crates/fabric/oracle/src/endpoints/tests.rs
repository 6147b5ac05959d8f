//! Tests that the audit detects wrong decisions.

use super::*;
use crate::common::{quiet_plan, row, scheduled};
use gingham_kernel::Span;
use gingham_net::{Content, PathId, Priority, REFILL_BYTES, RateLimitPlan, SegmentationPlan};
use gingham_topology::routing::VcClass;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Rate limit of a flow, in ps per byte.
const PS_PER_BYTE: u64 = 100;
/// Earliest start of a flow's second packet if its first packet, of 32 bytes, starts at time zero.
const SECOND: Time = Time::from_ps(32 * PS_PER_BYTE);

fn h0() -> EndpointId {
    EndpointId::new(0)
}

/// Returns a plan with two messages from h0: 64 bytes to h1 in two packets, and 20 bytes to h2.
fn plan() -> Arc<Plan> {
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    scheduled(&mut plan, 0, 1, &[(0, 64)]);
    scheduled(&mut plan, 0, 2, &[(0, 20)]);
    let refill = Span::from_ps(PS_PER_BYTE * REFILL_BYTES);
    for class in &mut plan.classes {
        class.segmentation = SegmentationPlan::Fixed(32);
        class.rate_limit = Some(RateLimitPlan { refill: [refill; 3].into() });
    }
    Arc::new(plan)
}

fn with_messages() -> Endpoints {
    let mut endpoints = Endpoints::new(plan());
    while endpoints.next_order().is_some() {}
    for source in 0..2 {
        endpoints.notify(Time::ZERO, Notice::Created { source });
        while endpoints.next_order().is_some() {}
    }
    endpoints
}

fn is_detected(endpoints: &mut Endpoints, feed: impl FnOnce(&mut Audit)) -> bool {
    let audit = endpoints.audit.as_deref_mut().expect("the run has just begun");
    catch_unwind(AssertUnwindSafe(|| feed(audit))).is_err()
}

fn is_first_turn_detected(change: impl FnOnce(Packet) -> Turn) -> bool {
    let mut endpoints = with_messages();
    let Turn::Send(packet) = endpoints.machines.turn(h0(), 0, Time::ZERO) else {
        panic!("two messages wait")
    };
    let turn = change(packet);
    let is_detected = is_detected(&mut endpoints, |audit| audit.turn(h0(), 0, Time::ZERO, turn));
    assert_eq!(endpoints.audited(Audited::Turn), u64::from(!is_detected));
    is_detected
}

#[test]
fn wrong_packet_is_detected() {
    assert!(!is_first_turn_detected(Turn::Send));
    assert!(is_first_turn_detected(|_| Turn::Nothing));
    assert!(is_first_turn_detected(|_| Turn::At(Time::from_ps(1))));
    let changes: [fn(Packet) -> Packet; 8] = [
        |packet| Packet { destination: EndpointId::new(2), ..packet },
        |packet| Packet { payload_bytes: packet.payload_bytes - 1, ..packet },
        |packet| Packet { path_id: PathId::ALTERNATIVE, ..packet },
        |packet| Packet { vc_class: VcClass(1), ..packet },
        |packet| Packet { priority: Priority::new(1).expect("a priority"), ..packet },
        |packet| Packet { is_first: false, ..packet },
        |packet| Packet { mark: true, ..packet },
        |packet| Packet { content: Content::Control, ..packet },
    ];
    for (number, change) in changes.into_iter().enumerate() {
        assert!(is_first_turn_detected(|packet| Turn::Send(change(packet))), "change {number}");
    }
}

#[test]
fn packet_of_another_flow_is_detected() {
    let mut endpoints = with_messages();
    let [first, second] = [0; 2].map(|group| endpoints.machines.turn(h0(), group, Time::ZERO));
    let (Turn::Send(of_first), Turn::Send(of_second)) = (first, second) else {
        panic!("both flows may send")
    };
    assert_ne!(of_first.flow, of_second.flow);
    assert!(is_detected(&mut endpoints, |audit| audit.turn(h0(), 0, Time::ZERO, second)));
}

#[test]
fn packet_at_the_wrong_time_is_detected() {
    for (begins, is_wrong) in [(SECOND, false), (Time::from_ps(SECOND.as_ps() - 1), true)] {
        let mut endpoints = with_messages();
        for _ in 0..2 {
            assert!(matches!(endpoints.turn(h0(), 0, Time::ZERO), Turn::Send(_)));
        }
        let turn = endpoints.machines.turn(h0(), 0, SECOND);
        assert!(matches!(turn, Turn::Send(_)));
        let is_detected = is_detected(&mut endpoints, |audit| audit.turn(h0(), 0, begins, turn));
        assert_eq!(is_detected, is_wrong);
    }
}

#[test]
fn wrong_or_missing_order_is_detected() {
    let create = |at| Order::CreateAt { source: 0, at: Time::from_ps(at) };
    let cases = [
        (Some(create(0)), false),
        (Some(create(1)), true),
        (Some(Order::Send { endpoint: h0() }), true),
        (None, true),
    ];
    for (order, is_wrong) in cases {
        let mut endpoints = Endpoints::new(plan());
        assert_eq!(
            is_detected(&mut endpoints, |audit| audit.carry_out(order)),
            is_wrong,
            "{order:?}"
        );
        let counted = u64::from(!is_wrong);
        assert_eq!(endpoints.audited(Audited::Order), counted, "{order:?}");
    }
}

#[test]
fn wrong_mark_is_detected() {
    for mark in [false, true] {
        let mut endpoints = with_messages();
        let Turn::Send(mut packet) = endpoints.turn(h0(), 0, Time::ZERO) else {
            panic!("two messages wait")
        };
        let tally = endpoints.tally.clone();
        let input = endpoints.machines.plan().fabric.endpoint_channel(h0());
        let is_detected = is_detected(&mut endpoints, |audit| {
            let read = Notice::Read { input, lane: 0, waiting_flits: 0, packet: &mut packet };
            let expected = audit.notice(Time::ZERO, &read);
            packet.mark = mark;
            tally.check_packet(Audited::Read, Time::ZERO, expected, &packet);
        });
        assert_eq!(is_detected, mark);
        assert_eq!(endpoints.audited(Audited::Read), u64::from(!mark));
    }
}
