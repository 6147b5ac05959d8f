//! VirtualClock scheduling of lanes.

use super::{ALL_LANES, DependsOn, Facts, Fault, Granularity, LaneScheduler, PLACES, one_a_lane};
use gingham_kernel::Rate;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroU64;

/// Parameters of `virtual-clock`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct VirtualClock {
    /// Rate of each lane; `best-effort` for a lane that is served only when no other lane can be.
    pub rates: Vec<LaneRate>,
    /// Scheduling unit: flit or packet.
    #[serde(default)]
    pub by: Granularity,
}

/// Rate of a lane under `virtual-clock`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneRate {
    /// Reserved rate.
    Reserved(Rate),
    /// No reserved rate: served only when no other lane can be.
    BestEffort,
}

impl LaneRate {
    /// Returns the rate in bytes per second, or `None` for a best-effort lane.
    pub fn bytes_per_second(self) -> Option<NonZeroU64> {
        match self {
            Self::Reserved(rate) => NonZeroU64::new(rate.bytes_per_second()),
            Self::BestEffort => None,
        }
    }
}

impl LaneScheduler for VirtualClock {
    type Arbiter = Box<gingham_fairq::VirtualClock<PLACES>>;

    fn facts(&self) -> Facts {
        let (name, depends_on) = ("virtual-clock", DependsOn::Arrivals);
        Facts { name, depends_on, by: self.by, served: ALL_LANES }
    }

    fn by_packet(self) -> Self {
        Self { by: Granularity::Packet, ..self }
    }

    fn build(&self, lanes: u8, _flit_bytes: u32) -> Result<Self::Arbiter, Fault> {
        one_a_lane("rates", &self.rates, lanes)?;
        let rates: Vec<_> = self.rates.iter().map(|rate| rate.bytes_per_second()).collect();
        Ok(Box::new(gingham_fairq::VirtualClock::new(&rates)?))
    }
}

const BEST_EFFORT: &str = "best-effort";

impl Serialize for LaneRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Reserved(rate) => rate.serialize(serializer),
            Self::BestEffort => serializer.serialize_str(BEST_EFFORT),
        }
    }
}

impl<'de> Deserialize<'de> for LaneRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(LaneRateVisitor)
    }
}

impl JsonSchema for LaneRate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "LaneRate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rate = Rate::json_schema(generator);
        schemars::json_schema!({ "anyOf": [rate, { "type": "string", "const": BEST_EFFORT }] })
    }
}

struct LaneRateVisitor;

impl de::Visitor<'_> for LaneRateVisitor {
    type Value = LaneRate;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a rate with its unit, such as \"80 MB/s\", or \"{BEST_EFFORT}\"")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<LaneRate, E> {
        if text == BEST_EFFORT {
            return Ok(LaneRate::BestEffort);
        }
        let rate = text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))?;
        Ok(LaneRate::Reserved(rate))
    }
}
