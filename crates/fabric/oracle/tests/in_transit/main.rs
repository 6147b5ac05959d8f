//! In-transit hosts, to the picosecond: a worm is re-injected while it still arrives.
//!
//! Most cases use one switch with four hosts: traffic to `h2` goes over `h1`.
//!
//! ```text
//!   h0 ──┐      ┌── h1 in transit          10 ps a flit, 25 ps a cable, 100 ps from the grant of an
//!        ├─ s0 ─┤                          output to the first flit; T_d + T_r = 60 + 40 ps
//!   h3 ──┘      └── h2
//! ```
//!
//! A worm of 5 that h0 begins at 0 is at s0 from 35 on, off at 135, at h1 from 170 to 210; ready at
//! 270, it is at s0 from 305 on, off at 405, at h2 from 440 to 480. In the comments a flit is *at*
//! a node when it is whole there, and *off* when it leaves a switch. A worm read at a switch at t
//! is at the next node at t + 135; if it leaves a host at t, it is at the next host at t + 170. The
//! comments leave these steps out.

#![allow(clippy::unwrap_used, reason = "a story that cannot be set up has failed")]

mod choice;
#[path = "../common/mod.rs"]
mod common;
mod lone;
mod pool;
mod stop;
mod turns;

use common::{along, in_transit, quiet_plan, row};
use gingham_net::Plan;
use gingham_net::measure::TransitReport;
use gingham_oracle::start;
use gingham_topology::EndpointId;
use std::sync::Arc;

/// `T_d` and `T_r`.
const DETECTION: u64 = 60;
const PROGRAMMING: u64 = 40;
/// Pool for all cases.
const POOL: u64 = 1_000;

fn over_h1() -> Plan {
    let mut plan = quiet_plan(row(1, &[0, 0, 0, 0]));
    along(&mut plan, &[&["s0", "h1", "s0", "h2"]]);
    in_transit(&mut plan, [DETECTION, PROGRAMMING, POOL]);
    plan
}

/// Counts of a host in a run.
fn measured(plan: Plan, host: usize) -> TransitReport {
    let mut simulation = start(Arc::new(plan));
    simulation.advance(u64::MAX);
    simulation.collector().report().transit(EndpointId::new(host))
}
