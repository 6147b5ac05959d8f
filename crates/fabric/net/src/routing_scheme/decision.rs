//! Selection among several paths or outputs.
//!
//! Source: Flich, Malumbres, López and Duato 2001, section III: A (by length), B (at random;
//! `percent` is its MAXLO) and C (by contention).
//!
//! The alternative path is the second direct path, or a path via an intermediate switch
//! ([`super::RoutingScheme::vias`]) drawn for each packet.
//!
//! Invariants: a decision at the source is made when the first flit of a packet leaves. It depends
//! only on the host's state and, with [`Decision::ByLoad`], on the loads of the first switch's
//! outputs. Each host has separate random streams.

use super::{ContentionPlan, Reselect, Select};
use crate::bare_names::accept_bare_names;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choice between two paths, as named in scenarios.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Choose {
    /// Messages shorter than a limit take the primary path, all other messages the alternative
    /// path.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-A"))]
    #[schemars(extend("x-example" = r#"{ by-length = { below = "128 B" } }"#))]
    ByLength(ByLength),
    /// Each packet takes the alternative path with a given probability, independently of other
    /// packets.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-B"))]
    #[schemars(extend("x-example" = "{ at-random = { percent = 25 } }"))]
    AtRandom(AtRandom),
    /// Packets of a host take the alternative path while the host's contention coefficient is high.
    /// The coefficient is a moving average over packets: the time that a packet took to leave the
    /// host, divided by the time without contention.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-C", "x-needs" = "halts"))]
    ByContention(ByContention),
}

/// Parameters of `by-length`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ByLength {
    /// Messages with less payload than this take the primary path.
    pub below: Bytes,
}

/// Parameters of `at-random`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct AtRandom {
    /// Mean percentage of packets that take the alternative path, from 0 to 100: MAXLO in Flich et
    /// al.
    pub percent: f64,
}

/// Parameters of `by-contention`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ByContention {
    /// Weight of the previous coefficient in the average, after a packet with higher contention; at
    /// least 0 and below 1.
    pub alpha: f64,
    /// Weight of the previous coefficient in the average, after any other packet; at least 0 and
    /// below 1.
    pub beta: f64,
    /// Coefficient above which a host starts to use alternative paths; at least `below`.
    pub above: f64,
    /// Coefficient below which a host returns to primary paths; at least 1.
    pub below: f64,
    /// Coefficient of a host that has sent no packets; at least 1. If it exceeds `above`, hosts
    /// start with alternative paths.
    pub start: f64,
}

impl Default for ByLength {
    fn default() -> Self {
        Self { below: Bytes(64) }
    }
}

impl Default for AtRandom {
    fn default() -> Self {
        Self { percent: 50.0 }
    }
}

impl Default for ByContention {
    fn default() -> Self {
        Self { alpha: 0.7, beta: 0.95, above: 1.5, below: 1.1, start: 1.0 }
    }
}

/// Selection among the paths of a run.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum Decision {
    /// One path for each endpoint pair.
    #[default]
    ByPair,
    /// Hosts send long messages on the alternative path.
    ByLength {
        /// Minimum payload of a long message, in bytes.
        below_bytes: u32,
    },
    /// Hosts select the alternative path at random.
    AtRandom {
        /// Probability of the alternative path, from 0 to 1.
        alternative: f64,
    },
    /// Hosts use the alternative path while their contention coefficient is high.
    ByContention(ContentionPlan),
    /// Hosts select the alternative path if its first output is less loaded (UGAL with local
    /// information).
    ByLoad {
        /// Difference of load times hops, direct minus alternative path, above which packets take
        /// the alternative path; in bytes.
        threshold_bytes: u64,
    },
    /// Every switch selects one of the outputs in its adaptive table.
    AtSwitches(SwitchDecision),
}

/// Selection of an output at every switch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SwitchDecision {
    /// Rule for the selection among several outputs.
    pub select: Select,
    /// Whether selection is repeated while a head waits for a lane.
    pub reselect: Reselect,
}

impl Decision {
    /// Returns whether hosts select a path for each packet.
    pub const fn is_at_source(&self) -> bool {
        !matches!(self, Self::ByPair | Self::AtSwitches(_))
    }

    /// Returns whether the state of the network influences the selection.
    pub const fn depends_on_network(&self) -> bool {
        matches!(self, Self::ByContention(_) | Self::ByLoad { .. } | Self::AtSwitches(_))
    }

    pub(super) fn alternative(&self, message_bytes: u32) -> Option<f64> {
        match self {
            Self::ByPair | Self::AtSwitches(_) => Some(0.0),
            Self::ByLength { below_bytes } => {
                Some(f64::from(u8::from(message_bytes >= *below_bytes)))
            }
            Self::AtRandom { alternative } => Some(*alternative),
            Self::ByContention(_) | Self::ByLoad { .. } => None,
        }
    }

    /// Returns the selection at switches, if any.
    pub const fn at_switches(&self) -> Option<SwitchDecision> {
        match self {
            Self::AtSwitches(decision) => Some(*decision),
            _ => None,
        }
    }
}
