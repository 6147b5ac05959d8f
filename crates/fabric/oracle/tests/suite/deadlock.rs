//! Deadlock: found if present, in names that can be checked, and not found otherwise.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

use crate::common::{backlogged, quiet_plan, stop_at};
use gingham_kernel::Span;
use gingham_net::Plan;
use gingham_net::Status;
use gingham_oracle::start;
use gingham_topology::generate::{Generator, Ring};
use gingham_topology::routing::{Algorithm, Form, ShortestPath, route};
use gingham_topology::{FabricBuilder, Guid, NodeKind};
use std::sync::Arc;

/// Ring of five switches with a host each, which sends two switches onwards: shortest paths turn
/// one way, and each worm can hold a channel while it waits for the next.
fn ring(algorithm: &Algorithm, bytes: u32) -> Plan {
    let ring = Generator::Ring(Ring { switches: 5, hosts_per_switch: 1, rails: 1 });
    let mut plan = quiet_plan(ring.generate(1).unwrap());
    plan.routing.paths = vec![route(&plan.fabric, algorithm, Form::Source).unwrap()];
    for host in 0..5 {
        backlogged(&mut plan, host, (host + 2) % 5, bytes);
    }
    plan.stop = stop_at(10_000_000);
    plan
}

fn ends_as(plan: Plan) -> (Status, u64) {
    let mut simulation = start(Arc::new(plan));
    let status = simulation.advance(u64::MAX).clone();
    simulation.assert_invariants();
    (status, simulation.collector().delivered_messages())
}

#[test]
fn long_worms_deadlock_a_ring() {
    let (status, delivered) = ends_as(ring(&Algorithm::ShortestPath(ShortestPath::default()), 500));
    let Status::Deadlocked(cycle) = status else { panic!("ended as {status:?}") };
    assert_eq!(delivered, 0, "every worm blocks at its second switch");
    // The cycle visits all five switches: each input waits for an output to the next.
    assert!(cycle.buffers.len() >= 5, "{cycle:?}");
}

#[test]
fn up_down_avoids_the_ring_deadlock() {
    let up_down = Algorithm::UpDown(gingham_topology::routing::UpDown::default());
    let (status, delivered) = ends_as(ring(&up_down, 500));
    assert_eq!(status, Status::Ended);
    assert!(delivered > 100, "{delivered}");
}

#[test]
fn deadlock_is_found_after_the_window() {
    let mut plan = ring(&Algorithm::ShortestPath(ShortestPath::default()), 500);
    // The heads arrive at 35, after the window.
    plan.stop = stop_at(20);
    plan.stop.follow = Span::from_ps(10_000_000);
    let mut simulation = start(Arc::new(plan));
    let status = simulation.advance(u64::MAX);
    assert!(matches!(status, Status::Deadlocked(_)), "ended as {status:?}");
    // The first search after the worms have met: a 64th of the longest run.
    assert_eq!(simulation.now().as_ps(), 10_000_020 / 64);
}

#[test]
fn deadlock_is_independent_of_call_size() {
    let algorithm = Algorithm::ShortestPath(ShortestPath::default());
    let mut simulation = start(Arc::new(ring(&algorithm, 500)));
    while *simulation.advance(7) == Status::Running {}
    assert_eq!(*simulation.status(), ends_as(ring(&algorithm, 500)).0);
}

#[test]
fn local_deadlock_is_found_beside_other_traffic() {
    // The ring, with two talking hosts on a sixth switch.
    let mut builder = FabricBuilder::new();
    let switches: Vec<_> = (0..6_u64)
        .map(|n| builder.add_plain(NodeKind::Switch, &format!("s{n}"), Guid(0x100 + n), 8))
        .collect();
    for n in 0..5 {
        builder.join(switches[n], switches[(n + 1) % 5]).unwrap();
    }
    builder.join(switches[0], switches[5]).unwrap();
    for (n, switch) in [0, 1, 2, 3, 4, 5, 5].into_iter().enumerate() {
        let guid = Guid(0x200 + n as u64);
        let host = builder.add_plain(NodeKind::Host, &format!("h{n}"), guid, 1);
        builder.join(host, switches[switch]).unwrap();
    }
    let mut plan = quiet_plan(builder.build());
    let shortest = Algorithm::ShortestPath(ShortestPath::default());
    plan.routing.paths = vec![route(&plan.fabric, &shortest, Form::Source).unwrap()];
    for host in 0..5 {
        backlogged(&mut plan, host, (host + 2) % 5, 500);
    }
    backlogged(&mut plan, 5, 6, 50);
    backlogged(&mut plan, 6, 5, 50);
    plan.stop = stop_at(10_000_000);
    let (status, delivered) = ends_as(plan);
    let Status::Deadlocked(cycle) = status else { panic!("ended as {status:?}") };
    assert!(delivered > 100, "the others went on: {delivered}");
    assert!(cycle.buffers.len() >= 5, "{cycle:?}");
}
