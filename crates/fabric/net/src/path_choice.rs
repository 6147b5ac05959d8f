//! Choice between the primary and the alternative path of a packet.
//!
//! ```text
//!   by length          messages shorter than `below` ─ primary set      else ── alternative
//!   at random          a random draw of its host ───── primary set │ `percent` %: alternative
//!   by contention      coefficient of its host ─────── low: primary set   high ── alternative
//!                            ▲
//!                            └── how long each local packet took to leave (`contention`)
//! ```
//!
//! Source: Flich, Malumbres, López and Duato 2001, section III: A (by length), B (at random;
//! `percent` is its MAXLO) and C (by contention).
//!
//! Invariants: the choice is made when the first flit of a packet leaves, from the state of its
//! host alone; by length, all packets of a message take the same path; both sets join the same
//! pairs; each host draws from a random stream of its own, once per packet.
//!
//! The types without `Plan` in their names are those of scenarios.

mod chooser;
mod contention;

pub use chooser::PathChooser;
pub use contention::{Contention, ContentionPlan};

use crate::bare_names::accept_bare_names;
use gingham_kernel::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Choice between two paths, as a scenario names it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(transform = accept_bare_names)]
pub enum Choose {
    /// Messages shorter than a limit take the primary path, all others the alternative one.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-A"))]
    #[schemars(extend("x-example" = r#"{ by-length = { below = "128 B" } }"#))]
    ByLength(ByLength),
    /// Each packet takes the alternative path with a given probability, independent of all others.
    #[schemars(extend("x-source" = "Flich et al. 2001, section III-B"))]
    #[schemars(extend("x-example" = "{ at-random = { percent = 25 } }"))]
    AtRandom(AtRandom),
    /// Packets of a host take the alternative path while its contention coefficient is high: how
    /// many times longer than without contention its packets took to leave it, on average.
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
    /// Percentage of packets that take the alternative path on average, from 0 to 100: the MAXLO of
    /// Flich et al.
    pub percent: f64,
}

/// Parameters of `by-contention`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ByContention {
    /// Weight of the previous coefficient for a packet whose contention exceeds the coefficient, at least 0 and
    /// below 1.
    pub alpha: f64,
    /// Weight of the previous coefficient for other packets, at least 0 and below 1.
    pub beta: f64,
    /// Coefficient above which a host begins to use alternative paths; at least `below`.
    pub above: f64,
    /// Coefficient below which a host returns to primary paths; at least 1.
    pub below: f64,
    /// Coefficient of a host that has sent nothing, at least 1. If it exceeds `above`, hosts start
    /// with alternative paths.
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

/// Choice of the path set of a packet.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub enum PathChoice {
    /// The only path set.
    #[default]
    Only,
    /// The alternative for messages of at least this payload.
    ByLength {
        /// Least payload of a message that takes the alternative.
        below_bytes: u32,
    },
    /// The alternative with this probability.
    AtRandom {
        /// Probability of the alternative, from 0 to 1.
        alternative: f64,
    },
    /// The alternative while the host's contention coefficient is high.
    ByContention(ContentionPlan),
}
