//! When a run ends, what of it counts, and what is kept.

use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When the run ends and what counts.
///
/// ```text
///   0 ── warm-up ──┬──────── window ────────┬── follow ── end
///                  │ rates, delays, order   │ what is under way arrives; nothing new is sent
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Simulated time at which sources stop, and the window for rates, delays and order ends.
    pub time: Span,
    /// When the window begins. Default: after a tenth of `time`.
    pub warm_up: Option<Span>,
    /// How long after the window packets in flight are followed at most.
    #[serde(default = "a_second")]
    pub follow: Span,
}

const fn a_second() -> Span {
    Span::from_ps(1_000_000_000_000)
}

/// What is kept of a run in addition to its sums.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// The first events of the run, up to this many, get a row in the table `events`: what was
    /// sent, lost and delivered, with its round and deficit. For short runs, and for the drawing of
    /// rounds.
    pub events: u64,
    /// The first packets, up to this many, get a row in the table `packets`.
    pub packets: u64,
    /// Width of a step of the table `series`. Default: a 200th of the time.
    pub step: Option<Span>,
    /// Percentiles of the delay, each above 0 and below 100.
    pub percentiles: Vec<f64>,
}

impl Default for Measure {
    fn default() -> Self {
        Self { events: 0, packets: 0, step: None, percentiles: vec![50.0, 90.0, 99.0, 99.9] }
    }
}
