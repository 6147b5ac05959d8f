//! What makes a switch mark packets, and which: the parameters that policies after Santos et al. share.
//!
//! ```text
//!   buffer full ──────────────┐
//!   too many for an output ───┼──► what waits for the outputs concerned is marked, unless spared
//!   an output is too busy ────┘
//! ```
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV, footnotes 3 to 5.

use crate::BLOCK_BYTES;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which packets a trigger marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// The next that start on the output, as many as were counted: the first that leave.
    #[default]
    Counters,
    /// Those that were there, whenever they start.
    Direct,
}

/// What a full buffer concerns.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concerns {
    /// Itself.
    Buffer,
    /// The outputs for which something waits in it.
    Outputs,
}

/// When what is marked.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Triggers {
    /// What a full buffer concerns, where policies look at inputs.
    pub full: Option<Concerns>,
    /// A buffer counts as full from so much on, instead of where there is no space for one more
    /// packet.
    pub fill: Option<Bytes>,
    /// More than so many packets for an output.
    pub threshold: Option<u32>,
    /// An output is busy for more than such a share of the time.
    pub utilisation: Option<f64>,
    /// The time over which fills, packets and shares are averaged; none where they count as they are.
    pub average: Option<Span>,
    /// Which packets are marked.
    pub scan: Scan,
    /// Whether a packet whose tail is leaving counts as waiting for its output.
    pub counts_leaving: bool,
    /// What starts on an output is not marked for so long after one came for which it had no space.
    pub spare_blocked: Option<Span>,
}

impl Triggers {
    /// None, with what most policies have.
    pub(super) const NONE: Self = Self {
        full: None,
        fill: None,
        threshold: None,
        utilisation: None,
        average: None,
        scan: Scan::Counters,
        counts_leaving: true,
        spare_blocked: None,
    };

    /// Refuses what no switch can look at: the key, and why.
    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let Some(average) = self.average else { return Ok(()) };
        if average == Span::ZERO {
            let message = "an average is over some time: say over which, or leave it out, so that nothing is averaged";
            return Err(("average", message.to_owned()));
        }
        if self.full.is_some() && self.fill.is_none() {
            let message = "the average of what fills a buffer is never quite all of it: say from where on a buffer counts as full with \
                           fill, too";
            return Err(("average", message.to_owned()));
        }
        if let Some(share) = self.utilisation.filter(|share| !(0.0..1.0).contains(share)) {
            let message =
                format!("an output is busy for a share of the time from 0 to below 1, not {share}");
            return Err(("above", message));
        }
        Ok(())
    }

    /// From so many blocks on a buffer counts as full, if that is said: whole ones that are no less.
    pub(super) fn fill_blocks(&self) -> Option<u64> {
        self.fill.map(|fill| fill.0.div_ceil(BLOCK_BYTES.into()))
    }
}

/// Whether a packet whose tail is leaving counts, by default.
pub(super) const fn yes() -> bool {
    true
}
