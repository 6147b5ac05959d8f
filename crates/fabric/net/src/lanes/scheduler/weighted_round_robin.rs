//! Weighted round robin over lanes.

use super::{
    DependsOn, Facts, Fault, Granularity, LaneScheduler, PLACES, one_a_lane, shares_of, with_weight,
};
use gingham_fairq::{GeneralisedRoundRobin, SchedulerError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// Parameters of `weighted-round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WeightedRoundRobin {
    /// Weight of each lane, in flits or packets per turn; 0 for a lane that no class may use.
    pub weights: Vec<u32>,
    /// Scheduling unit: flit or packet.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for WeightedRoundRobin {
    type Arbiter = gingham_fairq::WeightedRoundRobin<PLACES>;

    fn facts(&self) -> Facts {
        let (name, depends_on) = ("weighted-round-robin", DependsOn::Lanes);
        Facts { name, depends_on, by: self.by, served: with_weight(&self.weights) }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        one_a_lane("weights", &self.weights, lanes)?;
        let (weights, _) = shares_of(&self.weights)?;
        Ok(gingham_fairq::WeightedRoundRobin::new(GeneralisedRoundRobin::new(&weights)?))
    }

    const HAS_WEIGHTS: bool = true;

    fn weigh(
        arbiter: &mut Self::Arbiter,
        lane: usize,
        weight: NonZeroU16,
    ) -> Result<(), SchedulerError> {
        arbiter.scheduler_mut().change(lane, weight.get().into())
    }
}
