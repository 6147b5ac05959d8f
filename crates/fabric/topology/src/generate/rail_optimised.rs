//! Rail-optimised fabric: nodes have several adapters, and adapters of a unit with the same number
//! share a leaf.
//!
//! ```text
//!   units = 2, nodes_per_unit = 2, rails = 2, levels = 2
//!
//!                    spine0                      every leaf to every spine (levels = 2), or to the
//!               /    /    \    \                 spines of its group, joined by cores (levels = 3)
//!      su0-leaf0  su0-leaf1  su1-leaf0  su1-leaf1
//!       │    │      │    │    │    │     │    │
//!       0    0      1    1    0    0     1    1      adapter i of each node on leaf i of its unit
//!       └────┼──────┘    │    └────┼─────┘    │
//!         su0-n0      su0-n1    su1-n0     su1-n1
//! ```
//!
//! A **scalable unit** has `nodes_per_unit` nodes and `rails` leaf switches. Adapters and leaves
//! with the same number form a **rail**. In a fabric with three levels, `units_per_block` units
//! form a **block** with `spine_groups` groups of `spines` spines, by default one group per rail.
//! With k core groups, spine j of group g is named `spine{g}-{j}` and cabled to core group
//! floor(j k / `spines`).
//!
//! Port order: on a leaf, nodes, then spines; on a spine, leaves by unit, then cores; on a core,
//! spines by group. The canonical order is cores, spines, leaves.
//!
//! Sources: NVIDIA, "DGX SuperPOD Reference Architecture, Featuring NVIDIA DGX H100 Systems",
//! RA-11333-001, 2023, and the document for DGX B200, table of larger component counts. Blocks and
//! core groups follow NVIDIA's Selene.
//!
//! Closed forms for U units of n nodes and R rails, G spine groups of s spines, u cables per
//! leaf-spine pair, C cores in k core groups, and c cables per core-spine pair: U n R adapters, U R
//! leaves, G s spines, U R s u cables between leaves and spines, and G s c C / k between spines and
//! cores. With two levels, G = 1 and the diameter is 3 switches; with three levels, paths within a
//! spine group pass 3 switches and other paths pass 5.

mod design;

use self::design::{Cores, Design};
use super::draft::Draft;
use super::{GenerateError, one};
use crate::{DraftNode, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Scalable units of nodes with several adapters, one on each leaf switch of the unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RailOptimised {
    /// Number of scalable units, at least 1.
    #[serde(default = "units_default")]
    #[schemars(range(min = 1))]
    pub units: u32,
    /// Number of nodes in each unit, at least 1.
    #[serde(default = "nodes_per_unit_default")]
    #[schemars(range(min = 1))]
    pub nodes_per_unit: u32,
    /// Number of adapters per node, and of leaf switches per unit, at least 1.
    #[serde(default = "rails_default")]
    #[schemars(range(min = 1))]
    pub rails: u32,
    /// Number of switch levels: 2 (leaf and spine) or 3 (leaf, spine and core).
    #[serde(default = "levels_default")]
    #[schemars(range(min = 2, max = 3))]
    pub levels: u32,
    /// Number of ports of each switch, from 2 to 65,535.
    #[serde(default = "radix_default")]
    #[schemars(range(min = 2, max = 65_535))]
    pub radix: u32,
    /// Ratio of nodes to upward cables on a leaf, at least 1; 2 is an oversubscription of 2 : 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub tapering: u32,
    /// Number of spine switches in each spine group; by default as few as possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub spines: Option<u32>,
    /// Number of cables from each leaf to each spine of its group; by default from `tapering`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub uplinks: Option<u32>,
    /// Number of units that share spines (three levels); by default the largest possible number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub units_per_block: Option<u32>,
    /// Number of spine groups per block (three levels), a divisor of `rails`; by default `rails`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub spine_groups: Option<u32>,
    /// Number of core switches (three levels); by default enough to avoid tapering at the spines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub cores: Option<u32>,
}

const fn units_default() -> u32 {
    4
}

const fn nodes_per_unit_default() -> u32 {
    32
}

const fn rails_default() -> u32 {
    8
}

const fn levels_default() -> u32 {
    2
}

const fn radix_default() -> u32 {
    64
}

impl Default for RailOptimised {
    fn default() -> Self {
        Self {
            units: units_default(),
            nodes_per_unit: nodes_per_unit_default(),
            rails: rails_default(),
            levels: levels_default(),
            radix: radix_default(),
            tapering: one(),
            spines: None,
            uplinks: None,
            units_per_block: None,
            spine_groups: None,
            cores: None,
        }
    }
}

impl RailOptimised {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        let design = Design::new(self)?;
        let mut build = Build { shape: self, design, draft: Draft::default() };
        let cores = build.add_cores();
        let spines = build.add_spines();
        let leaves = build.add_leaves();
        build.add_nodes(&leaves);
        build.join_leaves(&leaves, &spines);
        if let Some(to_cores) = design.cores {
            build.join_cores(to_cores, &spines, &cores);
        }
        Ok(build.draft.build())
    }
}

#[derive(Debug)]
struct Build<'a> {
    shape: &'a RailOptimised,
    design: Design,
    draft: Draft,
}

impl Build<'_> {
    fn add_cores(&mut self) -> Vec<DraftNode> {
        let count = self.design.cores.map_or(0, Cores::count);
        (0..count).map(|index| self.switch(&format!("core{index}"))).collect()
    }

    fn add_spines(&mut self) -> Vec<Vec<DraftNode>> {
        let groups = 0..self.design.groups();
        groups.map(|group| self.add_spine_group(group)).collect()
    }

    fn add_spine_group(&mut self, group: u32) -> Vec<DraftNode> {
        let group = if self.shape.levels == 2 { String::new() } else { format!("{group}-") };
        let indices = 0..self.design.spines;
        indices.map(|index| self.switch(&format!("spine{group}{index}"))).collect()
    }

    fn add_leaves(&mut self) -> Vec<Vec<DraftNode>> {
        let (units, rails) = (self.shape.units, self.shape.rails);
        let mut leaf = |unit, rail| self.switch(&format!("su{unit}-leaf{rail}"));
        (0..units).map(|unit| (0..rails).map(|rail| leaf(unit, rail)).collect()).collect()
    }

    fn add_nodes(&mut self, leaves: &[Vec<DraftNode>]) {
        let digits = (self.shape.nodes_per_unit - 1).to_string().len();
        for (unit, leaves) in leaves.iter().enumerate() {
            for node in 0..self.shape.nodes_per_unit {
                let name = format!("su{unit}-n{node:0digits$}");
                for (rail, leaf) in (0..).zip(leaves) {
                    let adapter = self.draft.adapter(&name, rail);
                    self.draft.cable((*leaf, node + 1), (adapter, 1));
                }
            }
        }
    }

    fn join_leaves(&mut self, leaves: &[Vec<DraftNode>], spines: &[Vec<DraftNode>]) {
        let uplinks = self.design.uplinks;
        let mut spine_port = vec![1; spines.len()];
        for (unit, leaves) in (0..).zip(leaves) {
            for (rail, leaf) in (0..).zip(leaves) {
                let group = self.design.group_of(unit, rail) as usize;
                for (spine, index) in spines[group].iter().zip(0..) {
                    let leaf_port = self.shape.nodes_per_unit + 1 + index * uplinks;
                    for cable in 0..uplinks {
                        let end = (*spine, spine_port[group] + cable);
                        self.draft.cable((*leaf, leaf_port + cable), end);
                    }
                }
                spine_port[group] += uplinks;
            }
        }
    }

    fn join_cores(&mut self, to: Cores, spines: &[Vec<DraftNode>], cores: &[DraftNode]) {
        let spines_per_core_group = self.design.spines / to.groups;
        let first_up = self.design.spine_ports_down() + 1;
        for (group, spines) in (0..).zip(spines) {
            for (index, spine) in (0..).zip(spines) {
                let core_group = index / spines_per_core_group;
                let place = group * spines_per_core_group + index % spines_per_core_group;
                for core in 0..to.per_group {
                    let core_node = cores[(core_group * to.per_group + core) as usize];
                    for cable in 0..to.cables {
                        let spine_end = (*spine, first_up + core * to.cables + cable);
                        self.draft.cable(spine_end, (core_node, place * to.cables + cable + 1));
                    }
                }
            }
        }
    }

    fn switch(&mut self, name: &str) -> DraftNode {
        self.draft.switch(name, self.shape.radix)
    }
}
