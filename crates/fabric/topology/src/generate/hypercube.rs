//! Hypercube: a mesh of two switches in each dimension.
//!
//! ```text
//!   dimensions = 3        s0-0-1 ──── s0-1-1
//!                        / │         / │
//!                   s1-0-1 ──── s1-1-1 │
//!                      │ s0-0-0 ──│─ s0-1-0
//!                      │ /        │ /
//!                   s1-0-0 ──── s1-1-0
//! ```
//!
//! Switches are neighbours if their names differ in one digit.
//!
//! Source: Seitz, "The Cosmic Cube", Communications of the ACM 28(1), 1985.
//!
//! Closed forms for n dimensions: 2^n switches with n ports each besides host ports; n 2^(n-1)
//! cables between switches; diameter n + 1 switches.

use super::lattice::Lattice;
use super::{GenerateError, error::at_least, error::at_most, is_one, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Mesh of two switches in each dimension.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hypercube {
    /// Number of dimensions, from 1 to 18; each dimension doubles the number of switches.
    #[schemars(range(min = 1, max = 18))]
    pub dimensions: u32,
    /// Number of hosts on each switch, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub hosts_per_switch: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

/// Maximum number of dimensions. With one host per switch, 19 dimensions have 2^20 nodes, above the
/// limit of 1,000,000.
const DIMENSIONS_MAX: u128 = 18;

impl Hypercube {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        at_least("dimensions", self.dimensions, 1)?;
        at_most("dimensions", self.dimensions, DIMENSIONS_MAX, "a million nodes")?;
        let lattice = Lattice {
            parameter: ("dimensions", &self.dimensions),
            dimensions: &vec![2; self.dimensions as usize],
            wraps: false,
            hosts_per_switch: self.hosts_per_switch,
        };
        lattice.generate()
    }
}
