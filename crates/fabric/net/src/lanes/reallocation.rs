//! When a lane takes another packet: after the tail before it, or after the credit of that.
//!
//! ```text
//!   tail crosses    c          c + 1        ...          its credit counts
//!   given again     "tail"     "after-tail"              "tail-credit"
//! ```
//!
//! Sources: Dally and Towles 2004, section 16.4; Jiang et al. 2013, for `wait_for_tail_credit`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When an output lane of a switch can be given to another packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Reallocation {
    /// In the cycle in which the tail before it crosses into the lane.
    #[default]
    #[schemars(extend("x-source" = "ours"))]
    Tail,
    /// From the next cycle on: VC allocation sees the state before the cycle.
    #[schemars(extend("x-source" = "Jiang et al. 2013, wait_for_tail_credit = 0"))]
    AfterTail,
    /// Once the credit of the tail counts, so that the buffer at the other end is empty. The same
    /// holds for an adapter that begins a packet on a lane.
    #[schemars(extend("x-source" = "Dally and Towles 2004, section 16.4; Jiang et al. 2013, wait_for_tail_credit = 1"))]
    TailCredit,
}
