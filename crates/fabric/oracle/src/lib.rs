//! Oracle: a reference simulation of every flit or, in whole-packet networks, of every packet, with
//! a plain heap of events.
//!
//! The oracle is designed to be obviously correct, not fast. It follows `docs/concepts/timing.md`
//! almost sentence by sentence, and every engine must agree with it to the picosecond.
//!
//! ```text
//!   Plan ─► start ─ by kind of network ────┬► wormhole    slack buffers, STOP and GO
//!                                          ├► lanes       virtual lanes with credits
//!                                          └► packets     whole packets in input buffers
//! ```
//!
//! The oracle and the engines never import each other.

#[cfg(test)]
#[path = "../tests/common/mod.rs"]
mod common;
mod credit_wait;
mod endpoints;
mod in_flight;
mod lanes;
mod legs;
mod packets;
mod run;
mod timeline;
mod watched;
mod wormhole;

pub use endpoints::Audited;

use gingham_kernel::Time;
use gingham_net::{Plan, Run, Switching};
use run::{EventByEvent, Network};
use std::sync::Arc;

/// Run of a plan in the oracle.
pub trait Simulation: gingham_net::Simulation {
    /// Returns the time of the next event.
    fn next_time(&self) -> Option<Time>;

    /// Returns the number of audited decisions of one kind.
    fn audited(&self, family: Audited) -> u64;

    /// Schedules simultaneous events in random order from now on. The results must not change.
    fn shuffle_scheduling(&mut self, seed: u64);
}

/// Creates a run of `plan` at time zero.
pub fn start(plan: Arc<Plan>) -> Box<dyn Simulation> {
    match plan.switching.clone() {
        Switching::Wormhole(wormhole) => run(wormhole::Simulation::new(plan, wormhole)),
        Switching::VirtualLanes(pipeline) => run(lanes::Simulation::new(plan, pipeline)),
        Switching::Packets(packets) => run(packets::Simulation::new(plan, packets)),
    }
}

fn run(network: impl Network + 'static) -> Box<dyn Simulation> {
    Box::new(Run::new(EventByEvent(network)))
}
