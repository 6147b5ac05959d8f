//! Wormhole networks: slack buffers with STOP and GO, one byte per flit.
//!
//! ```text
//!   Create ─► Adapter ─► Transfer ─► FlitArrives ─► ReadHead ─► Request ─► Arbitrate ─► Transfer ─► ...
//!                           ▲             │                                                │
//!                           └ ControlArrives ◄── EmitControl ◄── fill level of the buffer ─┘
//!
//!   at an in-transit host:   FlitArrives ─► ReadHead ─► pool ─► Transfer ─► Release
//! ```
//!
//! Invariants, checked by `Simulation::assert_invariants` after any event: flits in = consumed +
//! stripped + dropped with marks + buffered + at in-transit hosts + on the wire; no buffer or pool
//! exceeds its capacity; flits of a worm stay in order.

mod event;
mod host;
mod injection;
mod input;
mod link;
mod simulation;
mod switch;
mod worm;

pub(crate) use simulation::Simulation;
