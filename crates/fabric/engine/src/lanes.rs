//! Networks of virtual lanes, stepped tick by tick: what cannot move in a tick costs nothing in it.
//!
//! ```text
//!   a tick      credits ─► link ─► crossbar ─► allocation ─► arrivals      before it: events in picoseconds
//!   (module)    (network)  link    crossbar    allocation    (network)     (hosts, in_transit)
//!
//!   context     what all share: plan, layout of ports and lanes, clock, endpoints, worms under way
//!   network     links, where channels begin; buffers, where they end; switches, requests and matching between them
//!   hosts       messages become worms                       in_transit  worms that hosts send on
//!   ring        what happens at a tick to come              bits        sets of ports with something to do
//!   adaptive    heads that choose among outputs
//!   lane_matching    VC allocation by iSLIP
//!   arbiters    those that are not round robin by the flit  queues      worms on their way to each lane
//!   counts      what channels carried                       waits       who waits for whom
//!   view        state of ports and lanes between ticks, for these two
//!   credit_waits     waits for credits before output lanes
//!   columns     the same stages, 64 switches at once, where every flit goes in turn
//! ```
//!
//! Each part owns its state, and a stage is a function on the parts that it needs; `simulation`
//! calls one after the other. Hosts, worms under way and counts do not know how switches are
//! stepped.
//!
//! Flits are not objects. An input lane has a number of flits and the queue of the worms that they
//! belong to, an output lane only a number: the worms that it passes on are those of the queue at
//! the other end of its channel, in that order. Sets of lanes say by a bit each what could move,
//! sets of ports where to look.
//!
//! What happened *before this tick* needs no instant: the stages run against the pipeline, from the
//! link back to the buffers, and what arrives in a tick is seen after all of them. Source: Yum et
//! al. 2002, section 3.1, as `docs/concepts/timing.md` has it.
//!
//! Invariants: every flit moves in the tick in which the oracle moves it; credits, flits on the
//! wire and flits in the buffer of a lane are its depth together; no allocation for a flit.

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
