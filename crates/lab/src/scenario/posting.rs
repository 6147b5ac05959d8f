//! Channel adapters: what they hold, and how applications post messages to them.

use gingham_kernel::{Rate, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Host channel adapters with a send buffer, to which applications post messages.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Adapters {
    /// Messages that the send buffer of an adapter holds (`M`), from 1 to 1,000,000. 400 unless
    /// given.
    #[schemars(range(min = 1, max = 1_000_000))]
    pub send_buffer: i64,
    /// How the adapter copies messages from the memory of the host into the buffer, one after the
    /// other: by priority of their class and then in the order of acceptance. At once unless given.
    pub dma: Option<Dma>,
    /// What keeps hosts from sending more than the network takes; nothing unless given.
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
    /// How fast it copies.
    pub rate: Rate,
    /// What a message takes beside that; nothing unless given.
    #[serde(default)]
    pub setup: Span,
}

/// What keeps hosts from sending more than the network takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum CongestionControl {
    /// Nothing but the send buffer, which the classes of a host share, first come first served.
    #[default]
    #[schemars(extend("x-source" = "Yum et al. 2002, section 6.1"))]
    None,
    /// Credits: every class of a host, or every flow, has so many messages in the adapter at the
    /// most (`traffic.*.post.credits`).
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = r#"network.adapters = { congestion_control = "credits" }

[[traffic]]
load = 0.1
length = { fixed = "64 B" }
post = { credits = { per-host = 200 } }"#))]
    Credits,
}

/// How messages of a class are posted to the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Post {
    /// How many messages may be in the adapter, from the accepted post until the tail has left.
    /// Required under credit-based congestion control; elsewhere all that the send buffer has room
    /// for, unless given as `exempt`.
    pub credits: Option<Credits>,
    /// What becomes of a message that finds no credit, or the send buffer full. It waits unless
    /// given.
    pub refused: RefusedPost,
}

/// How many messages of a class may be in an adapter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Credits {
    /// Any number, beside the send buffer: control traffic.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    Exempt,
    /// So many of the class at each host.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = "{ per-host = 200 }"))]
    PerHost(i64),
    /// So many of each flow.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 4.2"))]
    #[schemars(extend("x-example" = "{ per-flow = 2 }"))]
    PerFlow(i64),
}

/// What becomes of a message whose post is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = gingham_model::accept_bare_names)]
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
    /// After so long; after the time of the longest message of the class on the link of its host
    /// unless given.
    pub after: Option<Span>,
}

/// On which of the lanes of its class a message goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LaneName {
    /// On any, anew at every hop: the first that is free.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Any,
    /// On one that is drawn when it is created, at every hop the same.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 5.2"))]
    AtRandom,
    /// On one that is drawn with the first message of its flow, as all others of that.
    #[schemars(extend("x-source" = "ours"))]
    OfFlow,
}
