//! Congestion trees over lanes.

use crate::common::{channel, stop_at};
use crate::deadlock::quiet_circle;
use crate::{lanes, packets, start};
use gingham_kernel::Span;
use gingham_net::Plan;
use gingham_topology::routing::{DatelineRule, Datelines, LaneSet, Lanes};
use std::sync::Arc;

/// Two packets past a dateline, on two lanes of three flits, examined at tick 100.
pub(crate) fn past_a_dateline(rule: DatelineRule) -> Plan {
    let mut plan = quiet_circle(2);
    lanes(&mut plan, |lanes| {
        lanes.depths_flits = [3; 16];
        lanes.routing_cycles = 30;
    });
    let datelines = Datelines::new(&plan.fabric, rule).unwrap();
    assert!(datelines.is_crossed_by(channel(&plan.fabric, "s4", "s0")));
    plan.lanes.allowed = Lanes::by_datelines(datelines, &[LaneSet::first_n(2)]);
    packets(&mut plan, 4, 1, &[(0, 3), (30, 3)]);
    plan.measure.tree_step = Some(Span::from_ps(1_000));
    plan.stop = stop_at(1_000);
    plan
}

/// Two packets of three flits, Q and P, go from h4 over s4, s0 and s1 to h1. From s4 to s0 is the
/// dateline, after which they are in the upper class, which has lane 1. Lane buffers hold three
/// flits, and routing lasts 30 cycles. By ticks:
///
/// ```text
///        there at s4   requests, given   on the link   there at s0   requests   on the link   there at s1   requests
///   Q    4             35                37 to 39      41            72         74 to 76      78 to 80      109
///   P    7             38                77 to 79      81            112
/// ```
///
/// P is granted the lane when Q's tail crosses s4, at 38. Credits for s0 count from 77 on, those
/// for s1 from 114 on. At 100 P is being routed and may take lane 1 to s1, which has no credit. Q
/// stands behind that and goes on to h1, which never blocks. Lane 0 has all its credits.
#[test]
fn head_past_a_dateline_waits_for_upper_class_lanes() {
    for rule in [DatelineRule::ByHop, DatelineRule::ByWrap] {
        let plan = past_a_dateline(rule);
        let [onward, root] =
            [["s0", "s1"], ["s1", "h1-0"]].map(|[from, to]| channel(&plan.fabric, from, to));
        let mut simulation = start(Arc::new(plan));
        simulation.advance(u64::MAX);
        let trees = simulation.collector().trees();
        let found: Vec<_> = trees.steps().iter().map(|tree| (tree.root, tree.branches)).collect();
        assert_eq!(found, [(Some(root), 1)], "{rule:?}");
        let branches = trees.channels().filter(|(_, roles)| roles.branch > 0);
        assert!(branches.map(|(channel, _)| channel).eq([onward]), "{rule:?}");
    }
}
