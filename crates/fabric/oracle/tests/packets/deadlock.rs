//! Deadlock: packets that wait for each other's buffers.

use crate::common::packets::{packets, packets_plan, sends};
use crate::common::{along, channel, stop_at};
use gingham_net::{Plan, Status};
use gingham_oracle::start;
use gingham_topology::routing::Buffer;
use gingham_topology::{Fabric, FabricBuilder, Guid, NodeKind};
use std::sync::Arc;

/// Switches in a ring, each with a host.
pub(crate) fn ring(count: usize) -> Fabric {
    let mut builder = FabricBuilder::new();
    let mut switch =
        |n: usize| builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(0x100 + n as u64), 8);
    let switches: Vec<_> = (0..count).map(&mut switch).collect();
    for (n, switch) in switches.iter().copied().enumerate() {
        let host = builder.add_plain(NodeKind::Host, &format!("h{n}"), Guid(0x200 + n as u64), 1);
        builder.join(host, switch).unwrap();
    }
    for n in 0..count {
        builder.join(switches[n], switches[(n + 1) % count]).unwrap();
    }
    builder.build()
}

/// Every host sends `count` packets of 64 bytes to the second host after it, in one direction,
/// through buffers of `held` packets.
pub(crate) fn around(held: u32, count: usize) -> Plan {
    let mut plan = packets_plan(ring(3), 1);
    along(
        &mut plan,
        &[&["s0", "s1", "s2", "h2"], &["s1", "s2", "s0", "h0"], &["s2", "s0", "s1", "h1"]],
    );
    packets(&mut plan, |packets| packets.buffer_blocks = [held; 16]);
    for host in 0..3 {
        sends(&mut plan, host, 0, &vec![(0, (host + 2) % 3, 64); count]);
    }
    plan.stop = stop_at(640_000);
    plan
}

pub(crate) fn ends_as(plan: Plan) -> Status {
    let mut simulation = start(Arc::new(plan));
    while *simulation.advance(1) == Status::Running {
        simulation.assert_invariants();
    }
    simulation.status().clone()
}

pub(crate) fn assert_tied(plan: Plan, channels: &[(&str, &str)]) {
    let buffer = |(from, to): &(&str, &str)| channel(&plan.fabric, from, to).into();
    let mut knot: Vec<Buffer> = channels.iter().map(buffer).collect();
    knot.sort_unstable();
    let Status::Deadlocked(cycle) = ends_as(plan) else { panic!("nothing can move") };
    let mut found = cycle.buffers;
    found.sort_unstable();
    assert_eq!(found, knot);
}

#[test]
fn single_packet_buffers_deadlock_a_ring() {
    // At 125 each switch sends a packet to the next. It is ready there at 250, and needs the buffer
    // with the next one's packet, which waits likewise.
    assert_tied(around(1, 1), &[("s0", "s1"), ("s1", "s2"), ("s2", "s0")]);
}

#[test]
fn second_buffer_place_prevents_the_deadlock() {
    // At 765 the channels are idle again, and the older packets, from the ring at 150, go first,
    // into the second place.
    assert_eq!(ends_as(around(2, 2)), Status::Finished);
}

#[test]
fn waiting_for_a_leaving_tail_is_no_deadlock() {
    // Straight ahead, through buffers of one packet, examined every 100 ps.
    let mut plan = packets_plan(ring(3), 1);
    packets(&mut plan, |packets| packets.buffer_blocks = [1; 16]);
    for host in 0..3 {
        sends(&mut plan, host, 0, &[(0, (host + 1) % 3, 64); 3]);
    }
    plan.stop = stop_at(64 * 100);
    assert_eq!(ends_as(plan), Status::Finished);
}
