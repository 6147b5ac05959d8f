//! Networks of virtual lanes, stepped tick by tick: what cannot move in a tick costs nothing in it.
//!
//! ```text
//!   a tick      credits ─► link ─► crossbar ─► allocation ─► arrivals      before it: events in picoseconds
//!   (module)    (simulation) link   crossbar    allocation   (simulation)   (simulation, hosts)
//!
//!   state       ports, lanes and their queues of worms      bits    sets of ports with something to do
//!   ring        what happens at a tick to come              worms   packets under way
//!   hosts       messages become worms, and arrive           choice  arbiters that are not round robin
//!   counts      what channels carried                       waits   who waits for whom
//! ```
//!
//! Flits are not objects. An input lane has a number of flits and the queue of the worms that they belong to, an
//! output lane only a number: the worms that it passes on are those of the queue at the other end of its channel, in that
//! order. Sets of lanes say by a bit each what could move, sets of ports where to look.
//!
//! What happened *before this tick* needs no instant: the stages run against the pipeline, from the link back to the
//! buffers, and what arrives in a tick is seen after all of them. Source: Yum et al. 2002, section 3.1, as
//! `docs/concepts/timing.md` has it.
//!
//! Invariants: every flit moves in the tick in which the oracle moves it; credits, flits on the wire and flits in the
//! buffer of a lane are its depth together; no allocation for a flit.

mod allocation;
mod bits;
mod choice;
mod counts;
mod crossbar;
mod event;
mod hosts;
mod link;
mod queues;
mod ring;
mod simulation;
mod state;
mod transit;
mod waits;
mod wide;
mod worms;

pub use simulation::Simulation;
