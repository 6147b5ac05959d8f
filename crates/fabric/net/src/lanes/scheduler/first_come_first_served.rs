//! First come, first served.

use super::{ALL_LANES, DependsOn, Facts, Fault, Granularity, LaneScheduler};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Parameters of `first-come-first-served`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FirstComeFirstServed {
    /// Scheduling unit: flit or packet.
    pub by: Granularity,
}

impl LaneScheduler for FirstComeFirstServed {
    type Arbiter = gingham_fairq::FirstComeFirstServed;

    fn facts(&self) -> Facts {
        Facts {
            name: "first-come-first-served",
            depends_on: DependsOn::Arrivals,
            by: self.by,
            served: ALL_LANES,
        }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet }
    }

    fn build(&self, _lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        Ok(gingham_fairq::FirstComeFirstServed)
    }
}
