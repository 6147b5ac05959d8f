//! Marks what waits in a buffer that has become full, whatever its output.
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV.A.

use super::Policy;
use super::congestion::{Concerns, Congestion, Scan, Triggers, blocks_of};
use crate::Plan;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameter of `naive`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Naive {
    /// A buffer counts as full from so much on, in blocks of 64 B; where it has no space for one more
    /// packet like the last unless given (footnote 3).
    pub fill: Option<Bytes>,
}

impl Policy for Naive {
    type Memory = Congestion;

    const LOOKS_AT_OUTPUTS: bool = true;

    fn fill(&self) -> Option<Bytes> {
        self.fill
    }

    fn start(&self, plan: &Plan) -> Congestion {
        let triggers = Triggers {
            fill_blocks: blocks_of(self.fill),
            full: Some(Concerns::Buffer),
            threshold: None,
            scan: Scan::Direct,
            counts_leaving: true,
        };
        Congestion::new(plan, triggers)
    }
}
