//! Order of notices at one instant.

use crate::common::lanes::lane_plan;
use crate::common::{channel, quiet_plan, row, scheduled, stop_at};
use crate::support::{run, window};
use gingham_net::Plan;

/// h0 and h1 send to h2 and h3 at once, with acknowledgements; h3 and h2, in this order, create a
/// message at `instant`.
fn crossed(mut plan: Plan, [bytes, ack]: [u32; 2], instant: u64) -> Plan {
    scheduled(&mut plan, 0, 2, &[(0, bytes)]);
    scheduled(&mut plan, 1, 3, &[(0, bytes)]);
    scheduled(&mut plan, 3, 1, &[(instant, bytes)]);
    scheduled(&mut plan, 2, 0, &[(instant, bytes)]);
    for class in &mut plan.classes[..2] {
        class.window = Some(window(1, ack));
    }
    plan.stop = stop_at(3_000);
    plan
}

#[test]
fn worm_notices_of_one_instant_are_ordered() {
    let plan = crossed(quiet_plan(row(1, &[0, 0, 0, 0])), [3, 2], 190);
    let into = |host| channel(&plan.fabric, host, "s0").index();
    let found = run(&plan);
    let of = |what| [(what, 0), (what, 1)];
    // Sources in their order, then packets that begin, in the order of hosts.
    assert_eq!(found.at(0), [of("created"), of("began")].concat());
    assert_eq!(found.at(35), [("read", into("h0")), ("read", into("h1"))]);
    // Messages are created, packets arrive, acknowledgements begin before messages.
    let at_190 = [("created", 2), ("created", 3)];
    let both = |what| [(what, 2), (what, 3)];
    assert_eq!(found.at(190), [at_190, both("received"), both("began")].concat());
    assert_eq!(found.at(210), [both("left"), both("began")].concat());
    assert_eq!(found.at(225), [("read", into("h2")), ("read", into("h3"))]);
    // Acknowledgements take 180; messages are read once these have left the switch.
    assert_eq!(found.at(370), of("received"));
}

#[test]
fn lane_notices_of_one_instant_are_ordered() {
    let plan = crossed(lane_plan(row(1, &[0, 0, 0, 0]), 1), [48, 16], 135);
    let into = |host| channel(&plan.fabric, host, "s0").index();
    let found = run(&plan);
    let of = |what| [(what, 0), (what, 1)];
    assert_eq!(found.at(0), [of("created"), of("began")].concat());
    // There at tick 4, and routed two ticks later.
    assert_eq!(found.at(60), [("read", into("h0")), ("read", into("h1"))]);
    let at_135 = [("created", 2), ("created", 3)];
    let both = |what| [(what, 2), (what, 3)];
    assert_eq!(found.at(135), [at_135, both("received")].concat());
    assert_eq!(found.at(140), both("began"));
    assert_eq!(found.at(150), [both("left"), both("began")].concat());
    assert_eq!(found.at(255), of("received"));
}
