//! Surplus round robin over lanes.

use super::{
    DependsOn, Facts, Fault, Granularity, LaneScheduler, PLACES, WEIGHT_BYTES, quanta_of,
    with_quantum,
};
use gingham_fairq::{PassingOver, SchedulerError};
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU16;

/// Parameters of `surplus-round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SurplusRoundRobin {
    /// Quantum of each lane in bytes per turn, at least one flit; `0 B` for a lane that no class
    /// may use.
    pub quanta: Vec<Bytes>,
    /// Scheduling unit: flit or packet.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for SurplusRoundRobin {
    type Arbiter = PassingOver<gingham_fairq::SurplusRoundRobin<PLACES>>;

    fn facts(&self) -> Facts {
        let served = with_quantum(&self.quanta);
        Facts { name: "surplus-round-robin", depends_on: DependsOn::Lengths, by: self.by, served }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        let (quanta, _) = quanta_of(&self.quanta, lanes, flit_bytes)?;
        // A maximum length of 1 B permits quanta smaller than a packet or flit, which then takes
        // several turns.
        Ok(PassingOver::new(gingham_fairq::SurplusRoundRobin::new(1, &quanta)?))
    }

    const HAS_WEIGHTS: bool = true;

    fn weigh(
        arbiter: &mut Self::Arbiter,
        lane: usize,
        weight: NonZeroU16,
    ) -> Result<(), SchedulerError> {
        arbiter.scheduler_mut().change_soon(lane, u32::from(weight.get()) * WEIGHT_BYTES)
    }
}
