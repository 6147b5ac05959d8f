//! Networks of virtual lanes: switches of five stages with credits, every flit by itself.
//!
//! ```text
//!   Create ─► Send ─► FlitArrives, FlitIsThere ─► lane buffer ─► Cross ─► output lane ─► Link ─► ...
//!              ▲                                      │ Allocate: a head is granted an output lane
//!              └──────────────── Credit ◄─────────────┘ when a flit leaves the lane buffer
//! ```
//!
//! The stages of a tick are in a file each: `link`, `crossbar` (with `matching`), `allocation` (with
//! `lane_matching`). Adapters send in `send`, and hosts receive in `host` and `in_transit`. A
//! switch that holds a flit, and an adapter that has something to send, act at every tick; the
//! others have nothing to do. `credit_waits` determines which channels wait for credits.
//!
//! Source: Yum, Kim, Das, Yousif and Duato 2002, section 3.1, as `docs/concepts/timing.md` has it.
//!
//! Invariants, checked by `Simulation::assert_invariants` after any event: flits in = consumed +
//! in lane buffers + in output lanes + at in-transit hosts + on the wire; of each lane, credits +
//! credits on their way + flits on the wire + flits in the lane buffer = its depth; what is
//! promised is never more than the credits; flits of a packet stay in order.

mod allocation;
mod clock;
mod event;
mod host;
mod host_state;
mod journey;
mod matching;
mod ports;
mod round_robin;
mod simulation;

pub(crate) use simulation::Simulation;
