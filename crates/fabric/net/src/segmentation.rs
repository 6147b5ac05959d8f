//! Segmentation: the maximum payload of a packet.
//!
//! ```text
//!   longest payload     route:  1 switch   2 switches   3 switches
//!   fixed 100 B                  100        100          100
//!   adaptive, B = 80 B            80        160          240        L = B h
//!   by hops [80, 200]             80        200          200        the last value for longer routes
//! ```
//!
//! Source: Kwan et al. 1996, sections 3.1 (fixed), 3.2 (`L = B h`: buffers of B bytes over h
//! switches hold a whole segment) and 5 (by priority and route).
//!
//! Invariant: a packet carries at least 1 B.

use gingham_kernel::Bytes;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Segmentation of a class's messages into packets, as named in scenarios.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_adaptive)]
pub enum Segmentation {
    /// No segmentation: each message is one packet.
    #[default]
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1"))]
    None,
    /// Maximum payload of a packet.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1", "x-example" = r#"{ fixed = "100 B" }"#))]
    Fixed(Bytes),
    /// Payload of a packet per switch on its route: a route with two switches permits twice this
    /// payload. Default: the capacity of the network's slack buffers.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.2", "x-example" = r#"{ adaptive = "80 B" }"#))]
    Adaptive(Adaptive),
    /// Maximum payload of a packet on routes with one switch, two switches and so on. The last
    /// value applies to all longer routes.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 5; a list of sizes is ours"))]
    #[schemars(extend("x-example" = r#"{ by-hops = ["80 B", "160 B", "240 B"] }"#))]
    ByHops(Vec<Bytes>),
}

/// Parameters of adaptive segmentation.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Adaptive {
    /// Payload per switch on the route; by default the capacity of a slack buffer.
    pub per_switch: Option<Bytes>,
}

/// Maximum payload of a packet.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub enum SegmentationPlan {
    /// Unlimited: each message is one packet.
    #[default]
    None,
    /// Fixed payload in bytes, at least 1.
    Fixed(u32),
    /// Payload bytes per switch on the route.
    PerSwitch(u32),
    /// Payload bytes per switch, up to a maximum.
    PerSwitchUpTo {
        /// Payload bytes per switch.
        per_switch: u32,
        /// Maximum payload in bytes.
        longest: u32,
    },
    /// Maximum payload in bytes on routes with one switch, two switches and so on. The last value
    /// applies to longer routes.
    ByHops(Box<[u32]>),
}

impl SegmentationPlan {
    /// Returns the maximum payload of a packet in bytes; `switches` is called only if needed. A
    /// cable between two hosts counts as one switch.
    #[inline]
    pub fn longest_bytes(&self, switches: impl FnOnce() -> usize) -> u32 {
        match self {
            Self::None => u32::MAX,
            Self::Fixed(bytes) => *bytes,
            Self::PerSwitch(bytes) => over_switches(*bytes, switches()),
            Self::PerSwitchUpTo { per_switch, longest } => {
                over_switches(*per_switch, switches()).min(*longest)
            }
            Self::ByHops(bytes) => bytes[switches().clamp(1, bytes.len()) - 1],
        }
    }
}

fn over_switches(bytes: u32, switches: usize) -> u32 {
    bytes.saturating_mul(u32::try_from(switches.max(1)).unwrap_or(u32::MAX))
}

fn accept_bare_adaptive(schema: &mut Schema) {
    let variants = schema.get_mut("oneOf").and_then(|variants| variants.as_array_mut());
    let variants = variants.expect("an enum has variants");
    let named = variants.iter().find(|variant| variant["properties"]["adaptive"].is_object());
    let help = named.map(|variant| variant["description"].clone()).unwrap_or_default();
    let bare =
        schemars::json_schema!({ "type": "string", "const": "adaptive", "description": help });
    variants.push(bare.to_value());
}

impl Serialize for Adaptive {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.per_switch {
            Some(bytes) => bytes.serialize(serializer),
            None => serializer.serialize_map(Some(0))?.end(),
        }
    }
}

impl<'de> Deserialize<'de> for Adaptive {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AdaptiveVisitor)
    }
}

impl JsonSchema for Adaptive {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Adaptive".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Bytes::json_schema(generator)
    }
}

struct AdaptiveVisitor;

impl<'de> Visitor<'de> for AdaptiveVisitor {
    type Value = Adaptive;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a size with its unit, such as \"80 B\", or the name \"adaptive\" alone")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Adaptive, E> {
        let bytes = text.parse().map_err(|_| E::invalid_value(de::Unexpected::Str(text), &self))?;
        Ok(Adaptive { per_switch: Some(bytes) })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Adaptive, A::Error> {
        match map.next_key::<String>()? {
            Some(_) => Err(de::Error::invalid_type(de::Unexpected::Map, &self)),
            None => Ok(Adaptive::default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longest_payload_depends_on_the_route_length() {
        let by_hops = SegmentationPlan::ByHops([80, 160, 200].into());
        let plans = [SegmentationPlan::Fixed(100), SegmentationPlan::PerSwitch(80), by_hops];
        let longest = |switches| plans.each_ref().map(|plan| plan.longest_bytes(|| switches));
        assert_eq!(longest(0), [100, 80, 80]);
        assert_eq!(longest(1), [100, 80, 80]);
        assert_eq!(longest(3), [100, 240, 200]);
        assert_eq!(longest(7), [100, 560, 200]);
        assert_eq!(
            SegmentationPlan::None.longest_bytes(|| unreachable!("no route matters")),
            u32::MAX
        );
        assert_eq!(SegmentationPlan::PerSwitch(1 << 31).longest_bytes(|| 2), u32::MAX);
        let bounded = SegmentationPlan::PerSwitchUpTo { per_switch: 80, longest: 200 };
        assert_eq!(
            [0, 1, 2, 3, 7].map(|switches| bounded.longest_bytes(|| switches)),
            [80, 80, 160, 200, 200]
        );
    }
}
