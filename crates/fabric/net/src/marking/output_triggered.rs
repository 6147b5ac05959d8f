//! Marking policy with a trigger for long output queues.
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
    /// Largest number of packets that may wait for an output without being marked, from 0 to
    /// 1,000,000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: u32,
    /// Averaging time of packet counts. Default: no averaging.
    pub average: Option<Span>,
    /// Packets to mark. Default: the next n packets to start, where n is the number of waiting
    /// packets.
    #[serde(default)]
    pub scan: Scan,
    /// Whether a packet whose tail is leaving still counts as waiting for its output. Default:
    /// true.
    #[serde(default = "super::triggers::yes")]
    pub counts_leaving: bool,
    /// Time without marks on an output after a packet arrives that does not fit into the next
    /// buffer. Default: none.
    pub spare_blocked: Option<Span>,
}

impl OutputTriggered {
    /// Creates a policy with only a threshold, as in Santos et al.
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
