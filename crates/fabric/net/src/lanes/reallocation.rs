//! Reallocation of an output lane after the previous packet's tail, or after the credit for that
//! tail.
//!
//! ```text
//!   tail crosses    c          c + 1        ...          its credit can be used
//!   granted again   "tail"     "after-tail"              "tail-credit"
//! ```
//!
//! Sources: Dally and Towles 2004, section 16.4; Jiang et al. 2013, for `wait_for_tail_credit`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Earliest time to grant a switch output lane to another packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reallocation {
    /// In the cycle when the previous packet's tail crosses into the lane.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Tail,
    /// In the cycle after the tail crosses, because VC allocation uses the state at the start of a
    /// cycle.
    #[schemars(extend("x-source" = "Jiang et al. 2013, wait_for_tail_credit = 0"))]
    AfterTail,
    /// Once the credit for the tail can be used, so that the buffer at the other end of the link is
    /// empty. An adapter also waits for this credit before it starts a packet on the lane.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 16.4; Jiang et al. 2013, wait_for_tail_credit = 1"))]
    TailCredit,
}
