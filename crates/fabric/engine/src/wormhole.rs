//! Wormhole networks: exact, and much faster than simulating flit by flit.
//!
//! Between two events nothing about a worm changes except its position. The engine works on runs of
//! flits: a run is (first start, period, count), a worm on a channel is a few runs, and a worm
//! costs a handful of events per hop, whatever its length.
//!
//! Invariants: every delivery happens at the same picosecond as in the oracle; a flit that has
//! started is never changed.

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
