//! Policy that marks a packet if its buffer, including the packet, contains more than a limit when
//! the packet's head is read.

use super::{Mark, Policy, Reading};
use crate::Plan;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameter of `threshold`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Threshold {
    /// Limit for the buffer of a packet's input and lane, above which the packet is marked. The
    /// limit is checked when the head is read, counts the arrived part of the packet itself, and is
    /// in whole flits.
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
