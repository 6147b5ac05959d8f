//! End of a run, its measurement window, and the data kept.

use gingham_kernel::Span;
use gingham_net::{KeptMessages, Quantity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// End of the run, and its measurement window.
///
/// ```text
///   0 ── warm-up ──┬────────────── window ──────────────┬── follow ── end
///                  │ messages created here are measured │ ... and followed to their delivery
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Stop {
    /// Latest end of the measurement window, in simulated time. Other keys can only end the window
    /// earlier.
    pub time: Span,
    /// Start of the measurement window, rounded up to a section (1/64 to 1/32 of the elapsed run).
    /// Default: the time at which the mean latency settles, detected by MSER-5 (White 1997;
    /// Franklin and White 2008) within the first half of the run.
    pub warm_up: Option<Span>,
    /// Half-width of the 95 % confidence interval, as a fraction of the mean, that ends the window
    /// once every class reaches it: above 0 and below 1, such as 0.02. The run tests it each time
    /// its length has doubled. The width must suffice twice in a row, with at least 1,000 messages
    /// of each class. By default the width does not end the window.
    pub relative_width: Option<f64>,
    /// Mean whose confidence interval `relative_width` limits. Default: the latency.
    pub quantity: Option<Quantity>,
    /// Number of messages, created in the window and delivered, over all classes, that ends the
    /// window. The window ends with a section.
    pub messages: Option<u64>,
    /// Maximum time after the window to follow messages created in it, while traffic continues.
    /// Messages not delivered by the end of this time are counted as censored. Default: a tenth of
    /// `time`.
    pub follow: Option<Span>,
}

impl Stop {
    /// Returns the follow time in effect.
    pub fn follow(&self) -> Span {
        self.follow.unwrap_or(Span::from_ps(self.time.as_ps() / 10))
    }
}

/// Data kept of a run in addition to its totals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Messages with a row in the table `messages`: `none`; `sample`, a uniform sample of those
    /// created in the window (bottom-k, Cohen and Kaplan 2007), equal for equal seeds; or `all`,
    /// every message of the run, written to the run folder on delivery.
    pub messages: KeptMessages,
    /// Maximum number of rows of a sample, from 1 to 10,000,000. Each row takes about 100 bytes of
    /// memory.
    pub sample_size: u64,
    /// Percentiles of latency, each above 0 and below 100. The p-th percentile needs 100 / (100 -
    /// p) messages of a class: the 99.9th a thousand.
    pub percentiles: Vec<f64>,
    /// Width of a step of the table `series`; a run has at most 100,000 steps. Default: one slice,
    /// the interval over which all quantities are summed; a run has 512 to 1,024 slices.
    pub step: Option<Span>,
    /// Whether every flow is counted separately. A flow is the traffic of a class from one host to
    /// another, or a stream.
    pub flows: bool,
    /// Flows and channels to record step by step. Default: none.
    pub follow: Option<Follow>,
    /// Periodic search for congestion trees. Off by default.
    pub congestion: Option<Congestion>,
}

/// Periodic search for congestion trees.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Congestion {
    /// Time between searches; a run has at most 100,000 searches.
    pub step: Span,
}

/// Flows and channels to record step by step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Follow {
    /// Flows, each as `class: source -> destination`, such as `data: h0 -> h5`. One of several
    /// streams has its number in the table of streams appended: `video: h0 -> h5 #12`.
    #[serde(default)]
    pub flows: Vec<String>,
    /// Channels, each as `s0 -> s1`, or `s0[1] -> s1[2]` where several cables join two nodes.
    /// `["*"]` selects all channels.
    #[serde(default)]
    pub links: Vec<String>,
    /// Width of a step; a run has at most 100,000 steps.
    pub step: Span,
    /// Number of steps of the centred moving average: an odd number. Default: 1.
    #[serde(default = "default_window")]
    pub window: i64,
}

const fn default_window() -> i64 {
    1
}

pub(crate) const PERCENTILES_DEFAULT: [f64; 4] = [50.0, 90.0, 99.0, 99.9];

impl Default for Measure {
    fn default() -> Self {
        Self {
            messages: KeptMessages::Sample,
            sample_size: 100_000,
            percentiles: PERCENTILES_DEFAULT.into(),
            step: None,
            flows: false,
            follow: None,
            congestion: None,
        }
    }
}
