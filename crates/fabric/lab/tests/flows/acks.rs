//! Acknowledgements and messages at the acknowledging host.
//!
//! h1 acknowledges data of h0 over one cable, and has messages of a plain class for h0.

use crate::common::lanes::{lane_plan, on_lanes};
use crate::common::{along, chain, in_transit, quiet_plan, row, stop_at};
use crate::support::{Kind, run, scheduled_to, window};
use gingham_net::{AckPlan, ClassPlan, Plan, Priority, WindowPlan};
use gingham_topology::routing::{LaneSet, VcClass};

fn change_ack(class: &mut ClassPlan, change: impl FnOnce(&mut AckPlan)) {
    let WindowPlan { ack, .. } = class.window.as_mut().unwrap();
    change(ack);
}

/// Worms in a window of one: h0 sends two of three bytes, acknowledged by two; h1 sends three of
/// four bytes. The arguments are the levels of h1's messages and acknowledgements.
fn worms(messages: u8, acks: u8) -> Plan {
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 3), (0, 1, 3)]);
    scheduled_to(&mut plan, 1, &[(0, 0, 4), (0, 0, 4), (0, 0, 4)]);
    plan.classes[0].window = Some(window(1, 2));
    change_ack(&mut plan.classes[0], |ack| ack.priority = Priority::new(acks).unwrap());
    plan.classes[1].priority = Priority::new(messages).unwrap();
    plan.stop = stop_at(3_000);
    plan
}

#[test]
fn ack_precedes_data_of_its_level_and_below() {
    // Data arrives at 55, within the second worm. The acknowledgement begins at 80, takes 45.
    for (messages, acks) in [(0, 0), (1, 1), (0, 1), (3, 7)] {
        let found = run(&worms(messages, acks));
        assert_eq!(found.began(1, Kind::Data), [0, 40, 100]);
        assert_eq!(found.began(1, Kind::Ack), [80, 180]);
        assert_eq!(found.began(0, Kind::Data), [0, 125]);
        assert_eq!(found.received(0, Kind::Ack), [125, 225]);
    }
}

#[test]
fn ack_waits_for_higher_levels() {
    // Until 120; the second data begins at 165 and arrives at 220.
    for (messages, acks) in [(1, 0), (7, 3)] {
        let found = run(&worms(messages, acks));
        assert_eq!(found.began(1, Kind::Data), [0, 40, 80]);
        assert_eq!(found.began(1, Kind::Ack), [120, 220]);
        assert_eq!(found.began(0, Kind::Data), [0, 165]);
        assert_eq!(found.received(0, Kind::Ack), [165, 265]);
    }
}

#[test]
fn acks_of_one_level_follow_data_arrival_order() {
    let mut plan = quiet_plan(chain(0));
    scheduled_to(&mut plan, 0, &[(0, 1, 1)]);
    scheduled_to(&mut plan, 0, &[(0, 1, 1)]);
    scheduled_to(&mut plan, 1, &[(0, 0, 9)]);
    plan.classes[0].window = Some(window(1, 5));
    plan.classes[1].window = Some(window(1, 2));
    plan.stop = stop_at(3_000);
    // Data arrives at 35 and 45; the link of h1 is free at 90. At a higher level the second
    // acknowledgement goes first.
    assert_eq!(run(&plan).received(0, Kind::Ack), [90 + 75, 140 + 45]);
    change_ack(&mut plan.classes[1], |ack| ack.priority = Priority::new(1).unwrap());
    assert_eq!(run(&plan).received(0, Kind::Ack), [90 + 45, 110 + 75]);
}

/// Packets: h0 sends two of three flits in a window of one, acknowledged by one flit on lane
/// `acks`; h1 sends one of eight flits on lane 0.
fn packets(acks: u8) -> Plan {
    let mut plan = lane_plan(chain(0), 2);
    scheduled_to(&mut plan, 0, &[(0, 1, 48), (0, 1, 48)]);
    scheduled_to(&mut plan, 1, &[(0, 0, 128)]);
    plan.classes[0].window = Some(window(1, 16));
    on_lanes(&mut plan, &[LaneSet::one(0), LaneSet::one(1)]);
    plan.classes[1].vc_class = Some(VcClass(0));
    let vc_class = Some(VcClass(acks));
    change_ack(&mut plan.classes[0], |ack| ack.vc_class = vc_class);
    plan.stop = stop_at(3_000);
    plan
}

#[test]
fn ack_on_a_shared_lane_waits_for_the_tail() {
    // Data arrives at 55. The last of eight flits is on the cable at tick 7: the acknowledgement
    // goes at tick 8 and arrives at 115; the next data begins at 120.
    let found = run(&packets(0));
    assert_eq!(found.began(1, Kind::Ack), [80, 180]);
    assert_eq!(found.received(0, Kind::Ack), [115, 215]);
    assert_eq!(found.began(0, Kind::Data), [0, 120]);
    assert_eq!(found.received(0, Kind::Data), [105]);
}

#[test]
fn ack_on_another_lane_goes_between_flits() {
    // At tick 6, the turn of lane 1: it arrives at 95, and the next data begins at 100 and arrives
    // at 155.
    let found = run(&packets(1));
    assert_eq!(found.began(1, Kind::Ack), [60, 160]);
    assert_eq!(found.received(0, Kind::Ack), [95, 195]);
    assert_eq!(found.began(0, Kind::Data), [0, 100]);
    assert_eq!(found.received(0, Kind::Data), [115]);
}

#[test]
fn in_transit_host_reinjects_before_it_acknowledges() {
    // h0 sends four bytes to h1 and, at 10, five to h2 over h1, ready there 100 after its head has
    // arrived.
    let mut plan = quiet_plan(row(1, &[0, 0, 0]));
    along(&mut plan, &[&["s0", "h1", "s0", "h2"]]);
    in_transit(&mut plan, [60, 40, 1_000]);
    scheduled_to(&mut plan, 0, &[(0, 1, 4)]);
    scheduled_to(&mut plan, 0, &[(10, 2, 5)]);
    scheduled_to(&mut plan, 1, &[(200, 0, 239)]);
    plan.classes[0].window = Some(window(1, 2));
    plan.stop = stop_at(6_000);
    // The first arrives at 200: its acknowledgement begins at once, and the message of h1 at 220,
    // until 2,610. Then the in-transit worm goes.
    let found = run(&plan);
    assert_eq!(found.began(1, Kind::Ack), [200]);
    assert_eq!(found.began(1, Kind::Data), [220]);
    assert_eq!(found.messages(1)[0].1, 40);
    // With the message there before, the acknowledgement waits for it and for the in-transit worm,
    // ready since 410: its head leaves the switch at 275, 100 behind the previous tail, and is at
    // h1 at 310. It is re-injected from 2,500 to 2,550.
    plan.classes.pop();
    scheduled_to(&mut plan, 1, &[(110, 0, 239)]);
    let found = run(&plan);
    assert_eq!(found.began(1, Kind::Data), [110]);
    assert_eq!(found.began(1, Kind::Ack), [2_550]);
}
