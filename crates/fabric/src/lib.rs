//! The engine: what moves flits, fast.
//!
//! ```text
//!   simulation    a run of either switching kind, as whoever runs it sees it
//!   wormhole/     runs of flits, with events where something changes
//!   lanes/        virtual lanes, tick by tick
//! ```
//!
//! Invariants: every delivery happens at the picosecond at which the oracle has it; the engine never imports the oracle.

mod lanes;
mod simulation;
mod wormhole;

pub use lanes::Simulation as LaneSimulation;
pub use simulation::Simulation;
pub use wormhole::Simulation as WormholeSimulation;
