//! Marks the packets that wait in a buffer when it becomes full, whatever their outputs.
//!
//! Source: Santos et al. 2002, section IV.A.

use super::congestion::Congestion;
use super::{Concerns, Policy, Scan, Triggers};
use crate::Plan;
use gingham_kernel::{Bytes, Span};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameter of `naive`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Naive {
    /// A buffer counts as full from this fill on, in blocks of 64 B. Default: if it has no space
    /// for another packet like the last (footnote 3).
    pub fill: Option<Bytes>,
    /// Fills are averaged over this time before they are compared. Off by default (footnote 5).
    pub average: Option<Span>,
    /// After a packet arrives for an output that has no space at the other end, packets that start
    /// on that output are not marked for this long. Off by default (footnote 4).
    pub spare_blocked: Option<Span>,
}

impl Policy for Naive {
    type Memory = Congestion;

    fn triggers(&self) -> Option<Triggers> {
        Some(Triggers {
            full: Some(Concerns::Buffer),
            fill: self.fill,
            average: self.average,
            scan: Scan::Direct,
            spare_blocked: self.spare_blocked,
            ..Triggers::NONE
        })
    }

    fn start(&self, plan: &Plan) -> Congestion {
        Congestion::of(self, plan)
    }
}
