//! Scenario keys of channel adapters: send buffers, and how applications post messages.

use crate::mechanisms::throttle::keys::CongestionControl;
use gingham_kernel::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Host channel adapters with a send buffer for messages that applications post.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adapters {
    /// Capacity of an adapter's send buffer, in messages (`M`), from 1 to 1,000,000. Default: 400.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub send_buffer: i64,
    /// How the adapter copies messages from host memory into the send buffer, one message at a
    /// time: by class priority, then in the order of acceptance. By default copying takes no time.
    pub dma: Option<Dma>,
    /// Limit on the traffic that hosts inject. Default: none.
    pub congestion_control: CongestionControl,
}

impl Default for Adapters {
    fn default() -> Self {
        Self { send_buffer: 400, dma: None, congestion_control: CongestionControl::None }
    }
}

/// DMA engine of an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dma {
    /// Rate of copying.
    pub rate: Rate,
    /// Additional time for each message. Default: none.
    #[serde(default)]
    pub setup: Span,
}

/// How messages of a class are posted to the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Post {
    /// Maximum number of messages in the adapter, each counted from its accepted post until its
    /// tail has left. Required under credit-based congestion control. Otherwise the default is the
    /// capacity of the send buffer, which `exempt` messages bypass.
    pub credits: Option<Credits>,
    /// Handling of a message that finds no credit or a full send buffer. Default: the message
    /// waits.
    pub refused: RefusedPost,
}

/// Maximum number of messages of a class in an adapter, each counted from its accepted post until
/// its tail has left.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Credits {
    /// Unlimited; messages bypass the send buffer, for control traffic.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    Exempt,
    /// Maximum number of the class's messages that are in each host's adapter at a time, from the
    /// accepted post until the tail has left.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = "{ per-host = 200 }"))]
    PerHost(i64),
    /// Proportional to the rate that a stream requests: its share of the send buffer equals its
    /// share of the link, rounded down to whole messages, but at least one message.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2; rounding: ours"))]
    #[schemars(extend("x-example" = r#"network.adapters = { congestion_control = "credits" }

[[traffic]]
load = 0.5
streams = { data = { mpeg2 = { mean = "1280 B", deviation = "200 B" } }, interval = "20 us" }
post = { credits = "by-rate" }"#))]
    ByRate,
    /// Maximum number of each flow's messages that are in the source adapter at a time, from the
    /// accepted post until the tail has left.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = "{ per-flow = 2 }"))]
    PerFlow(i64),
}

/// Handling of a message whose post is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = gingham_net::accept_bare_names)]
pub enum RefusedPost {
    /// The post waits in a FIFO queue.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2, best effort"))]
    Wait,
    /// The post fails, and is repeated after a delay until it is accepted.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2, real time; the time is ours"))]
    Retry(Retry),
}

/// Delay of repeated posts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// Time until the next attempt. Default: the transmission time of the longest message of the
    /// class on the host's link.
    pub after: Option<Span>,
}

/// How a message chooses among the lanes of its class.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaneName {
    /// Chosen at every hop: the first free lane.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Any,
    /// Drawn when the message is created, and kept at every hop.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2"))]
    AtRandom,
    /// Drawn with the first message of a flow, and kept for the whole flow.
    #[schemars(extend("x-source" = "ours"))]
    OfFlow,
}
