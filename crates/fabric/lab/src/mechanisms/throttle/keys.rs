//! Scenario keys of congestion control at hosts.

use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit on the traffic that hosts inject.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = gingham_net::accept_bare_names)]
pub enum CongestionControl {
    /// Only the send buffer limits traffic; the classes of a host share it in FIFO order.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 6.1"))]
    None,
    /// Credits: a limit on the messages in the adapter, per class or per flow
    /// (`traffic.*.post.credits`).
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = r#"network.adapters = { congestion_control = "credits" }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
post = { credits = { per-host = 200 } }"#))]
    Credits,
    /// At least one: a host starts a message only while a lane of its first switch is free for it.
    /// Either each output that the switch may assign must have a free lane, or one of these outputs
    /// must have only free lanes.
    #[schemars(extend("x-source" = "Baydal, Lopez and Duato 2000"))]
    AtLeastOne,
    /// Self-tuned: no host starts a message while the number of full buffers in the network exceeds
    /// a threshold that adapts to the throughput.
    #[schemars(extend("x-source" = "Thottethodi, Lebeck and Mukherjee 2001"))]
    #[schemars(extend("x-example" = "{ self-tuned = { threshold = 0.2 } }"))]
    SelfTuned(SelfTuned),
}

/// Parameters of self-tuned throttling. Most defaults are quoted from memory, because we read only
/// the paper's abstract. The default of `threshold` is our choice, and so is the use of `drop` for
/// comparisons with the best period.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SelfTuned {
    /// Interval between counts of full buffers. Default: 32 flit times of the first channel between
    /// two switches; with whole packets, 32 transmission times of 64 bytes (2 cycles per hop, over
    /// half of each side of a 16 x 16 torus).
    pub gather: Option<Span>,
    /// Time for a count to reach the hosts over a side band; at most one tuning period. Default:
    /// equal to `gather`.
    pub side_band: Option<Span>,
    /// Number of counts in a tuning period, from 1 to 1,000. Default: 3.
    #[schemars(range(min = 1, max = 1_000))]
    pub tuning_gathers: i64,
    /// Initial threshold, as a fraction of the number of buffers in the network. Default: 0.1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub threshold: f64,
    /// Increase of the threshold after a tuning period with throttling and without a drop in
    /// throughput, as a fraction of the number of buffers. Default: 0.01.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub increase: f64,
    /// Decrease of the threshold after a drop in throughput, as a fraction of the number of
    /// buffers. Default: 0.04.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub decrease: f64,
    /// Relative decrease that counts as a drop in throughput, compared with the previous period or
    /// the best period. Default: 0.25.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub drop: f64,
    /// Number of consecutive periods with a throughput far below the best before the best is
    /// forgotten, from 1 to 1,000. Default: 5.
    #[schemars(range(min = 1, max = 1_000))]
    pub patience: i64,
}

impl Default for SelfTuned {
    fn default() -> Self {
        Self {
            gather: None,
            side_band: None,
            tuning_gathers: 3,
            threshold: 0.1,
            increase: 0.01,
            decrease: 0.04,
            drop: 0.25,
            patience: 5,
        }
    }
}
