//! Marks packets for an output if more packets than a threshold wait for it.
//!
//! Source: Santos et al. 2002, section IV.C.

use super::congestion::Congestion;
use super::{Policy, Scan, Triggers};
use crate::Plan;
use gingham_kernel::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `output-triggered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputTriggered {
    /// If more packets than this wait for an output, they are marked; from 0 to 1,000,000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: u32,
    /// Packets for an output are averaged over this time before they are compared. Off by default
    /// (footnote 5).
    pub average: Option<Span>,
    /// Which packets are marked. Default: the next that start, as many as are counted.
    #[serde(default)]
    pub scan: Scan,
    /// Whether a packet whose tail is leaving still counts as waiting for its output. It does by
    /// default.
    #[serde(default = "super::triggers::yes")]
    pub counts_leaving: bool,
    /// After a packet arrives for an output that has no space at the other end, packets that start
    /// on that output are not marked for this long. Off by default (footnote 4).
    pub spare_blocked: Option<Span>,
}

impl OutputTriggered {
    /// Policy with only a threshold, as in the paper.
    pub const fn new(threshold: u32) -> Self {
        Self {
            threshold,
            average: None,
            scan: Scan::Counters,
            counts_leaving: true,
            spare_blocked: None,
        }
    }
}

impl Policy for OutputTriggered {
    type Memory = Congestion;

    fn triggers(&self) -> Option<Triggers> {
        Some(Triggers {
            threshold: Some(self.threshold),
            average: self.average,
            scan: self.scan,
            counts_leaving: self.counts_leaving,
            spare_blocked: self.spare_blocked,
            ..Triggers::NONE
        })
    }

    fn start(&self, plan: &Plan) -> Congestion {
        Congestion::of(self, plan)
    }
}
