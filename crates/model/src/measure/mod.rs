//! Measurement: what a run counts, in bounded memory.
//!
//! ```text
//!   0 ──── warm-up ────┬──────────── window ────────────┐ end
//!                      │ created here: latency counts    │
//!                      │ delivered here: accepted load   │
//! ```
//!
//! The simulation tells a [`Ledger`] of every message created and delivered. Everything
//! accumulates in slices of simulated time that double when there are too many
//! ([`Slices`]); means carry 95 % intervals by batch means over them ([`Estimate`]).

mod estimate;
mod ledger;
mod records;
mod slices;

pub use estimate::Estimate;
pub use ledger::{ChannelCount, ClassLedger, Count, Ledger};
pub use records::{RECORDS_MAX, Records};
pub use slices::{Slice, Slices};
