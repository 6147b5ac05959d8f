//! Marking policy with a limit for the fill level of the packet's buffer.

use super::{Mark, Policy, Reading};
use crate::Plan;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameter of `threshold`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Fill level of a buffer (of one input and lane), in whole flits, above which a packet is
    /// marked. The level is measured when the packet's head is read, and includes its arrived
    /// flits.
    pub above: Bytes,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Above {
    flits: u64,
}

impl Policy for Threshold {
    type Memory = Above;

    fn start(&self, plan: &Plan) -> Above {
        Above { flits: self.above.0 / u64::from(plan.switching.flit_bytes()) }
    }
}

impl Mark for Above {
    fn marks(&mut self, reading: Reading) -> bool {
        reading.waiting_flits > self.flits
    }
}
