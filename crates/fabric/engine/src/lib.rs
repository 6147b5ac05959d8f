//! Production engine: a fast simulation of flits and packets.
//!
//! ```text
//!   wormhole/     wormhole switching: runs of flits, with events only at changes
//!   lanes/        virtual lanes, tick by tick
//!   packets/      whole packets, one event per hop
//! ```
//!
//! Invariants: every delivery happens at the same picosecond as in the oracle; the engine never
//! imports the oracle.

mod bits;
mod lanes;
mod packed;
mod packets;
mod wormhole;

use gingham_net::{Plan, Run, Simulation, SteppedBy, Switching};
use std::sync::Arc;

/// Starts a run of `plan` at time zero.
pub fn start(plan: Arc<Plan>) -> Box<dyn Simulation> {
    match plan.switching.clone() {
        Switching::Wormhole(wormhole) => {
            Box::new(Run::new(wormhole::Simulation::new(plan, wormhole)))
        }
        Switching::VirtualLanes(pipeline) => lanes::start(plan, pipeline),
        Switching::Packets(packets) => Box::new(Run::new(packets::Simulation::new(plan, packets))),
    }
}

/// Reason why a stepper cannot run a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Scenario keys that probably caused the refusal, most likely first.
    pub keys: &'static [&'static str],
    /// Explanation for the user.
    pub because: &'static str,
}

/// Starts a virtual-lane run with the given stepper, or returns the reason why the stepper does not
/// support the plan.
pub fn start_by(plan: Arc<Plan>, by: SteppedBy) -> Result<Box<dyn Simulation>, Refusal> {
    match plan.switching.clone() {
        Switching::VirtualLanes(pipeline) => lanes::start_by(plan, pipeline, by),
        _ => Err(Refusal {
            keys: &["network.switching", "network.preset"],
            because: "network.preset is one without virtual lanes",
        }),
    }
}
