//! End of a run: at its time, after delivery of all counted messages, with no messages left, or in
//! a deadlock.

use crate::common::{backlogged, quiet_plan, row, stop_at};
use gingham_kernel::{Span, Time};
use gingham_net::{Plan, Status};
use gingham_oracle::start;
use std::sync::Arc;

/// Five-flit worms over one switch, back to back; each is held there for 100 and takes 50: the k-th
/// is delivered at 210 + 150 k.
fn plan(stop_ps: u64, follow_ps: u64) -> Plan {
    let mut plan = quiet_plan(row(1, &[0, 0]));
    backlogged(&mut plan, 0, 1, 5);
    plan.stop = stop_at(stop_ps);
    plan.stop.follow = Span::from_ps(follow_ps);
    plan
}

/// Status, last instant, delivered messages, and messages left.
fn end_of(plan: Plan) -> (Status, u64, u64, u64) {
    let mut simulation = start(Arc::new(plan));
    let status = simulation.advance(u64::MAX).clone();
    simulation.assert_invariants();
    let collector = simulation.collector();
    (
        status,
        simulation.now().as_ps(),
        collector.delivered_messages(),
        collector.in_flight_messages(),
    )
}

#[test]
fn messages_created_in_the_window_are_followed() {
    // Five are created before 160: at the start, and with the worms at 0, 50, 100 and 150. The
    // fifth is delivered at 210 + 4 x 150 = 810, in a section of 16 ps that ends at 816.
    let (status, end, delivered, _) = end_of(plan(160, 10_000));
    assert_eq!((status, end, delivered), (Status::Ended, 816, 5));
}

#[test]
fn following_ends_at_its_time_limit() {
    let (status, end, delivered, left) = end_of(plan(160, 350));
    assert_eq!((status, end, delivered), (Status::Ended, 510, 3));
    assert!(left >= 2, "{left}");
}

#[test]
fn last_instant_is_processed_completely() {
    // The second delivery is that of 360.
    for (stop, delivered) in [(359, 1), (360, 2)] {
        assert_eq!(end_of(plan(stop, 0)).2, delivered, "stop at {stop}");
    }
}

#[test]
fn finished_run_lasts_its_full_time() {
    let mut plan = plan(5_000, 1_000);
    // Created at 0, 0 and 50; the worm that starts at 100 is outside the interval.
    plan.classes[0].active = Time::ZERO..Time::from_ps(100);
    assert_eq!(end_of(plan.clone()), (Status::Finished, 5_000, 3, 0));
    // A message still to create keeps the run from finishing.
    let mut later = plan.classes[0].clone();
    later.active = Time::from_ps(6_000)..Time::MAX;
    plan.classes.push(later);
    assert_eq!(end_of(plan), (Status::Ended, 5_000, 3, 0));
}
