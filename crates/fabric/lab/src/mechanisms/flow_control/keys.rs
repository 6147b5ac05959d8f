//! Flow control of whole packets: credits or pauses.

use crate::scenario::PerLane;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a receiver of whole packets limits its sender.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// Credits: the sender counts the free blocks of the receiver, and starts no packet that does
    /// not fit.
    #[default]
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.9"))]
    Credits,
    /// Priority flow control, as in Ethernet: the sender sends on a lane until the receiver
    /// requests a pause. Packets that still arrive go into headroom.
    #[schemars(extend("x-source" = "IEEE 802.1Qbb; IEEE 802.3, annex 31B; a fill of whole packets, and frames that wait for none, are ours"))]
    #[schemars(extend("x-example" = r#"{ pfc = { pause = "6000 B", resume = "3000 B" } }"#))]
    Pfc(Pfc),
}

/// Loss of credit updates, a fault. Credits are absolute counts, so the next update of the lane
/// repairs it, or the periodic one (InfiniBand Architecture Specification, Volume 1, section 7.9).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditLoss {
    /// Percentage of updates that are lost, drawn independently.
    pub percent: f64,
    /// Start of the losses. Default: the beginning of the run.
    #[serde(default)]
    pub start: Span,
    /// End of the losses. Default: the end of the run.
    pub stop: Option<Span>,
    /// Time without an update of a lane until its count is sent again. Default: 65,536 symbol times
    /// of InfiniBand, the time of 4 x 65,536 bytes, 262 us at 1 GB/s.
    pub period: Option<Span>,
}

/// Priority flow control: pauses per lane.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pfc {
    /// Buffer fill above which a pause is requested (XOFF): one value for all lanes, or a list
    /// with a value for each. Default: the highest that leaves enough headroom.
    pub pause: Option<PerLane<Bytes>>,
    /// Buffer fill at or below which the pause ends (XON): one value for all lanes, or a list
    /// with a value for each. Default: `pause` less the longest packet of the lane.
    pub resume: Option<PerLane<Bytes>>,
    /// Size of a pause frame on the wire, with preamble and gap. Default: 84 B (IEEE 802.1Qbb,
    /// annex O: 672 bit times).
    pub frame: Bytes,
    /// Time from the arrival of a pause frame until its sender starts no more packets. Default: the
    /// preset's, or 0 if it has none. IEEE 802.3, 31B.3.7 allows quanta of 512 bit times: 67 at 10
    /// Gb/s (3.43 us), 80 at 25 (1.64 us), and 118 at 40 (1.51 us). At 100 it is 394 (2.02 us), at
    /// 200 453 (1.16 us), and at 400 905 (1.16 us).
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

    /// Overrides a preset's flow control; its `response_time` stays unless given.
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
