//! Mesh: a grid of switches, cabled to their neighbours in each dimension.
//!
//! ```text
//!   dimensions = [3, 3]        s0-0 ── s0-1 ── s0-2
//!                               │       │       │
//!                              s1-0 ── s1-1 ── s1-2
//!                               │       │       │
//!                              s2-0 ── s2-1 ── s2-2
//! ```
//!
//! Source: Dally and Towles, "Principles and Practices of Interconnection Networks", 2004, chapter
//! 5.
//!
//! Closed forms for sizes k_1, ..., k_n with product N: N switches; sum of N (k_i - 1) / k_i cables
//! between switches; diameter 1 + sum of (k_i - 1) switches.

use super::lattice::Lattice;
use super::{GenerateError, is_one, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Grid of switches with open edges.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Mesh {
    /// Number of switches in each of 1 to 32 dimensions, such as [8, 8]; each number is at least 1.
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

impl Mesh {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        let lattice = Lattice {
            parameter: ("dimensions", &self.dimensions),
            dimensions: &self.dimensions,
            wraps: false,
            hosts_per_switch: self.hosts_per_switch,
        };
        lattice.generate()
    }
}
