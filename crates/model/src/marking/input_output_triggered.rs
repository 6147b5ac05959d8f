//! Marks what the switch has for an output where a buffer has become full that holds some of it, and
//! where more than a threshold wait for the output.
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV.C.

use super::Policy;
use super::congestion::{Concerns, Congestion, Scan, Triggers, blocks_of};
use crate::Plan;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `input-output-triggered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct InputOutputTriggered {
    /// More packets than this for an output mark what waits for it; from 0 to 1,000,000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: u32,
    /// A buffer counts as full from so much on, in blocks of 64 B; where it has no space for one more
    /// packet like the last unless given (footnote 3).
    pub fill: Option<Bytes>,
    /// Which packets are marked; the next that start, as many as are counted, unless given.
    #[serde(default)]
    pub scan: Scan,
    /// Whether a packet whose tail is leaving still counts as waiting for its output; it does unless
    /// given.
    #[serde(default = "super::congestion::yes")]
    pub counts_leaving: bool,
}

impl Policy for InputOutputTriggered {
    type Memory = Congestion;

    const LOOKS_AT_OUTPUTS: bool = true;

    fn threshold(&self) -> Option<u32> {
        Some(self.threshold)
    }

    fn fill(&self) -> Option<Bytes> {
        self.fill
    }

    fn start(&self, plan: &Plan) -> Congestion {
        let triggers = Triggers {
            fill_blocks: blocks_of(self.fill),
            full: Some(Concerns::Outputs),
            threshold: Some(self.threshold),
            scan: self.scan,
            counts_leaving: self.counts_leaving,
        };
        Congestion::new(plan, triggers)
    }
}
