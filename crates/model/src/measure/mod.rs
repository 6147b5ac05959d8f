//! Measurement: what a run counts, in bounded memory, and what that is worth.
//!
//! ```text
//!   slices    ||||||||||||||||||||||||||||||||||||||||||||||||   at most 1,024, sums by class
//!   sections  |       |       |       |       |       |       |  16 slices each: channels, percentiles
//!             0 ── warm-up ───┬─────── window ────────────────┐ end of the run
//!                             │ created here: latency, hops    │ follow: until what was created in the
//!                             │ delivered here: accepted load  │ window is delivered
//! ```
//!
//! A simulation tells a [`Ledger`] of every message created and delivered, and of every section end
//! the counts of its channels. The ledger decides at section ends when the window ends. What the
//! window holds is read from [`Measured`]: means with 95 % intervals ([`Estimate`]), percentiles with
//! theirs, series and samples. `docs/concepts/measurement.md` is the specification.
//!
//! Invariants: every section boundary is a slice boundary, and the window begins at one and ends at
//! one (or at the run's time); sums survive the merging of slices; memory does not grow with the run.

mod channels;
mod class;
mod contention;
mod count;
mod grid;
mod latencies;
mod ledger;
mod measured;
mod percentile;
mod records;
mod series;
mod slices;
mod transit;
mod warm_up;
mod window;

pub use channels::ChannelMeasured;
pub use contention::ContentionStep;
pub use count::{ChannelCount, Count};
pub use gingham_results::{Estimate, student_t};
pub use latencies::Bar;
pub use ledger::Ledger;
pub use measured::{ClassMeasured, Measured};
pub use percentile::Percentile;
pub use series::Step;
pub use transit::TransitMeasured;
pub use window::{WarmUp, Window};
