//! Wormhole networks: exact, and much faster than a flit-by-flit simulation.
//!
//! Between two events, only the positions of worms change. The engine therefore works on runs of
//! equally spaced flits (first start, period, count). A worm consists of a few runs on each
//! channel, and costs a few events per hop, whatever its length.
//!
//! Invariants: every delivery happens at the same picosecond as in the oracle; a flit that has
//! started never changes.

mod arbiter;
mod clock;
mod event;
mod excess;
mod hosts;
mod links;
mod network;
mod run;
mod simulation;
mod switches;
mod worm;

pub(crate) use simulation::Simulation;
