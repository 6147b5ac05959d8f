//! The engine: what moves flits, fast.
//!
//! ```text
//!   wormhole/     runs of flits, with events where something changes
//!   lanes/        virtual lanes, tick by tick
//!   packets/      whole packets, an event a hop
//! ```
//!
//! `packed` is an event as one word, and `bits` is a set of ports.
//!
//! Invariants: every delivery happens at the picosecond at which the oracle has it; the engine
//! never imports the oracle.

mod bits;
mod lanes;
mod packed;
mod packets;
mod wormhole;

use gingham_net::{Plan, Run, Simulation, SteppedBy, Switching};
use std::sync::Arc;

/// A run of `plan`, at time zero.
pub fn start(plan: Arc<Plan>) -> Box<dyn Simulation> {
    match plan.switching.clone() {
        Switching::Wormhole(wormhole) => {
            Box::new(Run::new(wormhole::Simulation::new(plan, wormhole)))
        }
        Switching::VirtualLanes(pipeline) => lanes::start(plan, pipeline),
        Switching::Packets(packets) => Box::new(Run::new(packets::Simulation::new(plan, packets))),
    }
}

/// Why switches of a run are not stepped so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Keys of a scenario of which one stands against it, what it is most likely first.
    pub keys: &'static [&'static str],
    /// What does, in words.
    pub because: &'static str,
}

/// A run over virtual lanes whose switches are stepped so, whatever is faster. An error says why
/// they cannot be.
pub fn start_by(plan: Arc<Plan>, by: SteppedBy) -> Result<Box<dyn Simulation>, Refusal> {
    match plan.switching.clone() {
        Switching::VirtualLanes(pipeline) => lanes::start_by(plan, pipeline, by),
        _ => Err(Refusal {
            keys: &["network.switching", "network.preset"],
            because: "network.preset is one without virtual lanes",
        }),
    }
}
