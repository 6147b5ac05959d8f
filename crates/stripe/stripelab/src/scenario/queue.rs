//! Queue limit: bytes, for example `"64 kB"`, or the longest wait, for example `"20 ms"`.

use gingham_linkemu::{ParameterError, QueueBound};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::borrow::Cow;
use std::fmt;

/// Queue limit, in bytes or in time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueLength(pub QueueBound);

impl<'de> Deserialize<'de> for QueueLength {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(TextVisitor)
    }
}

impl Serialize for QueueLength {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl JsonSchema for QueueLength {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "QueueLength".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let units = "GiB|GB|MiB|MB|KiB|kB|B|s|ms|us|ns|ps|\u{b5}s|\u{3bc}s";
        json_schema!({
            "type": "string",
            "pattern": format!(r"^\s*[0-9]+(\.[0-9]+)?\s*({units})\s*$"),
            "examples": ["64 kB", "20 ms"],
        })
    }
}

/// Parser of a queue limit, which states the expected format in errors.
struct TextVisitor;

impl de::Visitor<'_> for TextVisitor {
    type Value = QueueLength;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let error = ParameterError::NoBound.to_string();
        f.write_str(error.trim_start_matches("expected "))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<QueueLength, E> {
        let bound = text.parse().map(QueueLength);
        bound.map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))
    }
}
