//! Marking policy that marks all packets in a full input buffer.
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
    /// Fill level at which a buffer counts as full, rounded up to blocks of 64 B. By default, a
    /// full buffer cannot hold another packet as long as the last.
    pub fill: Option<Bytes>,
    /// Averaging time of fill levels. Default: no averaging.
    pub average: Option<Span>,
    /// Time without marks on an output after a packet arrives that does not fit into the next
    /// buffer. Default: none.
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
