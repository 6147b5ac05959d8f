//! Strict priority of lanes.

use super::{ALL_LANES, DependsOn, Facts, Fault, Granularity, LaneScheduler, PLACES, levels_of};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `strict-priority`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictPriority {
    /// Priority level of each lane, from 0, the lowest, to 15.
    pub levels: Vec<u8>,
    /// Scheduling unit: flit or packet.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for StrictPriority {
    type Arbiter = gingham_fairq::StrictPriority<PLACES>;

    fn facts(&self) -> Facts {
        let (name, depends_on) = ("strict-priority", DependsOn::Lanes);
        Facts { name, depends_on, by: self.by, served: ALL_LANES }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        Ok(gingham_fairq::StrictPriority::new(&levels_of(&self.levels, lanes)?)?)
    }
}
