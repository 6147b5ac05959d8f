//! When messages are created.

use gingham_kernel::{Span, Stream};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The arrival process of a class, as a scenario names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Arrivals {
    /// Independent exponential intervals, whose mean follows from the load.
    Poisson,
    /// Always one message waiting; takes no load.
    Backlogged,
}

/// The arrival process of a class.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum ArrivalPlan {
    /// Exponential intervals; the offered load is the fraction of a host's link that its
    /// payload would fill.
    Poisson {
        /// Offered load of each source, in (0, 1].
        load: f64,
    },
    /// Always one message waiting.
    Backlogged,
}

impl ArrivalPlan {
    /// The mean interval between messages of a source, in picoseconds: the time that the mean
    /// payload takes on its link, divided by the load. `None` for a backlogged class.
    pub fn interval_mean_ps(&self, payload_mean_bytes: f64, host_flit: Span) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "flit times are small")]
        let flit_ps = host_flit.as_ps() as f64;
        match self {
            Self::Poisson { load } => Some(payload_mean_bytes * flit_ps / load),
            Self::Backlogged => None,
        }
    }
}

/// An exponential interval, rounded to the nearest picosecond.
pub(super) fn exponential_interval(stream: &mut Stream, mean_ps: f64) -> Span {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "non-negative; an interval beyond 64 bits saturates past the end of any run"
    )]
    let ps = nearest(stream.exponential(mean_ps)) as u64;
    Span::from_ps(ps.min(u64::MAX / 4))
}

fn nearest(value: f64) -> f64 {
    (value + 0.5).floor()
}
