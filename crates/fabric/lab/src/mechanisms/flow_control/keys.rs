//! Scenario keys of flow control for whole packets: credits or pauses.

use crate::scenario::PerLane;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a receiver of whole packets limits its sender.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// Credits: the sender counts the free blocks of the receiver, and starts a packet only if it
    /// fits.
    #[default]
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.9"))]
    Credits,
    /// Priority flow control, as in Ethernet: the sender sends on a lane until the receiver
    /// requests a pause. Packets that still arrive occupy the headroom.
    #[schemars(extend("x-source" = "IEEE 802.1Qbb; IEEE 802.3, annex 31B; a fill of whole packets, and frames that wait for none, are ours"))]
    #[schemars(extend("x-example" = r#"{ pfc = { pause = "6000 B", resume = "3000 B" } }"#))]
    Pfc(Pfc),
}

/// Loss of credit updates, as a fault. Credits are absolute counts, so the next update of the lane,
/// or a periodic one, repairs a loss (InfiniBand Architecture Specification, Volume 1, section
/// 7.9).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditLoss {
    /// Probability of losing a credit update, in percent; losses are independent.
    pub percent: f64,
    /// Start of the losses. Default: the start of the run.
    #[serde(default)]
    pub start: Span,
    /// End of the losses. Default: the end of the run.
    pub stop: Option<Span>,
    /// Time after the last credit update of a lane until its count is sent again. Default: 65,536
    /// InfiniBand symbol times, the transmission time of 4 x 65,536 bytes: 262 us at 1 GB/s.
    pub period: Option<Span>,
}

/// Priority flow control: pauses per lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pfc {
    /// Buffer level above which the receiver requests a pause (XOFF): a single value or a per-lane
    /// list. Default: the highest level that leaves enough headroom.
    pub pause: Option<PerLane<Bytes>>,
    /// Buffer level at or below which the pause ends (XON): a single value or a per-lane list.
    /// Default: `pause` less the longest packet of the lane.
    pub resume: Option<PerLane<Bytes>>,
    /// Size of a pause frame on the wire, including preamble and gap. Default: 84 B (IEEE 802.1Qbb,
    /// annex O: 672 bit times).
    pub frame: Bytes,
    /// Time from the arrival of a pause frame until the paused port starts no more packets.
    /// Default: from the preset, or 0. IEEE 802.3, 31B.3.7, limits it in quanta of 512 bit times.
    /// The limits are 67 quanta at 10 Gb/s (3.43 us), 80 at 25 Gb/s (1.64 us) and 118 at 40 Gb/s
    /// (1.51 us). They are 394 at 100 Gb/s (2.02 us), 453 at 200 Gb/s (1.16 us) and 905 at 400 Gb/s
    /// (1.16 us).
    pub response_time: Option<Span>,
}

impl Default for Pfc {
    fn default() -> Self {
        Self { pause: None, resume: None, frame: Bytes(84), response_time: None }
    }
}

impl FlowControl {
    pub(crate) fn pfc(&self) -> Option<&Pfc> {
        match self {
            Self::Pfc(pfc) => Some(pfc),
            Self::Credits => None,
        }
    }

    /// Overrides a preset's flow control; the preset's `response_time` remains unless the scenario
    /// sets this key.
    pub(crate) fn over(&self, preset: &Self) -> Self {
        match (self, preset) {
            (Self::Pfc(written), Self::Pfc(preset)) => Self::Pfc(Pfc {
                response_time: written.response_time.or(preset.response_time),
                ..written.clone()
            }),
            _ => self.clone(),
        }
    }
}
