//! Parameter that is either a name or a list of names.

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Error as _};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Switch names; at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Names(Vec<String>);

impl Names {
    /// Returns the names in the given order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

impl From<&str> for Names {
    fn from(name: &str) -> Self {
        Self(vec![name.to_owned()])
    }
}

impl FromIterator<String> for Names {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let names: Vec<_> = names.into_iter().collect();
        assert!(!names.is_empty(), "there is at least one name");
        Self(names)
    }
}

impl Serialize for Names {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [name] => name.serialize(serializer),
            names => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NamesVisitor)
    }
}

struct NamesVisitor;

impl<'de> de::Visitor<'de> for NamesVisitor {
    type Value = Names;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a switch, or a list of at least one")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<Names, E> {
        Ok(name.into())
    }

    fn visit_seq<A: de::SeqAccess<'de>>(self, mut list: A) -> Result<Names, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element()? {
            names.push(name);
        }
        if names.is_empty() { Err(A::Error::invalid_length(0, &self)) } else { Ok(Names(names)) }
    }
}

impl JsonSchema for Names {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Names".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "oneOf": [
                { "type": "string" },
                { "type": "array", "items": { "type": "string" }, "minItems": 1 },
            ],
        })
    }
}
