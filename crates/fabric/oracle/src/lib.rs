//! The oracle: a reference simulation of every flit, or of every packet in networks of whole
//! packets, with a plain heap of events.
//!
//! It is meant to be obviously correct, not fast: it follows `docs/concepts/timing.md` almost
//! sentence by sentence, and every engine is compared with it to the picosecond.
//!
//! ```text
//!   Plan ─► start ─ by the kind of switch ─┬► wormhole    slack buffers, STOP and GO
//!                                          ├► lanes       virtual lanes with credits
//!                                          └► packets     whole packets in input buffers
//! ```
//!
//! The oracle never imports an engine, and no engine the oracle.

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

/// A run of a plan, simulated flit by flit.
pub trait Simulation: gingham_net::Simulation {
    /// Time of the next event.
    fn next_time(&self) -> Option<Time>;

    /// Number of decisions of a family that the audit has compared.
    fn audited(&self, family: Audited) -> u64;

    /// Schedules the events of each instant in a random order from now on, which must not change
    /// the results.
    fn shuffle_scheduling(&mut self, seed: u64);
}

/// Creates a run of `plan`, at time zero.
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
