//! Wormhole networks: exact, and much faster than following flits.
//!
//! Between two events nothing about a worm changes but its position. The engine follows runs of
//! flits: a run is (first start, period, count), a worm on a channel is a few runs, and the cost of
//! a worm is a handful of events a hop, whatever its length.
//!
//! ```text
//!   run         starts of flits as a few numbers
//!   excess      when a fill crosses a mark, from the runs that come in and go out
//!   links/      both ends of every channel: flits, marks, STOP and GO, counts
//!   switches    headers, requests, grants
//!   arbiter     who requests an output, and who is next
//!   hosts/      messages become worms and arrive, and worms in transit go on
//!   worm        worms under way
//!   network     what switches and hosts work on
//!   event       a worm's life, drawn
//!   clock       the current instant, and the events to come
//!   simulation  the loop
//! ```
//!
//! Invariants: every delivery happens at the picosecond at which the oracle has it; what has
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
