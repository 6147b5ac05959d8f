//! Scenario keys of policing.

use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Limit on the traffic of a class from each host: a token bucket per host (Kwan et al. 1996,
/// section 5).
///
/// ```text
///   tokens flow in at `rate`, one per byte ──► bucket of `burst`, full at start ──► enough: conforming
///                                                                               └─► too few: `excess`
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Policing {
    /// Rate of the tokens, one per payload byte, as a fraction of the host's link rate, above 0 and
    /// at most 1.
    pub rate: f64,
    /// Bucket size: payload that may be sent at once after an idle period.
    pub burst: Bytes,
    /// Maximum payload of a packet; messages are cut into packets of at most this payload, in
    /// addition to `segmentation`. Default: unlimited.
    pub longest: Option<Bytes>,
    /// Handling of a message or packet if the bucket holds too few tokens.
    #[serde(default = "default_excess")]
    pub excess: Excess,
}

/// Handling of a message or packet if the bucket holds too few tokens.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Excess {
    /// Each packet waits until the bucket holds tokens for its payload. The packet delays only
    /// later packets of its class at its host.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 5; the bucket is that of ITU-T I.371"))]
    Delay,
    /// A message is dropped and counted if the bucket holds too few tokens when it is created.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 5; the bucket is that of ITU-T I.371"))]
    Drop,
    /// A message is demoted if the bucket holds too few tokens when it is created. It is sent with
    /// the priority and segmentation of the named class, which must have a lower priority, and
    /// still counts as a message of its own class.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 5; the bucket is that of ITU-T I.371"))]
    #[schemars(extend("x-example" = r#"[[traffic]]
name = "urgent"
priority = 1
load = 0.05
length = { fixed = "64 B" }
policing = { rate = 0.1, burst = "256 B", excess = { demote = "bulk" } }
[[traffic]]
name = "bulk"
load = 0.1
length = { fixed = "64 B" }"#))]
    Demote(String),
}

fn default_excess() -> Excess {
    Excess::Delay
}
