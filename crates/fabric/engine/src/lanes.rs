//! Virtual-lane networks, stepped tick by tick: ports and lanes that cannot move cost nothing.
//!
//! ```text
//!   a tick   credits ─► link ─► crossbar ─► allocation ─► arrivals     before it: events in picoseconds
//! ```
//!
//! Flits are not objects. An input lane has a flit count and a queue of the worms that the flits
//! belong to. An output lane has only a count: its worms are those in the queue at the other end of
//! its channel, in that order. Per lane, a bit marks whether it could move; per port, a bit marks
//! whether the stage must visit it. Hosts, worms in flight and counts do not depend on the stepper.
//!
//! No time stamp is needed to know that something happened *before this tick*: the stages run
//! against the pipeline, from the link back to the buffers, and arrivals are processed after all
//! stages. Source: Yum et al. 2002, section 3.1, as described in `docs/concepts/timing.md`.
//!
//! Invariants: every flit moves in the same tick as in the oracle; credits, flits on the wire and
//! flits in the buffer of a lane add up to its depth; no allocation per flit.

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
