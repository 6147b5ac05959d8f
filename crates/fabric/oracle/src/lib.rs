//! The oracle: every flit by itself, every packet where none is cut into flits, in a plain heap of
//! events.
//!
//! It exists to be obviously right, not to be fast: what `docs/concepts/timing.md` says stands
//! here almost sentence by sentence, and every faster engine is compared with it to the
//! picosecond.
//!
//! ```text
//!   Plan ─► start ─ by the kind of switch ─┬► wormhole    slack buffers, STOP and GO
//!                                          ├► lanes       virtual lanes with credits
//!                                          └► packets     whole packets in input buffers
//! ```
//!
//! Each kind is a module that shares nothing with the others but `gingham-net`, with the driver of runs,
//! and how events, packets and waits for credits are kept (`run`, `timeline`, `under_way`,
//! `credit_wait`). The oracle never imports an engine, and no engine the oracle.

mod credit_wait;
mod lanes;
mod packets;
mod run;
mod timeline;
mod under_way;
mod watched;
mod wormhole;

use gingham_kernel::Time;
use gingham_net::{Plan, Run, Switching};
use run::{EventByEvent, Network};
use std::sync::Arc;

/// A run, flit by flit, of a plan.
pub trait Simulation: gingham_net::Simulation {
    /// When the next event happens.
    fn next_time(&self) -> Option<Time>;

    /// Schedules the events of each instant in a random order from now on, which must change
    /// nothing.
    fn shuffle_scheduling(&mut self, seed: u64);
}

/// A run of `plan`, at time zero.
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
