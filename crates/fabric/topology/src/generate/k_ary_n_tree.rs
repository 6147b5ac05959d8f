//! k-ary n-tree: a fat tree of equal switches with equal numbers of cables up and down.
//!
//! ```text
//!   arity = 2, levels = 2       s0-0    s0-1        level 0: the roots
//!                                │  \  /  │
//!                                │   \/   │
//!                                │   /\   │
//!                               s1-0    s1-1        level 1: the leaves
//!                               /  \    /  \
//!                              h0  h1  h2  h3
//! ```
//!
//! Switch `s{l}-{w}` is on level l; in base k, w has the digits w_0 ... w_(n-2), most significant
//! first. The switch is joined to those switches on level l + 1 whose digits agree with w except
//! possibly in digit l. The leaf of host p has the digits of p without the last digit. Ports `1` to
//! `k` lead down, with port d + 1 to the neighbour with digit d; ports `k + 1` to `2k` of a
//! non-root lead up in the same order.
//!
//! Source: Petrini and Vanneschi, IPPS 1997, definition 2.
//!
//! Closed forms: k^n hosts, n k^(n-1) switches, n k^n cables (k^n to hosts); a path between hosts
//! that first differ in digit d has 2 (n - d) - 1 switches; diameter 2n - 1 switches.

use super::draft::{Draft, Size};
use super::error::at_least;
use super::{GenerateError, is_one, one};
use crate::{DraftNode, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fat tree of equal switches by Petrini and Vanneschi.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct KAryNTree {
    /// Number of downward cables of each switch (k), at least 2.
    #[schemars(range(min = 2))]
    pub arity: u32,
    /// Number of switch levels (n), at least 1.
    #[schemars(range(min = 1))]
    pub levels: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

impl KAryNTree {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        at_least("arity", self.arity, 2)?;
        at_least("levels", self.levels, 1)?;
        let size = self.size();
        Size { switches: 1, hosts: self.arity.into(), ..size }.check("arity", &self.arity)?;
        size.check("levels", &self.levels)?;
        let mut draft = Draft::default();
        let levels: Vec<_> = (0..self.levels).map(|l| self.add_level(&mut draft, l)).collect();
        for (level, pair) in (0..).zip(levels.windows(2)) {
            self.join_levels(&mut draft, level, &pair[0], &pair[1]);
        }
        for leaf in levels.last().expect("a tree has a level") {
            draft.numbered_hosts(*leaf, self.arity);
        }
        Ok(draft.build())
    }

    fn size(&self) -> Size {
        let arity = u128::from(self.arity);
        let width = arity.saturating_pow(self.levels - 1);
        Size {
            switches: width.saturating_mul(self.levels.into()),
            hosts: width.saturating_mul(arity),
            ports_per_switch: if self.levels == 1 { arity } else { 2 * arity },
        }
    }

    fn add_level(&self, draft: &mut Draft, level: u32) -> Vec<DraftNode> {
        let ports = if level == 0 { self.arity } else { 2 * self.arity };
        let width = (self.arity as usize).pow(self.levels - 1);
        (0..width).map(|index| draft.switch(&format!("s{level}-{index}"), ports)).collect()
    }

    fn join_levels(&self, draft: &mut Draft, level: u32, upper: &[DraftNode], lower: &[DraftNode]) {
        let arity = self.arity as usize;
        let place = arity.pow(self.levels - 2 - level);
        for (index, switch) in upper.iter().enumerate() {
            let digit_upper = index / place % arity;
            for digit_lower in 0..self.arity {
                let below = index - digit_upper * place + digit_lower as usize * place;
                let port_up = self.arity + 1 + u32::try_from(digit_upper).expect("a digit");
                draft.cable((*switch, digit_lower + 1), (lower[below], port_up));
            }
        }
    }
}
