//! Marks packets for an output when a buffer that holds some of them becomes full, or when more
//! packets than a threshold wait for the output.
//!
//! Source: Santos et al. 2002, section IV.C.

use super::congestion::Congestion;
use super::{Concerns, Policy, Scan, Triggers};
use crate::Plan;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `input-output-triggered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputOutputTriggered {
    /// If more packets than this wait for an output, they are marked; from 0 to 1,000,000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: u32,
    /// A buffer counts as full from this fill on, in blocks of 64 B. Default: if it has no space
    /// for another packet like the last (footnote 3).
    pub fill: Option<Bytes>,
    /// Fills, and packets for an output, are averaged over this time before they are compared. Off
    /// by default (footnote 5).
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

impl InputOutputTriggered {
    /// Policy with only a threshold, as in the paper.
    pub const fn new(threshold: u32) -> Self {
        Self {
            threshold,
            fill: None,
            average: None,
            scan: Scan::Counters,
            counts_leaving: true,
            spare_blocked: None,
        }
    }
}

impl Policy for InputOutputTriggered {
    type Memory = Congestion;

    fn triggers(&self) -> Option<Triggers> {
        Some(Triggers {
            full: Some(Concerns::Outputs),
            fill: self.fill,
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
