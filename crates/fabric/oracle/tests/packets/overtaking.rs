//! Limits on the overtaking of packets.

use crate::common::packets::{cable_byte, overtaking, packets, packets_plan, sends};
use crate::common::{channel, deliveries, row, story};
use crate::last_starts;
use gingham_net::{Among, Arbitration, Plan, Read};

/// h0 has P behind X at a port that reads one packet at a time: X leaves by a slow cable from 125
/// to 2,125, P is ready at 1,125. h3 has one packet for the output of P ready at 1,135 and three
/// more every 100 ps, at a level.
fn behind_a_busy_port(at_most: u32, level: u8) -> Plan {
    let mut plan = packets_plan(row(1, &[0; 4]), 1);
    packets(&mut plan, |packets| packets.read = Read::One);
    overtaking(&mut plan, at_most, Among::SameOutput);
    let slow = channel(&plan.fabric, "s0", "h1");
    cable_byte(&mut plan, slow, 20);
    sends(&mut plan, 0, 0, &[(0, 1, 100), (0, 2, 10)]);
    sends(&mut plan, 3, level, &[(1_010, 2, 10); 4]);
    plan
}

/// Sources and starts of h2's packets.
fn to_h2(plan: &Plan) -> Vec<(usize, u64)> {
    let found = deliveries(plan.clone(), 6);
    let to_h2 = found.iter().filter(|delivery| delivery.message.destination.index() == 2);
    to_h2.map(story).map(|(source, _, head_arrived, _)| (source, head_arrived - 35)).collect()
}

#[test]
fn overtaking_limit_holds_back_later_packets() {
    let unbound = [(3, 1_135), (3, 1_235), (3, 1_335), (3, 1_435), (0, 2_125)];
    assert_eq!(to_h2(&behind_a_busy_port(u32::MAX, 0)), unbound);
    let twice = [(3, 1_135), (3, 1_235), (0, 2_125), (3, 2_225), (3, 2_325)];
    assert_eq!(to_h2(&behind_a_busy_port(2, 0)), twice);
    let never = [(0, 2_125), (3, 2_225), (3, 2_325), (3, 2_425), (3, 2_525)];
    assert_eq!(to_h2(&behind_a_busy_port(0, 0)), never);
}

#[test]
fn higher_priority_does_not_count_as_overtaking() {
    let mut plan = behind_a_busy_port(1, 1);
    packets(&mut plan, |packets| packets.arbitration = Arbitration::StrictPriority);
    let all = [(3, 1_135), (3, 1_235), (3, 1_335), (3, 1_435), (0, 2_125)];
    assert_eq!(to_h2(&plan), all);
}

/// h3 keeps the output of X busy from 125 to 1,125. h0 has X, ready at 135, then Y1, Y2, Y3 for
/// another output, ready at 235, 335, 435.
fn one_buffer(x: usize, y: usize) -> Plan {
    let mut plan = packets_plan(row(1, &[0; 5]), 1);
    sends(&mut plan, 3, 0, &[(0, x, 100)]);
    sends(&mut plan, 0, 0, &[(10, x, 10), (10, y, 10), (10, y, 10), (10, y, 10)]);
    plan
}

#[test]
fn same_output_rule_ignores_other_outputs() {
    let mut plan = one_buffer(1, 2);
    overtaking(&mut plan, 2, Among::SameOutput);
    let starts = last_starts(&plan, 5);
    assert_eq!(starts[..3], [(0, 235), (0, 335), (0, 435)]);
    assert_eq!(starts[4], (0, 1_125));
}

#[test]
fn any_output_rule_holds_back_the_buffer() {
    for (x, y) in [(1, 2), (2, 1)] {
        let mut plan = one_buffer(x, y);
        overtaking(&mut plan, 2, Among::AnyOutput);
        let mut starts = last_starts(&plan, 5);
        // Y1 and Y2 overtake X. Y3 starts with X, although its channel may have chosen before.
        assert!(channel(&plan.fabric, "s0", "h1") < channel(&plan.fabric, "s0", "h2"));
        starts.sort_unstable();
        assert_eq!(starts, [(0, 235), (0, 335), (0, 1_125), (0, 1_125), (3, 125)]);
    }
}

#[test]
fn held_back_packet_does_not_block_other_inputs() {
    let mut plan = one_buffer(1, 2);
    overtaking(&mut plan, 2, Among::AnyOutput);
    // Ready at 625, younger than Y3, which is held back.
    sends(&mut plan, 4, 0, &[(500, 2, 10); 3]);
    let starts = last_starts(&plan, 5);
    assert_eq!(starts, [(0, 235), (0, 335), (4, 625), (4, 725), (4, 825)]);
}
