//! Channel selection and congestion control of a scenario.

use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Channel selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// The scheduler's order, which the receiver follows to find the channel of the next packet.
    Strict,
    /// The channel with window space and the earliest expected arrival. Sequence numbers in packet
    /// tags guarantee the order. Data in flight is limited, and quanta have no effect.
    Free,
}

/// Congestion control: limits data in flight per channel, and paces packets.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Control {
    /// Congestion controller.
    pub by: Rule,
    /// Loss rate per round trip above which BBR detects congestion (`LossThresh`; 0.02 in the
    /// draft).
    pub loss_threshold: f64,
    /// Fraction of the inflight limit that BBR leaves to other flows between two probes
    /// (`Headroom`; 0.15 in the draft, which reduces the rate on short queues).
    pub headroom: f64,
    /// Upper limit of a channel's window, for any controller.
    pub window_max: Option<Bytes>,
}

impl Default for Control {
    fn default() -> Self {
        Self { by: Rule::Bbr, loss_threshold: 0.02, headroom: 0.1, window_max: None }
    }
}

/// Congestion controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    #[default]
    Bbr,
    /// CUBIC (RFC 9438) with HyStart++ (RFC 9406).
    Cubic,
    /// Fixed rates: each channel's rate at the start of the scenario.
    Fixed,
}
