//! End of a run, its measurement window, and the recorded data.

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
    /// Start of the measurement window, rounded up to the end of a section (1/64 to 1/32 of the
    /// elapsed run). By default the window starts when the mean latency settles, as detected by
    /// MSER-5 (White 1997; Franklin and White 2008) within the first half of the run.
    pub warm_up: Option<Span>,
    /// Relative half-width of the 95 % confidence interval that ends the window once every class
    /// reaches it: a fraction of the mean, above 0 and below 1, such as 0.02. The run tests the
    /// width each time that the run length has doubled. Two successive tests must succeed, with at
    /// least 1,000 messages of each class. By default the width does not end the window.
    pub relative_width: Option<f64>,
    /// Quantity whose mean must be known to within `relative_width`. Default: the latency.
    pub quantity: Option<Quantity>,
    /// Number of messages that ends the window: messages of all classes, created in the window and
    /// delivered. The window ends at the end of a section.
    pub messages: Option<u64>,
    /// Maximum time after the window to follow messages created in it, while traffic continues.
    /// Messages not delivered by then are counted as censored. Default: a tenth of `time`.
    pub follow: Option<Span>,
}

impl Stop {
    /// Returns the follow time in effect.
    pub fn follow(&self) -> Span {
        self.follow.unwrap_or(Span::from_ps(self.time.as_ps() / 10))
    }
}

/// Data recorded about a run in addition to its totals.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Measure {
    /// Messages with a row in the table `messages`: `none`, `sample` or `all`. `sample` is a uniform
    /// random sample of the messages created in the window (bottom-k, Cohen and Kaplan 2007),
    /// identical for identical seeds. With `all`, every message of the run is written to the run
    /// folder when it is delivered.
    pub messages: KeptMessages,
    /// Maximum number of rows of the sample, from 1 to 10,000,000. Each row takes about 100 bytes
    /// of memory.
    pub sample_size: u64,
    /// Percentiles of latency, each above 0 and below 100. The p-th percentile of a class needs 100
    /// / (100 - p) messages: the 99.9th percentile needs 1,000.
    pub percentiles: Vec<f64>,
    /// Time covered by each row of the table `series`; a run has at most 100,000 rows. Default: one
    /// slice, of which a run has 512 to 1,024.
    pub step: Option<Span>,
    /// Whether statistics are recorded for each flow. A flow is the traffic of a class from one
    /// host to another, or a stream.
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
    /// Flows, each as `class: source -> destination`, such as `data: h0 -> h5`. If a pair of hosts
    /// has several streams, the number of the stream in the table of streams follows: `video: h0 ->
    /// h5 #12`.
    #[serde(default)]
    pub flows: Vec<String>,
    /// Channels, each as `s0 -> s1`, or as `s0[1] -> s1[2]` with port numbers if several cables
    /// join the two nodes. `["*"]` selects all channels.
    #[serde(default)]
    pub links: Vec<String>,
    /// Length of a step; a run has at most 100,000 steps.
    pub step: Span,
    /// Number of steps in the centred moving average of the smoothed columns; must be odd. Default:
    /// 1.
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
