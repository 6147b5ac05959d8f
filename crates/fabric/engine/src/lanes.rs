//! Virtual-lane networks, stepped tick by tick: ports and lanes that cannot move cost nothing.
//!
//! ```text
//!   a tick      credits ─► link ─► crossbar ─► allocation ─► arrivals      before it: events in picoseconds
//!   (module)    links      crossbar            allocation    switches      (hosts, in_transit)
//!
//!   context     shared state: plan, layout of ports and lanes, clock, endpoints, worms in flight
//!   network     owner of links (start of channels), buffers (end of channels) and switches
//!   requests    VC requests        matching    switch allocation    lane_matching    VC allocation by iSLIP
//!   hosts       messages become worms                       in_transit  in-transit hosts
//!   ring        future ticks                                stepper     interface of the two steppers
//!   arbiters    arbiters other than flit-level round robin  queues      worms bound for each lane
//!   counts      traffic carried by channels                 waits       wait-for graph
//!   view        state of ports and lanes between ticks      waiters     blocked packets
//!   columns     the same stages, bit-sliced over 64 switches, with flit-level round robin
//! ```
//!
//! Each part owns its state, and a stage is a function on the parts that it needs; `simulation`
//! calls the stages in order. Hosts, worms in flight and counts do not depend on the stepper.
//!
//! Flits are not objects. An input lane has a flit count and a queue of the worms that the flits
//! belong to. An output lane has only a count: its worms are those in the queue at the other end of
//! its channel, in that order. Per lane, a bit marks whether it could move; per port, a bit marks
//! whether the stage must visit it.
//!
//! No time stamp is needed to know that something happened *before this tick*: the stages run
//! against the pipeline, from the link back to the buffers, and arrivals of a tick are processed
//! after all stages. Source: Yum et al. 2002, section 3.1, as described in
//! `docs/concepts/timing.md`.
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
