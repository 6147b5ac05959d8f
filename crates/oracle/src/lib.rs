//! The oracle: every flit by itself, one event per flit and hop in a plain heap.
//!
//! It exists to be obviously right, not to be fast: what `docs/concepts/timing.md` says stands
//! here almost sentence by sentence, and every faster engine is compared with it to the
//! picosecond.
//!
//! ```text
//!   Create ─► Adapter ─► Transfer ─► FlitArrives ─► ReadHead ─► Request ─► Arbitrate ─► Transfer ─► ...
//!                           ▲             │                                                │
//!                           └ ControlArrives ◄── EmitControl ◄── fill of the buffer ───────┘
//!
//!   at a host on the way:   FlitArrives ─► ReadHead ─► pool ─► Transfer ─► Release
//! ```
//!
//! Invariants, checked by [`Simulation::assert_invariants`] after any event: flits in =
//! consumed + stripped + dropped with marks + buffered + at in-transit hosts + on the wire; no buffer and
//! no pool above its capacity; flits of a worm stay in order. The oracle never imports an engine, and no engine the oracle.

mod event;
mod hosts;
mod input;
mod link;
mod simulation;
mod switch;
mod transit;
mod waits;
mod worm;

pub use event::Symbol;
pub use simulation::Simulation;
