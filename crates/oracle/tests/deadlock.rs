//! Deadlock: found when it is there, in names that can be checked, and not where it is not.

#![allow(clippy::unwrap_used, reason = "a run that cannot be set up has failed")]

mod common;

use common::{backlogged, quiet_plan};
use gingham_kernel::Time;
use gingham_model::Plan;
use gingham_model::Status;
use gingham_oracle::Simulation;
use gingham_topology::generate::{Generator, Ring};
use gingham_topology::routing::{Algorithm, Form, ShortestPath, route};
use std::sync::Arc;

/// A ring of five switches with a host each, every host sending two switches onwards: shortest paths
/// all turn the same way (three the other way round), and each worm can hold one channel while it waits for the next.
fn ring(algorithm: &Algorithm, bytes: u32) -> Plan {
    let ring = Generator::Ring(Ring { switches: 5, hosts_per_switch: 1 });
    let mut plan = quiet_plan(ring.generate(1).unwrap());
    plan.routes = route(&plan.fabric, algorithm, Form::Source).unwrap();
    for host in 0..5 {
        backlogged(&mut plan, host, (host + 2) % 5, bytes);
    }
    plan.end = Time::from_ps(10_000_000);
    plan
}

fn ends_as(plan: Plan) -> (Status, u64) {
    let mut simulation = Simulation::new(Arc::new(plan));
    let status = simulation.advance(u64::MAX).clone();
    simulation.assert_invariants();
    (status, simulation.ledger().followed_messages())
}

#[test]
fn long_worms_on_a_ring_wait_for_each_other_for_ever() {
    let (status, delivered) = ends_as(ring(&Algorithm::ShortestPath(ShortestPath {}), 500));
    let Status::Deadlocked(cycle) = status else { panic!("ended as {status:?}") };
    assert_eq!(delivered, 0, "every worm blocks at its second switch");
    // Each link in the circle: the input waits for an output that leads to the next switch or is
    // held for it; the circle visits all five switches.
    assert!(cycle.channels.len() >= 5, "{cycle:?}");
}

#[test]
fn the_same_traffic_flows_under_up_down() {
    let up_down = Algorithm::UpDown(gingham_topology::routing::UpDown::default());
    let (status, delivered) = ends_as(ring(&up_down, 500));
    assert_eq!(status, Status::Finished);
    assert!(delivered > 100, "{delivered}");
}

#[test]
fn a_deadlock_is_the_same_whatever_the_size_of_a_call() {
    let algorithm = Algorithm::ShortestPath(ShortestPath {});
    let mut simulation = Simulation::new(Arc::new(ring(&algorithm, 500)));
    while *simulation.advance(7) == Status::Running {}
    assert_eq!(*simulation.status(), ends_as(ring(&algorithm, 500)).0);
}
