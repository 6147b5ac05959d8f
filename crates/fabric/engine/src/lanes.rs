//! Virtual-lane networks, stepped tick by tick: ports and lanes that cannot move cost nothing.
//!
//! ```text
//!   a tick   credits ─► link ─► crossbar ─► allocation ─► arrivals     before a tick: events between ticks
//! ```
//!
//! Flits are not objects. An input lane has a flit count and a queue of worms that own these flits.
//! An output lane has only a count: its worms are in the queue at the far end of its channel, in
//! the same order. One bit per lane shows whether the lane might move, and one bit per port whether
//! a stage must visit the port. Both steppers share hosts, worms in flight and counts.
//!
//! Stages run against the pipeline, from the link back to the buffers, and arrivals come last.
//! Rules about events *before this tick* therefore need no time stamps. Source: Yum et al. 2002,
//! section 3.1, as described in `docs/concepts/timing.md`.
//!
//! Invariants: every flit moves in the same tick as in the oracle; for each lane, the credits at
//! the sender or on the wire, and the flits on the wire or in the buffer, add up to the buffer
//! depth; flits cause no memory allocation.

mod allocation;
mod arbiters;
mod buffers;
mod clock;
mod columns;
mod context;
mod counts;
mod crossbar;
mod event;
mod hosts;
mod in_transit;
mod lane_matching;
mod layout;
mod links;
mod matching;
mod network;
mod queues;
mod requests;
mod ring;
mod simulation;
mod stepper;
mod switches;
mod view;
mod waiters;
mod waits;
mod worms;

pub(crate) use simulation::{start, start_by};
