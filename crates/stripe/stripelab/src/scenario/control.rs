//! Choice of channels and congestion control of a scenario.

use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choice of the channel of a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The scheduler's order, so that the receiver knows the channel of the next packet.
    Strict,
    /// The channel with window space and the earliest expected arrival. The sequence number in the
    /// tag of a packet guarantees the order. Data in flight is controlled, and quanta have no
    /// effect.
    Free,
}

/// Congestion control: limits data in flight on a channel, and paces packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Control {
    /// Congestion controller.
    pub by: Rule,
    /// Loss rate in a round trip above which BBR detects congestion (`LossThresh`; the draft has
    /// .02).
    pub loss_threshold: f64,
    /// Fraction of the inflight limit that BBR leaves to others between two probes (`Headroom`; the
    /// draft has .15, which costs rate on short queues).
    pub headroom: f64,
    /// Upper limit of a channel's window, for any controller.
    pub window_max: Option<Bytes>,
}

impl Default for Control {
    fn default() -> Self {
        Self { by: Rule::Bbr, loss_threshold: 0.02, headroom: 0.1, window_max: None }
    }
}

/// A congestion controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    #[default]
    Bbr,
    /// CUBIC (RFC 9438) with HyStart++ (RFC 9406).
    Cubic,
    /// Fixed rate: the rates that the channels have in the scenario at the start.
    Fixed,
}
