//! Wormhole networks: exact, and much faster than simulating flit by flit.
//!
//! Between two events nothing about a worm changes except its position. The engine works on runs of
//! flits: a run is (first start, period, count), a worm on a channel is a few runs, and a worm
//! costs a handful of events per hop, whatever its length.
//!
//! ```text
//!   run         starts of flits as a few numbers
//!   excess      moment when a fill crosses a mark, from the arriving and departing runs
//!   links/      both ends of every channel: flits, marks, STOP and GO, counts
//!   switches    headers, requests, grants
//!   arbiter     requests for an output, and round robin
//!   hosts/      messages become worms and arrive; in-transit hosts
//!   worm        worms in flight
//!   network     state shared by switches and hosts
//!   event       phases of a worm's life
//!   clock       current time, and pending events
//!   simulation  the loop
//! ```
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
