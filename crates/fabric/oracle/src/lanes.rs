//! Virtual-lane networks: five-stage switches with credits, each flit simulated individually.
//!
//! ```text
//!   Create ─► Send ─► FlitArrives, FlitIsThere ─► lane buffer ─► Cross ─► output lane ─► Link ─► ...
//!              ▲                                      │ Allocate: a head is granted an output lane
//!              └──────────────── Credit ◄─────────────┘ when a flit leaves the lane buffer
//! ```
//!
//! A switch with flits, and an adapter with packets to send, act at every tick. All other nodes are
//! idle.
//!
//! Source: Yum, Kim, Das, Yousif and Duato 2002, section 3.1, as specified in
//! `docs/concepts/timing.md`.
//!
//! Invariants, checked by `Simulation::assert_invariants` after any event: flits in = consumed + in
//! lane buffers + in output lanes + at in-transit hosts + on the wire; for each lane, credits +
//! credits on their way + flits on the wire + flits in the lane buffer = buffer depth; promised
//! credits never exceed available credits; flits of a packet stay in order.

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
