//! Statistics of a run in bounded memory, with confidence intervals.
//!
//! ```text
//!   slices    ||||||||||||||||||||||||||||||||||||||||||||||||   at most 1,024, sums by class
//!   sections  |       |       |       |       |       |       |  16 slices each: channels, percentiles
//!             0 ── warm-up ───┬─────── window ────────────────┐ end of the run
//!                             │ created here: latency, hops    │ follow: until all messages created
//!                             │ delivered here: accepted load  │ in the window are delivered
//! ```
//!
//! A [`Collector`] receives messages and counts, and decides at section ends when the window ends.
//! [`RunReport`] holds its results: means with 95 % intervals ([`Estimate`]), percentiles, series
//! and samples. Specification: `docs/concepts/measurement.md`.
//!
//! Invariants: section boundaries are slice boundaries, and the window begins and ends at one (or
//! at the run's time); sums survive the merging of slices; memory does not grow with the run.

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
