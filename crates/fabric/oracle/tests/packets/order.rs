//! Order of packets at a switch.

use crate::common::packets::{packets, packets_plan, sends};
use crate::common::row;
use crate::last_starts;
use gingham_net::{Arbitration, Plan};

/// h0 sends twice, the second time at a level, then h2 and h1; all to h3. There at 25 and 125, 75
/// and 85; ready 100 later.
fn three_senders(arbitration: Arbitration, level: u8) -> Plan {
    let mut plan = packets_plan(row(1, &[0, 0, 0, 0]), 1);
    packets(&mut plan, |packets| packets.arbitration = arbitration);
    sends(&mut plan, 0, 0, &[(0, 3, 10)]);
    sends(&mut plan, 0, level, &[(10, 3, 10)]);
    sends(&mut plan, 1, 0, &[(60, 3, 10)]);
    sends(&mut plan, 2, 0, &[(50, 3, 10)]);
    plan
}

#[test]
fn oldest_packet_goes_first() {
    let starts = last_starts(&three_senders(Arbitration::OldestFirst, 1), 4);
    assert_eq!(starts, [(0, 125), (2, 225), (1, 325), (0, 425)]);
}

#[test]
fn round_robin_goes_by_ports() {
    // The first turn is that of the port after h0's.
    let starts = last_starts(&three_senders(Arbitration::RoundRobin, 1), 4);
    assert_eq!(starts, [(0, 125), (1, 225), (2, 325), (0, 425)]);
}

#[test]
fn highest_level_then_oldest_goes_first() {
    let starts = last_starts(&three_senders(Arbitration::StrictPriority, 1), 4);
    assert_eq!(starts, [(0, 125), (0, 225), (2, 325), (1, 425)]);
    let starts = last_starts(&three_senders(Arbitration::StrictPriority, 0), 4);
    assert_eq!(starts, [(0, 125), (2, 225), (1, 325), (0, 425)]);
}

#[test]
fn lowest_port_breaks_ties_of_age() {
    let mut plan = packets_plan(row(1, &[0, 0, 0, 0]), 1);
    for host in [2, 0, 1] {
        sends(&mut plan, host, 0, &[(0, 3, 10)]);
    }
    assert_eq!(last_starts(&plan, 3), [(0, 125), (1, 225), (2, 325)]);
}

#[test]
fn round_robin_turn_is_one_packet_per_port() {
    let mut plan = packets_plan(row(1, &[0; 4]), 1);
    packets(&mut plan, |packets| packets.arbitration = Arbitration::RoundRobin);
    for host in 0..3 {
        sends(&mut plan, host, 0, &[(0, 3, 10); 3]);
    }
    let sources: Vec<usize> = last_starts(&plan, 9).into_iter().map(|(source, _)| source).collect();
    assert_eq!(sources, [0, 1, 2, 0, 1, 2, 0, 1, 2]);
}
