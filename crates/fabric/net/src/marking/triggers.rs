//! Triggers of marking policies after Santos et al., and their shared parameters.
//!
//! Source: Santos et al. 2002, section IV and footnotes 3 (`fill`), 4 (`spare_blocked`) and 5
//! (`average`).

use crate::BLOCK_BYTES;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Packets that a trigger marks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scan {
    /// The next n packets to start on the output, where n is the number of packets that were
    /// waiting.
    #[default]
    Counters,
    /// The waiting packets themselves, whenever they start.
    Direct,
}

/// Packets marked because of a full buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Concerns {
    /// Packets in the full buffer.
    Buffer,
    /// Packets for every output that a packet in the buffer waits for.
    Outputs,
}

/// Marking conditions, and the packets to mark.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Triggers {
    /// Packets marked because of a full buffer; `None` for policies that ignore input buffers.
    pub full: Option<Concerns>,
    /// Fill level at which a buffer counts as full; with `None`, it is full if another packet does
    /// not fit.
    pub fill: Option<Bytes>,
    /// Maximum number of packets that may wait for an output without triggering marks.
    pub threshold: Option<u32>,
    /// Maximum busy fraction of an output that triggers no marks.
    pub utilisation: Option<f64>,
    /// Averaging time of fill levels, packet counts and busy fractions; `None` without averaging.
    pub average: Option<Span>,
    /// Packets to mark.
    pub scan: Scan,
    /// Whether a packet counts as waiting while its tail is leaving.
    pub counts_leaving: bool,
    /// Time without marks on an output after a packet arrives that does not fit into the next
    /// buffer.
    pub spare_blocked: Option<Span>,
}

impl Triggers {
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

    pub(super) fn check(&self) -> Result<(), (&'static str, String)> {
        let Some(average) = self.average else { return Ok(()) };
        if average == Span::ZERO {
            let message =
                "the time of an average must be above 0: set it, or leave it out for no average";
            return Err(("average", message.to_owned()));
        }
        if self.full.is_some() && self.fill.is_none() {
            let message = "the average fill of a buffer never reaches its size: also set the fill from which a \
                           buffer counts as full with fill";
            return Err(("average", message.to_owned()));
        }
        if let Some(share) = self.utilisation.filter(|share| !(0.0..1.0).contains(share)) {
            let message =
                format!("an output is busy for a share of the time from 0 to below 1, not {share}");
            return Err(("above", message));
        }
        Ok(())
    }

    /// Returns the fill level at which a buffer counts as full, in blocks, rounded up.
    pub(super) fn fill_blocks(&self) -> Option<u64> {
        self.fill.map(|fill| fill.0.div_ceil(BLOCK_BYTES.into()))
    }
}

pub(super) const fn yes() -> bool {
    true
}
