//! Channel adapters: what they hold, and how applications post messages to them.

use crate::mechanisms::throttle::keys::CongestionControl;
use gingham_kernel::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Host channel adapters with a send buffer, to which applications post messages.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adapters {
    /// Messages that the send buffer of an adapter holds (`M`), from 1 to 1,000,000. Default: 400.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub send_buffer: i64,
    /// How the adapter copies messages from host memory into the buffer, one after the other: by
    /// priority of their class, and then in the order of acceptance. By default copying takes no
    /// time.
    pub dma: Option<Dma>,
    /// What keeps hosts from sending more than the network takes. None by default.
    pub congestion_control: CongestionControl,
}

impl Default for Adapters {
    fn default() -> Self {
        Self { send_buffer: 400, dma: None, congestion_control: CongestionControl::None }
    }
}

/// The DMA engine of an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dma {
    /// Copying rate.
    pub rate: Rate,
    /// Additional time for each message. Default: none.
    #[serde(default)]
    pub setup: Span,
}

/// How messages of a class are posted to the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Post {
    /// How many messages may be in the adapter, from the accepted post until the tail has left.
    /// Required under credit-based congestion control. Default elsewhere: all that the send buffer
    /// has room for; `exempt` bypasses it.
    pub credits: Option<Credits>,
    /// What becomes of a message that finds no credit, or a full send buffer. Default: it waits.
    pub refused: RefusedPost,
}

/// How many messages of a class may be in an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Credits {
    /// Any number, beside the send buffer: control traffic.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    Exempt,
    /// This many of the class at each host.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = "{ per-host = 200 }"))]
    PerHost(i64),
    /// By the rate that a stream requests: each stream gets that share of the link in places of the
    /// send buffer, rounded down, and at least one.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2; rounding: ours"))]
    #[schemars(extend("x-example" = r#"network.adapters = { congestion_control = "credits" }

[[traffic]]
load = 0.5
streams = { data = { mpeg2 = { mean = "1280 B", deviation = "200 B" } }, interval = "20 us" }
post = { credits = "by-rate" }"#))]
    ByRate,
    /// This many of each flow.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = "{ per-flow = 2 }"))]
    PerFlow(i64),
}

/// What becomes of a message whose post is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = gingham_net::accept_bare_names)]
pub enum RefusedPost {
    /// It waits, first come first served.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2, best effort"))]
    Wait,
    /// It is dropped and posted again after a while, until it is accepted.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2, real time; the time is ours"))]
    Retry(Retry),
}

/// When a message is posted again.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Retry {
    /// Delay. Default: the time of the longest message of the class on the link of its host.
    pub after: Option<Span>,
}

/// On which of the lanes of its class a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaneName {
    /// On any, chosen at every hop: the first that is free.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Any,
    /// On one that is drawn when it is created, the same at every hop.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2"))]
    AtRandom,
    /// On one that is drawn with the first message of its flow, the same for the whole flow.
    #[schemars(extend("x-source" = "ours"))]
    OfFlow,
}
