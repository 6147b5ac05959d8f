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
//! A simulation tells a [`Collector`] of every message created and delivered, and of every section
//! end the counts of its channels; of flows, where they are told apart, when they were held back;
//! and of followed channels their counts at every step. The collector decides at section ends when
//! the window ends. What the window holds is read from [`RunReport`]: means with 95 % intervals
//! ([`Estimate`]), percentiles with theirs, series and samples. `docs/concepts/measurement.md` is
//! the specification.
//!
//! Invariants: every section boundary is a slice boundary, and the window begins at one and ends at
//! one (or at the run's time); sums survive the merging of slices; memory does not grow with the
//! run.

mod channels;
mod class;
mod collector;
mod columns;
mod contention;
mod count;
mod deadlines;
mod flows;
mod follow;
mod grid;
mod latencies;
mod percentile;
mod records;
mod report;
mod samples;
mod section;
mod series;
mod served;
mod slices;
mod transit;
mod trees;
mod warm_up;
mod window;

pub use channels::ChannelReport;
pub use collector::Collector;
pub use contention::ContentionStep;
pub use count::{ChannelCount, Count};
pub use deadlines::{ClassDeadlines, Deadlines, StreamReport, law_of_records, over_streams};
pub use flows::{ClassFlows, FlowReport, FlowSeries, FlowStep, FlowValues, HeldShares, fairness};
pub use gingham_results::{Estimate, student_t};
pub use latencies::Bar;
pub use percentile::Percentile;
pub use report::{ClassReport, RunReport};
pub use samples::{LinkSeries, LinkStep};
pub use series::Step;
pub use served::{EndpointReport, FAMILY_CHANCE};
pub use transit::TransitReport;
pub use trees::{ChannelRoles, FlowRoles, TreeLife, TreeStep, Trees};
pub use window::{WarmUp, Window};
