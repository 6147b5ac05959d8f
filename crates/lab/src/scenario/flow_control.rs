//! What keeps senders of whole packets from overfilling the buffers at the ends of their channels.

use super::PerLane;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a receiver of whole packets holds back its sender.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FlowControl {
    /// The sender knows how many blocks are free, and starts no packet that does not fit.
    #[default]
    #[schemars(extend("x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.9"))]
    Credits,
    /// The sender sends on a lane until the receiver asks for a pause, as priority-based flow control
    /// of Ethernet does; what comes in spite of that goes into headroom.
    #[schemars(extend("x-source" = "IEEE 802.1Qbb; IEEE 802.3, annex 31B; a fill of whole packets, and frames that wait for none, are ours"))]
    #[schemars(extend("x-example" = r#"{ pfc = { pause = "6000 B", resume = "3000 B" } }"#))]
    Pfc(Pfc),
}

/// Updates of credits that get lost, a fault: the next update of the lane heals it, since credits are
/// absolute, or a period (InfiniBand Architecture Specification, Volume 1, section 7.9).
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreditLoss {
    /// Out of a hundred updates, drawn each by itself.
    pub percent: f64,
    /// From this instant on; from the beginning of the run unless given.
    #[serde(default)]
    pub start: Span,
    /// No more at this instant and later; until the end unless given.
    pub stop: Option<Span>,
    /// So long after the last update of a lane its count is said again; 65,536 symbol times of
    /// InfiniBand unless given: what 4 x 65,536 bytes take, 262 us at 1 GB/s.
    pub period: Option<Span>,
}

/// Pauses of lanes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Pfc {
    /// A fill of the buffer above so much asks for a pause (XOFF), for all lanes or as a list of one a
    /// lane; the most that leaves enough headroom unless given.
    pub pause: Option<PerLane<Bytes>>,
    /// A fill of so much or less ends the pause (XON), for all lanes or as a list of one a lane; the
    /// longest packet of the lane less than `pause` unless given.
    pub resume: Option<PerLane<Bytes>>,
    /// What a pause frame takes of the wire, with preamble and gap; 84 B unless given (IEEE 802.1Qbb,
    /// annex O: 672 bit times).
    pub frame: Bytes,
    /// From the arrival of a pause frame until its sender starts nothing more; the preset's unless
    /// given, or nothing where it has none.
    /// At most 67 quanta of 512 bit times at 10 Gb/s (3.43 us), 80 at 25 (1.64 us), 118 at 40 (1.51
    /// us), 394 at 100 (2.02 us), 453 at 200 (1.16 us), 905 at 400 (1.16 us), by IEEE 802.3, 31B.3.7.
    pub answer: Option<Span>,
}

impl Default for Pfc {
    fn default() -> Self {
        Self { pause: None, resume: None, frame: Bytes(84), answer: None }
    }
}

impl FlowControl {
    /// This in place of a preset's, whose answer holds where nothing is said of one.
    pub(super) fn over(&self, preset: &Self) -> Self {
        match (self, preset) {
            (Self::Pfc(written), Self::Pfc(preset)) => {
                Self::Pfc(Pfc { answer: written.answer.or(preset.answer), ..written.clone() })
            }
            _ => self.clone(),
        }
    }
}
