//! Weighted round robin over the lanes of the highest priority level.

use super::{
    DependsOn, Facts, Fault, Granularity, LaneScheduler, PLACES, levels_of, one_a_lane, shares_of,
    with_weight,
};
use gingham_fairq::SchedulerError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::{NonZeroU16, NonZeroU32};

/// Parameters of `priority-weighted-round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PriorityWeightedRoundRobin {
    /// Priority level of each lane, from 0, the lowest, to 15.
    pub levels: Vec<u8>,
    /// Weight of each lane within its level, in flits or packets per turn; 0 for a lane that no
    /// class may use.
    pub weights: Vec<u32>,
    /// Number of flits or packets that a level may send while a lower level is ready; the lower
    /// level then has a turn. This prevents starvation. By default, lower levels send only when no
    /// higher level can.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.3: the progress of low priorities, which should be programmable"))]
    pub yield_after: Option<NonZeroU32>,
    /// Scheduling unit: flit or packet.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for PriorityWeightedRoundRobin {
    // Boxed, because it contains an arbiter for each level.
    type Arbiter = Box<gingham_fairq::PriorityWeightedRoundRobin<PLACES>>;

    fn facts(&self) -> Facts {
        let (name, depends_on) = ("priority-weighted-round-robin", DependsOn::Lanes);
        Facts { name, depends_on, by: self.by, served: with_weight(&self.weights) }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        let levels = levels_of(&self.levels, lanes)?;
        one_a_lane("weights", &self.weights, lanes)?;
        let (weights, _) = shares_of(&self.weights)?;
        let arbiter =
            gingham_fairq::PriorityWeightedRoundRobin::new(&levels, &weights, self.yield_after)?;
        Ok(Box::new(arbiter))
    }

    const HAS_WEIGHTS: bool = true;

    fn weigh(
        arbiter: &mut Self::Arbiter,
        lane: usize,
        weight: NonZeroU16,
    ) -> Result<(), SchedulerError> {
        arbiter.change(lane, weight.get().into())
    }
}
