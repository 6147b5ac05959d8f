//! End, measurement window and recorded data of a run.

use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// End of the run, and the measurement window.
///
/// ```text
///   0 ── warm-up ──┬──────── window ────────┬── follow ── end
///                  │ rates, delays, order   │ packets in flight arrive; nothing new is sent
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Simulated time when sources stop and the window for rates, delays and reordering ends.
    pub time: Span,
    /// Start of the window. Default: a tenth of `time`.
    pub warm_up: Option<Span>,
    /// Maximum time after the window for packets in flight to arrive.
    #[serde(default = "a_second")]
    pub follow: Span,
}

const fn a_second() -> Span {
    Span::from_ps(1_000_000_000_000)
}

/// Data recorded in addition to totals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Maximum number of rows in the table `events`, from the start of the run: packets sent, lost
    /// and delivered, with round and deficit. For short runs, and for drawings of rounds.
    pub events: u64,
    /// Maximum number of rows in the table `packets`, from the first packet.
    pub packets: u64,
    /// Step length of the table `series`. Default: 1/200 of `stop.time`.
    pub step: Option<Span>,
    /// Percentiles of the delay in %, each above 0 and below 100.
    pub percentiles: Vec<f64>,
}

impl Default for Measure {
    fn default() -> Self {
        Self { events: 0, packets: 0, step: None, percentiles: vec![50.0, 90.0, 99.0, 99.9] }
    }
}
