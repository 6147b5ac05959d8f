//! Key `network.lanes.datelines`: a Boolean, or a dateline rule.

use gingham_topology::routing::DatelineRule;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, IntoDeserializer, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Dateline setting of a scenario.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DatelineChoice {
    /// `false`: no datelines.
    Without,
    /// Datelines placed by the named rule; `true` means `"by-hop"`.
    By(DatelineRule),
}

impl DatelineChoice {
    /// Returns the rule; `None` without datelines.
    pub fn rule(self) -> Option<DatelineRule> {
        match self {
            Self::Without => None,
            Self::By(rule) => Some(rule),
        }
    }
}

impl Serialize for DatelineChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Without => serializer.serialize_bool(false),
            Self::By(DatelineRule::ByHop) => serializer.serialize_bool(true),
            Self::By(rule) => rule.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for DatelineChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ChoiceVisitor)
    }
}

impl JsonSchema for DatelineChoice {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "DatelineChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let rule = generator.subschema_for::<DatelineRule>();
        json_schema!({ "anyOf": [{ "type": "boolean" }, rule] })
    }
}

struct ChoiceVisitor;

impl Visitor<'_> for ChoiceVisitor {
    type Value = DatelineChoice;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("true, false, \"by-hop\" or \"by-wrap\"")
    }

    fn visit_bool<E: de::Error>(self, are_there: bool) -> Result<DatelineChoice, E> {
        let by_hop = DatelineChoice::By(DatelineRule::ByHop);
        Ok(if are_there { by_hop } else { DatelineChoice::Without })
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<DatelineChoice, E> {
        DatelineRule::deserialize(text.into_deserializer()).map(DatelineChoice::By)
    }
}
