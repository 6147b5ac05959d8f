//! Schedulers of lanes as a scenario names them, by their names alone or with parameters.
//!
//! ```text
//!   crossbar_input = "round-robin"
//!   link_output = { weighted-round-robin = { weights = [1, 2, 4], by = "packet" } }
//!   adapter_port = { infiniband = { high = [{ lane = 0, weight = 4 }], low = [{ lane = 1, weight = 1 }] } }
//! ```
//!
//! What is given by lane is a list with a value for each, lane 0 first.

use super::Granularity;
use crate::traffic::accept_bare_names;
use gingham_kernel::{Bytes, Rate};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// How a port chooses among its lanes.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Scheduler {
    /// In turn, from the lane after the last that was served on.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    RoundRobin(Plain),
    /// In turn, and in each turn so many flits, or packets.
    #[schemars(extend(
        "x-source" = "Yum et al. 2002, section 3.1",
        "x-example" = "{ weighted-round-robin = { weights = [1, 3] } }"
    ))]
    WeightedRoundRobin(Weights),
    /// In turn, and in each turn so many bytes; what the last flit or packet takes beyond them is missing in the next.
    #[schemars(extend(
        "x-source" = "Adiseshu et al. 1996, section 3",
        "x-example" = r#"{ surplus-round-robin = { quanta = ["64 B", "192 B"] } }"#
    ))]
    SurplusRoundRobin(Quanta),
    /// In turn, and in each turn so many bytes; what is too little for the next flit or packet is saved for the next turn.
    #[schemars(extend(
        "x-source" = "Shreedhar and Varghese 1995",
        "x-example" = r#"{ deficit-round-robin = { quanta = ["64 B", "192 B"] } }"#
    ))]
    DeficitRoundRobin(Quanta),
    /// As if each lane had a channel of its own, at its own rate: what that would have carried first goes first.
    #[schemars(extend(
        "x-source" = "Zhang 1990; Yum et al. 2002, section 3.1",
        "x-example" = r#"{ virtual-clock = { rates = ["50 MB/s", "best-effort"] } }"#
    ))]
    VirtualClock(Rates),
    /// What came first to its place, whatever its lane.
    #[schemars(extend("x-source" = "Yum et al. 2002, section 3.1"))]
    FirstComeFirstServed(Plain),
    /// The highest level of which a lane can send, and in turn among its lanes; lower levels may starve.
    #[schemars(extend("x-source" = "textbook", "x-example" = "{ strict-priority = { levels = [0, 1] } }"))]
    StrictPriority(Levels),
    /// InfiniBand's tables of high and of low priority, with a limit on high priority and lane 15 above all;
    /// always by the packet. Alone, the tables that OpenSM gives where nothing is configured.
    #[serde(rename = "infiniband")]
    #[schemars(extend(
        "x-source" = "InfiniBand Architecture Specification, Volume 1, section 7.6.9",
        "x-example" = r#"network.lanes.count = 2
network.lanes.forwarding = "virtual-cut-through"
network.lanes.crossbar_input = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }
network.lanes.link_output = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }
network.lanes.adapter_port = { infiniband = { high = [{ lane = 1, weight = 4 }], low = [{ lane = 0, weight = 1 }], high_limit = 1 } }"#
    ))]
    InfiniBand(Tables),
}

/// What an arbiter without parameters of its own can be told.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Plain {
    /// What is chosen at a time.
    pub by: Granularity,
}

/// Parameters of `weighted-round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Weights {
    /// Flits, or packets, of a turn, by lane; 0 for a lane that is never served and that no class may use.
    pub weights: Vec<u32>,
    /// What is chosen at a time.
    #[serde(default)]
    pub by: Granularity,
}

/// Parameters of `surplus-round-robin` and `deficit-round-robin`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Quanta {
    /// Bytes of a turn, by lane, at least a flit; `0 B` for a lane that is never served and that no class may use.
    pub quanta: Vec<Bytes>,
    /// What is chosen at a time.
    #[serde(default)]
    pub by: Granularity,
}

/// Parameters of `virtual-clock`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Rates {
    /// Rates by lane; `best-effort` for a lane that goes when no other can.
    pub rates: Vec<LaneRate>,
    /// What is chosen at a time.
    #[serde(default)]
    pub by: Granularity,
}

/// Parameters of `strict-priority`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Levels {
    /// Levels by lane, from 0, the lowest, to 15.
    pub levels: Vec<u8>,
    /// What is chosen at a time.
    #[serde(default)]
    pub by: Granularity,
}

/// Parameters of `infiniband`: tables, or a file that has them.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Tables {
    /// Slots of high priority, at most 64; none if only `low` is given.
    pub high: Option<Vec<TableSlot>>,
    /// Slots of low priority, at most 64; none if only `high` is given.
    pub low: Option<Vec<TableSlot>>,
    /// What high priority may send before a packet of low priority has its turn, in units of 4,096 bytes: 0 for a
    /// single packet, 255 for no limit. That of the file, or else 0, unless given.
    pub high_limit: Option<u8>,
    /// Instead of tables: an `opensm.conf`, whose lines for switches or adapters are taken, or outputs of
    /// `smpquery vlarb` that all tell the same tables. The path is relative to the scenario.
    pub file: Option<String>,
}

/// A slot of a table of InfiniBand.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TableSlot {
    /// The lane, 0 to 14; it may have several slots, in both tables.
    pub lane: u8,
    /// What it may send in its turn, in units of 64 bytes; 0 skips the slot.
    pub weight: u8,
}

/// The rate of a lane under `virtual-clock`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LaneRate {
    /// So much.
    Reserved(Rate),
    /// None: the lane goes when no other can.
    BestEffort,
}

impl Default for Scheduler {
    fn default() -> Self {
        Self::RoundRobin(Plain::default())
    }
}

impl Scheduler {
    /// Its name in scenarios.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::RoundRobin(_) => "round-robin",
            Self::WeightedRoundRobin(_) => "weighted-round-robin",
            Self::SurplusRoundRobin(_) => "surplus-round-robin",
            Self::DeficitRoundRobin(_) => "deficit-round-robin",
            Self::VirtualClock(_) => "virtual-clock",
            Self::FirstComeFirstServed(_) => "first-come-first-served",
            Self::StrictPriority(_) => "strict-priority",
            Self::InfiniBand(_) => "infiniband",
        }
    }

    /// What is chosen at a time.
    pub const fn granularity(&self) -> Granularity {
        match self {
            Self::RoundRobin(plain) | Self::FirstComeFirstServed(plain) => plain.by,
            Self::WeightedRoundRobin(weights) => weights.by,
            Self::SurplusRoundRobin(quanta) | Self::DeficitRoundRobin(quanta) => quanta.by,
            Self::VirtualClock(rates) => rates.by,
            Self::StrictPriority(levels) => levels.by,
            Self::InfiniBand(_) => Granularity::Packet,
        }
    }
}

/// The word for a lane without a rate.
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
