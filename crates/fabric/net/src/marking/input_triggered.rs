//! Marks, when a buffer becomes full, all packets for the outputs of the packets in it.
//!
//! Source: Santos et al. 2002, section IV.B.

use super::congestion::Congestion;
use super::{Concerns, Policy, Scan, Triggers};
use crate::Plan;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `input-triggered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputTriggered {
    /// A buffer counts as full from this fill on, in blocks of 64 B. Default: if it has no space
    /// for another packet like the last (footnote 3).
    pub fill: Option<Bytes>,
    /// Fills are averaged over this time before they are compared. Off by default (footnote 5).
    pub average: Option<Span>,
    /// Which packets are marked. Default: the next that start, as many as are counted.
    pub scan: Scan,
    /// Whether a packet whose tail is leaving still counts as waiting for its output. It does by
    /// default.
    pub counts_leaving: bool,
    /// After a packet arrives for an output that has no space at the other end, packets that start
    /// on that output are not marked for this long. Off by default (footnote 4).
    pub spare_blocked: Option<Span>,
}

impl Default for InputTriggered {
    fn default() -> Self {
        Self {
            fill: None,
            average: None,
            scan: Scan::Counters,
            counts_leaving: true,
            spare_blocked: None,
        }
    }
}

impl Policy for InputTriggered {
    type Memory = Congestion;

    fn triggers(&self) -> Option<Triggers> {
        Some(Triggers {
            full: Some(Concerns::Outputs),
            fill: self.fill,
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
