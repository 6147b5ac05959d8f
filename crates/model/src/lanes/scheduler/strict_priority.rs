//! Strict priority: the highest level first, round robin among its lanes.

use super::{ALL_LANES, Facts, Fault, Granularity, LaneScheduler, LooksAt, PLACES, one_a_lane};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The highest level.
const LEVEL_MAX: u8 = 15;

/// Parameters of `strict-priority`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StrictPriority {
    /// Levels by lane, from 0, the lowest, to 15.
    pub levels: Vec<u8>,
    /// What is chosen at a time.
    #[serde(default)]
    pub by: Granularity,
}

impl LaneScheduler for StrictPriority {
    type Arbiter = gingham_fairq::StrictPriority<PLACES>;

    fn facts(&self) -> Facts {
        let (name, looks_at) = ("strict-priority", LooksAt::Lanes);
        Facts { name, looks_at, by: self.by, served: ALL_LANES }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        one_a_lane("levels", &self.levels, lanes)?;
        if let Some(lane) = self.levels.iter().position(|level| *level > LEVEL_MAX) {
            let message = format!("levels are 0 to {LEVEL_MAX}, not {}", self.levels[lane]);
            return Err(Fault { key: format!("levels.{lane}"), message });
        }
        let levels: Vec<_> = self.levels.iter().map(|level| usize::from(*level)).collect();
        Ok(gingham_fairq::StrictPriority::new(&levels)?)
    }
}
