//! Round robin over lanes.

use super::{ALL_LANES, DependsOn, Facts, Fault, Granularity, LaneScheduler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoundRobin {
    /// Scheduling unit: flit or packet.
    pub by: Granularity,
}

impl LaneScheduler for RoundRobin {
    type Arbiter = gingham_fairq::RoundRobin;

    fn facts(&self) -> Facts {
        Facts { name: "round-robin", depends_on: DependsOn::Lanes, by: self.by, served: ALL_LANES }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet }
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        Ok(gingham_fairq::RoundRobin::new(lanes.into()))
    }
}
