//! Torus: a mesh whose opposite edges are joined.
//!
//! ```text
//!   dimensions = [2, 3]      ┌────────────────────────┐
//!                            └─ s0-0 ── s0-1 ── s0-2 ─┘     a row of 3 is a ring;
//!                                │       │       │          a column of 2 is one cable
//!                            ┌─ s1-0 ── s1-1 ── s1-2 ─┐
//!                            └────────────────────────┘
//! ```
//!
//! Source: Dally and Towles 2004, chapter 5 (k-ary n-cubes).
//!
//! Closed forms for sizes k_1, ..., k_n with product N: N switches; each dimension adds N cables if
//! k_i > 2, N / 2 if k_i = 2, and none if k_i = 1; diameter 1 + sum of floor(k_i / 2) switches.

use super::lattice::Lattice;
use super::{GenerateError, is_one, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Grid of switches whose opposite edges are joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Torus {
    /// Number of switches in each of 1 to 32 dimensions, at least 1; one cable joins 2 switches.
    #[schemars(length(min = 1, max = 32), inner(range(min = 1)))]
    pub dimensions: Vec<u32>,
    /// Number of hosts on each switch, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub hosts_per_switch: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

impl Torus {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        let lattice = Lattice {
            parameter: ("dimensions", &self.dimensions),
            dimensions: &self.dimensions,
            wraps: true,
            hosts_per_switch: self.hosts_per_switch,
        };
        lattice.generate()
    }
}
