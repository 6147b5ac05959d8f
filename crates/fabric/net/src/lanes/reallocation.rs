//! Reallocation of a lane: after the tail of the packet before, or after the credit of that tail.
//!
//! ```text
//!   tail crosses    c          c + 1        ...          its credit counts
//!   granted again   "tail"     "after-tail"              "tail-credit"
//! ```
//!
//! Sources: Dally and Towles 2004, section 16.4; Jiang et al. 2013, for `wait_for_tail_credit`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Earliest grant of an output lane of a switch to another packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reallocation {
    /// In the cycle when the tail of the packet before crosses into the lane.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Tail,
    /// From the next cycle on: VC allocation sees the state before the cycle.
    #[schemars(extend("x-source" = "Jiang et al. 2013, wait_for_tail_credit = 0"))]
    AfterTail,
    /// Once the credit of the tail counts, so that the buffer at the other end is empty. This also
    /// holds for an adapter that starts a packet on a lane.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 16.4; Jiang et al. 2013, wait_for_tail_credit = 1"))]
    TailCredit,
}
