//! Statistics of a run in bounded memory, with confidence intervals.
//!
//! ```text
//!   slices    ||||||||||||||||||||||||||||||||||||||||||||||||   at most 1,024; sums by class
//!   sections  |       |       |       |       |       |       |  16 slices each; channel counts, histograms
//!             0 ── warm-up ───┬─────── window ────────────────┐ end of the run
//!                             │ created here: latency, hops    │ follow: until all messages created
//!                             │ delivered here: accepted load  │ in the window are delivered
//! ```
//!
//! A [`Collector`] receives messages and counts, and closes the measurement window at a section
//! end. [`RunReport`] provides the results: means with 95 % confidence intervals ([`Estimate`]),
//! percentiles, time series and samples. Specification: `docs/concepts/measurement.md`.
//!
//! Invariants: the window starts and ends at section boundaries or at the end of the run. Merging
//! slices preserves sums. Memory does not grow with the length of the run.

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
