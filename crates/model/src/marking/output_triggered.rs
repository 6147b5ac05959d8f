//! Marks what the switch has for an output where more than a threshold wait for it.
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV.C.

use super::Policy;
use super::congestion::{Congestion, Scan, Triggers};
use crate::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `output-triggered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputTriggered {
    /// More packets than this for an output mark what waits for it; from 0 to 1,000,000.
    #[schemars(range(min = 0, max = 1_000_000))]
    pub threshold: u32,
    /// Which packets are marked; the next that start, as many as are counted, unless given.
    #[serde(default)]
    pub scan: Scan,
    /// Whether a packet whose tail is leaving still counts as waiting for its output; it does unless
    /// given.
    #[serde(default = "super::congestion::yes")]
    pub counts_leaving: bool,
}

impl Policy for OutputTriggered {
    type Memory = Congestion;

    const LOOKS_AT_OUTPUTS: bool = true;

    fn threshold(&self) -> Option<u32> {
        Some(self.threshold)
    }

    fn start(&self, plan: &Plan) -> Congestion {
        let triggers = Triggers {
            full: None,
            fill_blocks: None,
            threshold: Some(self.threshold),
            scan: self.scan,
            counts_leaving: self.counts_leaving,
        };
        Congestion::new(plan, triggers)
    }
}
