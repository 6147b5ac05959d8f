//! Folded Clos network of two levels, also called leaf-spine network.
//!
//! ```text
//!   leaves = 3, spines = 2          spine0        spine1
//!                                   /  |  \      /  |  \
//!                                  (every leaf to every spine)
//!                                   \  |  /      \  |  /
//!                               leaf0     leaf1     leaf2
//!                               /   \     /   \     /   \
//!                             h0-0 h0-1 h1-0 h1-1 h2-0 h2-1
//! ```
//!
//! Port order: hosts, `spine0`, `spine1`, ... on a leaf; `leaf0`, `leaf1`, ... on a spine. Spines
//! come first in canonical order, so that the first switch is a root.
//!
//! Source: Clos, Bell System Technical Journal 32(2), 1953; folded: Dally and Towles 2004, chapter
//! 6.
//!
//! Closed forms for l leaves, s spines, p hosts per leaf and c cables per leaf-spine pair: l + s
//! switches, l p hosts, l p + l s c cables; diameter 3 switches (1 switch with a single leaf);
//! oversubscription p / (s c); rearrangeably non-blocking if p <= s c.

use super::draft::{Draft, Size};
use super::error::at_least;
use super::{GenerateError, is_one, one};
use crate::{DraftNode, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Leaf switches, each cabled to every spine switch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FoldedClos {
    /// Number of leaf switches, at least 1.
    #[schemars(range(min = 1))]
    pub leaves: u32,
    /// Number of spine switches, at least 1.
    #[schemars(range(min = 1))]
    pub spines: u32,
    /// Number of hosts on each leaf switch, at least 1.
    #[schemars(range(min = 1))]
    pub hosts_per_leaf: u32,
    /// Number of parallel cables between each leaf and each spine, at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub cables_per_pair: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

impl FoldedClos {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        self.check()?;
        let mut draft = Draft::default();
        let spine_ports = self.leaves * self.cables_per_pair;
        let leaf_ports = self.hosts_per_leaf + self.spines * self.cables_per_pair;
        let spines: Vec<DraftNode> =
            (0..self.spines).map(|i| draft.switch(&format!("spine{i}"), spine_ports)).collect();
        for index in 0..self.leaves {
            let leaf = draft.switch(&format!("leaf{index}"), leaf_ports);
            draft.hosts_at(leaf, &index.to_string(), self.hosts_per_leaf);
            let spine_ends = spines.iter().flat_map(|spine| {
                let first = index * self.cables_per_pair + 1;
                (first..first + self.cables_per_pair).map(|port| (*spine, port))
            });
            for (leaf_port, spine_end) in (self.hosts_per_leaf + 1..).zip(spine_ends) {
                draft.cable((leaf, leaf_port), spine_end);
            }
        }
        Ok(draft.build())
    }

    fn check(&self) -> Result<(), GenerateError> {
        at_least("leaves", self.leaves, 1)?;
        at_least("spines", self.spines, 1)?;
        at_least("hosts_per_leaf", self.hosts_per_leaf, 1)?;
        at_least("cables_per_pair", self.cables_per_pair, 1)?;
        let [leaves, spines, hosts, cables] =
            [self.leaves, self.spines, self.hosts_per_leaf, self.cables_per_pair].map(u128::from);
        let leaf = Size { switches: leaves, hosts: leaves * hosts, ports_per_switch: hosts };
        leaf.check("hosts_per_leaf", &self.hosts_per_leaf)?;
        let spine = Size { switches: spines, hosts: 0, ports_per_switch: leaves * cables };
        spine.check("leaves", &self.leaves)?;
        let all = Size {
            switches: leaves + spines,
            hosts: leaves * hosts,
            ports_per_switch: (hosts + spines * cables).max(leaves * cables),
        };
        all.check("spines", &self.spines)
    }
}
