//! How channels are chosen, and what says how much may be in flight, as a scenario writes it.

use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How the channel of a packet is chosen.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// In turn, by the scheduler, so that the receiver knows from where the next packet comes.
    Strict,
    /// Each packet goes to the channel with room on which it will be there first; the numbers of
    /// its tag give the order, which is guaranteed. What is in flight is controlled, and quanta
    /// play no part.
    Free,
}

/// What says how much may be in flight on a channel, and how fast packets go.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Control {
    /// Which one.
    pub by: Rule,
    /// BBR takes losses above this fraction of a round trip for congestion (`LossThresh`; the draft
    /// has .02).
    pub loss_threshold: f64,
    /// Fraction of the inflight limit that BBR leaves to others between two probes (`Headroom`; the
    /// draft has .15, which costs rate on short queues).
    pub headroom: f64,
    /// Most that may be in flight on a channel, whatever the controller says.
    pub window_max: Option<Bytes>,
}

impl Default for Control {
    fn default() -> Self {
        Self { by: Rule::Bbr, loss_threshold: 0.02, headroom: 0.1, window_max: None }
    }
}

/// The rule of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// BBR, version 3 (draft-ietf-ccwg-bbr).
    #[default]
    Bbr,
    /// CUBIC (RFC 9438) with HyStart++ (RFC 9406).
    Cubic,
    /// The rates of the channels as the scenario has them at the start.
    Told,
}
