//! Marking policy that marks every n-th packet, regardless of queues.

use super::{Mark, Policy, Reading};
use crate::Plan;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU64;

/// Parameter of `periodic`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Periodic {
    /// Number of packets that a switch reads, over all its inputs, per marked packet; 1 marks every
    /// packet.
    pub every: NonZeroU64,
}

#[derive(Clone, Debug)]
pub(crate) struct Counts {
    every: u64,
    read: Box<[u64]>,
}

impl Policy for Periodic {
    type Memory = Counts;

    fn start(&self, plan: &Plan) -> Counts {
        Counts { every: self.every.get(), read: vec![0; plan.fabric.nodes().len()].into() }
    }
}

impl Mark for Counts {
    fn marks(&mut self, reading: Reading) -> bool {
        let read = &mut self.read[reading.switch.index()];
        *read += 1;
        read.is_multiple_of(self.every)
    }
}
