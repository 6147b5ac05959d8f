//! Ring of switches, the smallest fabric that can deadlock.
//!
//! ```text
//!   ┌─ s0 ── s1 ── s2 ── s3 ─┐
//!   └────────────────────────┘
//! ```
//!
//! A ring is a one-dimensional torus; a single switch is a star.
//!
//! Closed forms for n > 2 switches: n cables between switches; diameter floor(n / 2) + 1 switches.

use super::lattice::Lattice;
use super::{GenerateError, error::at_least, is_one, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Switches in a ring.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ring {
    /// Number of switches in the ring, at least 1; two switches are joined by one cable.
    #[schemars(range(min = 1))]
    pub switches: u32,
    /// Number of hosts on each switch, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub hosts_per_switch: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

impl Ring {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        at_least("switches", self.switches, 1)?;
        let lattice = Lattice {
            parameter: ("switches", &self.switches),
            dimensions: &[self.switches],
            wraps: true,
            hosts_per_switch: self.hosts_per_switch,
        };
        lattice.generate()
    }
}
