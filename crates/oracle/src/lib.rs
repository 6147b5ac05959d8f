//! The oracle: every flit by itself, in a plain heap of events.
//!
//! It exists to be obviously right, not to be fast: what `docs/concepts/timing.md` says stands
//! here almost sentence by sentence, and every faster engine is compared with it to the
//! picosecond.
//!
//! ```text
//!   Plan ─► Simulation ─ by the kind of switch ─┬► wormhole    slack buffers, STOP and GO
//!                                                └► lanes       virtual lanes with credits
//! ```
//!
//! Each kind is a module that shares nothing with the others but `gingham-model`. The oracle never imports an engine,
//! and no engine the oracle.

pub mod lanes;
mod simulation;
pub mod wormhole;

pub use simulation::Simulation;
