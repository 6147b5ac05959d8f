//! Deficit round robin over lanes.

use super::{DependsOn, Facts, Fault, Granularity, LaneScheduler, PLACES, quanta_of, with_quantum};
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `deficit-round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeficitRoundRobin {
    /// Quantum of each lane in bytes per turn, at least one flit; `0 B` for a lane that no class
    /// may use.
    pub quanta: Vec<Bytes>,
    /// Scheduling unit: flit or packet.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for DeficitRoundRobin {
    type Arbiter = gingham_fairq::DeficitRoundRobin<PLACES>;

    fn facts(&self) -> Facts {
        let served = with_quantum(&self.quanta);
        Facts { name: "deficit-round-robin", depends_on: DependsOn::Lengths, by: self.by, served }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        let (quanta, least) = quanta_of(&self.quanta, lanes, flit_bytes)?;
        Ok(gingham_fairq::DeficitRoundRobin::new(least, &quanta)?)
    }
}
