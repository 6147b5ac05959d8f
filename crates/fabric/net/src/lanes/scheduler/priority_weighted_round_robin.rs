//! Priority weighted round robin: weighted round robin in the highest level, and bounded waits of
//! lower levels.

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
    /// Levels by lane, from 0, the lowest, to 15.
    pub levels: Vec<u8>,
    /// Weights within the level, in flits or packets per turn, by lane; 0 for a lane that is never
    /// served and that no class may use.
    pub weights: Vec<u32>,
    /// Number of flits, or packets, that a level may send while a lower one could, before that one
    /// has a turn; thus none starves. By default lower levels send only when no higher one can.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.3: the progress of low priorities, which should be programmable"))]
    pub yield_after: Option<NonZeroU32>,
    /// Unit of choice.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for PriorityWeightedRoundRobin {
    // One arbiter per level.
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
