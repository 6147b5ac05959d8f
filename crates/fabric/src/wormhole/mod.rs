//! Wormhole networks: exact, and much faster than following flits.
//!
//! Between two events nothing about a worm changes but its position. The engine follows runs of
//! flits: a run is (first start, period, count), a worm on a channel is a few runs, and the cost of a worm is a
//! handful of events a hop, whatever its length.
//!
//! ```text
//!   run       starts of flits as a few numbers
//!   excess    when a fill crosses a mark, from the runs that come in and go out
//!   state     the two ends of a channel
//!   flow      schedules flits as far as is known, and takes back what cannot be
//!   arbiter   who requests an output, and whose turn is next
//!   switch    headers, requests, grants, releases
//!   link      STOP and GO
//!   counts    what channels carried, and how full buffers were
//!   hosts     messages become worms and arrive
//!   transit   hosts send on what is on its way, and host_port stops what they have no room for
//!   event     a worm's life, drawn
//! ```
//!
//! Invariants: every delivery happens at the picosecond at which the oracle has it; what has started is
//! never changed.

mod arbiter;
mod counts;
mod event;
mod excess;
mod flow;
mod host_port;
mod hosts;
mod link;
mod run;
mod simulation;
mod state;
mod switch;
mod transit;
mod worm;

pub use simulation::Simulation;
