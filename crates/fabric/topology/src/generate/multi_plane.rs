//! Multi-plane fabric: disjoint folded Clos networks, with one adapter of each node in every
//! network.
//!
//! ```text
//!   planes = 2, leaves = 2, spines = 1, hosts_per_leaf = 1
//!
//!             p0-spine0                           p1-spine0
//!             /       \                           /       \
//!       p0-leaf0     p0-leaf1               p1-leaf0     p1-leaf1
//!          │             │                     │             │
//!     h0-0 mlx5_0   h1-0 mlx5_0           h0-0 mlx5_1   h1-0 mlx5_1
//! ```
//!
//! Each plane is a [`FoldedClos`] whose switch names have a prefix.
//!
//! Source: Zhao et al., "Insights into DeepSeek-V3", ISCA 2025, section 5.1.
//!
//! Closed forms: the counts of [`FoldedClos`] times the number of planes.

use super::rails::Copies;
use super::{FoldedClos, GenerateError, error::at_least, one};
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Disjoint folded Clos networks, with one adapter of every node in each network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MultiPlane {
    /// Number of planes, and of adapters per node, at least 1.
    #[schemars(range(min = 1))]
    pub planes: u32,
    /// Number of leaf switches in each plane, at least 1.
    #[schemars(range(min = 1))]
    pub leaves: u32,
    /// Number of spine switches in each plane, at least 1.
    #[schemars(range(min = 1))]
    pub spines: u32,
    /// Number of nodes on each leaf switch, at least 1.
    #[schemars(range(min = 1))]
    pub hosts_per_leaf: u32,
    /// Number of parallel cables between each leaf and each spine, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cables_per_pair: u32,
}

impl MultiPlane {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        at_least("planes", self.planes, 1)?;
        let plane = FoldedClos {
            leaves: self.leaves,
            spines: self.spines,
            hosts_per_leaf: self.hosts_per_leaf,
            cables_per_pair: self.cables_per_pair,
            rails: 1,
        };
        Copies { parameter: "planes", count: self.planes, letter: 'p' }.of(&plane.generate()?)
    }
}
