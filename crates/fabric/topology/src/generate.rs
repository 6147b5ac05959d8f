//! Generators of textbook fabrics from a few parameters.
//!
//! ```text
//!  torus = { dimensions = [8, 8] }  ──►  Generator::Torus  ──generate(seed)──►  Fabric
//!                                        (parameters)
//! ```
//!
//! GUIDs ascend in construction order ([`crate::numbering`]), which is therefore the canonical
//! order. Names are `s0`, `s1`, ... for switches and `h0`, `h1`, ... for hosts, or contain
//! coordinates: host `h0-3-1` is attached to switch `s0-3`.
//!
//! A node with several adapters ([`RailOptimised`], [`MultiPlane`], or any shape with `rails`
//! copies) is represented by one host per adapter, named after the node, a space and `mlx5_0`,
//! `mlx5_1`, ...
//!
//! Invariants: every copy or plane is connected; equal parameters and seeds give equal fabrics;
//! sizes are checked before allocation.

mod draft;
mod dragonfly;
mod error;
mod fat_tree;
mod folded_clos;
mod hypercube;
mod irregular;
mod k_ary_n_tree;
mod lattice;
mod mesh;
mod multi_plane;
mod rail_optimised;
mod rails;
mod ring;
mod star;
mod torus;
mod two_hosts;

pub use error::GenerateError;

use self::error::at_least;
use self::rails::Copies;
use crate::Fabric;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Declares each shape: help text, source, example, name, module and type. `{ rails }` permits
/// disjoint copies; `seed` marks a random shape.
macro_rules! generators {
    ($(
        $(#[$about:meta])+
        $name:literal => $module:ident::$Shape:ident { $($rails:ident)? } $($seed:ident)?,
    )+) => {
        $(pub use $module::$Shape;)+

        /// Shape of a fabric with its parameters.
        #[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
        pub enum Generator {
            $($(#[$about])+ #[serde(rename = $name)] $Shape($Shape),)+
        }

        impl Generator {
            /// Returns the number of disjoint copies of the shape; 1 for shapes whose nodes already
            /// have several adapters.
            pub const fn rails(&self) -> u32 {
                match self {
                    $(Self::$Shape($Shape { $($rails,)? .. }) => generators!(@copies $($rails)?),)+
                }
            }

            fn generate_one(&self, seed: u64) -> Result<Fabric, GenerateError> {
                match self {
                    $(Self::$Shape(shape) => generators!(@generate shape, seed $($seed)?),)+
                }
            }

            /// Returns the name of this shape in scenarios.
            pub const fn name(&self) -> &'static str {
                match self {
                    $(Self::$Shape(_) => $name,)+
                }
            }
        }
    };

    (@copies) => { 1 };
    (@copies $rails:ident) => { *$rails };
    (@generate $shape:ident, $value:ident) => { $shape.generate() };
    (@generate $shape:ident, $value:ident seed) => { $shape.generate($value) };
}

generators! {
    /// Two hosts with a row of switches between them.
    #[schemars(extend("x-source" = "Kwan et al. 1996, section 3.1", "x-example" = "two-hosts = { switches = 2 }"))]
    "two-hosts" => two_hosts::TwoHosts { rails },
    /// One switch with all hosts.
    #[schemars(extend("x-source" = "textbook", "x-example" = "star = { hosts = 3 }"))]
    "star" => star::Star { rails },
    /// Switches in a ring.
    #[schemars(extend("x-source" = "textbook", "x-example" = "ring = { switches = 4 }"))]
    "ring" => ring::Ring { rails },
    /// A grid of switches with open edges.
    #[schemars(extend("x-source" = "Dally and Towles 2004, chapter 5"))]
    #[schemars(extend("x-example" = "mesh = { dimensions = [3, 2] }"))]
    "mesh" => mesh::Mesh { rails },
    /// A grid of switches whose opposite edges are joined.
    #[schemars(extend("x-source" = "Dally and Towles 2004, chapter 5"))]
    #[schemars(extend("x-example" = "torus = { dimensions = [3, 3], hosts_per_switch = 2 }"))]
    "torus" => torus::Torus { rails },
    /// A mesh of two switches in each dimension.
    #[schemars(extend("x-source" = "Dally and Towles 2004, chapter 5"))]
    #[schemars(extend("x-example" = "hypercube = { dimensions = 3 }"))]
    "hypercube" => hypercube::Hypercube { rails },
    /// A fat tree of equal switches by Petrini and Vanneschi.
    #[schemars(extend("x-source" = "Petrini and Vanneschi 1997"))]
    #[schemars(extend("x-example" = "k-ary-n-tree = { arity = 2, levels = 3 }"))]
    "k-ary-n-tree" => k_ary_n_tree::KAryNTree { rails },
    /// A fat tree of switches with equal numbers of ports, optionally tapered at the leaves.
    #[schemars(extend("x-source" = "Lin, Chung and Huang 2004; Ohring et al. 1995"))]
    #[schemars(extend("x-example" = "fat-tree = { ports = 4, levels = 3 }"))]
    "fat-tree" => fat_tree::FatTree { rails },
    /// Leaf switches, each cabled to every spine switch.
    #[schemars(extend("x-source" = "Leiserson 1985; Clos 1953"))]
    #[schemars(extend("x-example" = "folded-clos = { leaves = 3, spines = 2, hosts_per_leaf = 2 }"))]
    "folded-clos" => folded_clos::FoldedClos { rails },
    /// Scalable units of nodes with several adapters, one on each leaf switch of the unit.
    #[schemars(extend("x-source" = "NVIDIA, DGX SuperPOD reference architectures, 2023 and 2025"))]
    #[schemars(extend("x-example" = "rail-optimised = { units = 2, nodes_per_unit = 2, rails = 2, radix = 4 }"))]
    "rail-optimised" => rail_optimised::RailOptimised {},
    /// Disjoint folded Clos networks, with one adapter of every node in each network.
    #[schemars(extend("x-source" = "Zhao et al. 2025, section 5.1"))]
    #[schemars(extend("x-example" = "multi-plane = { planes = 2, leaves = 2, spines = 1, hosts_per_leaf = 2 }"))]
    "multi-plane" => multi_plane::MultiPlane {},
    /// Fully connected groups of fully connected switches.
    #[schemars(extend("x-source" = "Kim, Dally, Scott and Abts 2008"))]
    #[schemars(extend("x-example" = "dragonfly = { switches_per_group = 2, global_cables_per_switch = 1 }"))]
    "dragonfly" => dragonfly::Dragonfly { rails },
    /// Randomly connected switches, as in the studies of Myrinet clusters.
    #[schemars(extend("x-source" = "Flich et al. 2001, section IV-A; the drawing of links is ours"))]
    #[schemars(extend("x-example" = "irregular = { switches = 5 }"))]
    "irregular" => irregular::Irregular { rails } seed,
}

impl Generator {
    /// Generates the fabric. Only [`Irregular`] depends on `seed`.
    ///
    /// # Errors A parameter is outside its range; the fabric has more than 1,000,000 nodes, 65,535
    /// ports on a switch or 10,000,000 switch ports; or no connected fabric exists, or none was
    /// found.
    pub fn generate(&self, seed: u64) -> Result<Fabric, GenerateError> {
        let rails = self.rails();
        at_least("rails", rails, 1)?;
        let shape = self.generate_one(seed)?;
        if rails == 1 {
            return Ok(shape);
        }
        Copies { parameter: "rails", count: rails, letter: 'r' }.of(&shape)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_one(value: &u32) -> bool {
    *value == 1
}

const fn one() -> u32 {
    1
}
