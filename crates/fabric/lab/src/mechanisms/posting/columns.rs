//! Results of posting messages to adapters.

use crate::record::classes::{half_width, in_ns, mean};
use crate::record::view::RunView;
use gingham_net::ClassId;
use gingham_net::measure::ClassReport;
use schemars::JsonSchema;
use serde::Serialize;

/// Statistics of posting messages to channel adapters.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct PostingSummary {
    /// Mean latency from the accepted post of a message to its delivery, in nanoseconds; missing
    /// without adapters.
    #[schemars(extend("x-unit" = "ns"))]
    pub posted_latency_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `posted_latency_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub posted_latency_half_width_ns: Option<f64>,
    /// Mean time from the creation of a message to its accepted post, spent waiting for a credit or
    /// for space in the send buffer, in nanoseconds; missing without adapters.
    #[schemars(extend("x-unit" = "ns"))]
    pub posting_mean_ns: Option<f64>,
    /// Half-width of the 95 % confidence interval of `posting_mean_ns`, in nanoseconds.
    #[schemars(extend("x-unit" = "ns"))]
    pub posting_half_width_ns: Option<f64>,
    /// Number of refused posts of messages that were accepted later, over the whole run; messages
    /// still waiting are not counted.
    #[schemars(extend("x-unit" = "posts"))]
    pub posts_refused: u64,
}

impl PostingSummary {
    pub(crate) fn of(view: &RunView<'_>, id: ClassId, of: &ClassReport) -> Self {
        if view.plan().adapters.is_none() {
            return Self::default();
        }
        let [posted, posting] = [of.posted_latency_ps, of.posting_ps].map(in_ns);
        Self {
            posted_latency_mean_ns: mean(posted),
            posted_latency_half_width_ns: half_width(posted),
            posting_mean_ns: mean(posting),
            posting_half_width_ns: half_width(posting),
            posts_refused: view.report.refused_posts(id),
        }
    }
}
