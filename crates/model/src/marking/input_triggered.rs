//! Marks, of every output for which something waits in a buffer that has become full, all that the
//! switch has for it.
//!
//! Source: Santos, Turner and Janakiraman 2002, section IV.B.

use super::Policy;
use super::congestion::{Concerns, Congestion, Scan, Triggers, blocks_of};
use crate::Plan;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `input-triggered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct InputTriggered {
    /// A buffer counts as full from so much on, in blocks of 64 B; where it has no space for one more
    /// packet like the last unless given (footnote 3).
    pub fill: Option<Bytes>,
    /// Which packets are marked; the next that start, as many as are counted, unless given.
    pub scan: Scan,
    /// Whether a packet whose tail is leaving still counts as waiting for its output; it does unless
    /// given.
    pub counts_leaving: bool,
}

impl Default for InputTriggered {
    fn default() -> Self {
        Self { fill: None, scan: Scan::Counters, counts_leaving: true }
    }
}

impl Policy for InputTriggered {
    type Memory = Congestion;

    const LOOKS_AT_OUTPUTS: bool = true;

    fn fill(&self) -> Option<Bytes> {
        self.fill
    }

    fn start(&self, plan: &Plan) -> Congestion {
        let triggers = Triggers {
            fill_blocks: blocks_of(self.fill),
            full: Some(Concerns::Outputs),
            threshold: None,
            scan: self.scan,
            counts_leaving: self.counts_leaving,
        };
        Congestion::new(plan, triggers)
    }
}
