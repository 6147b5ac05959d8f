//! Fat tree of switches with equal numbers of ports. Below the top level, half of a switch's ports
//! lead down and half lead up; leaves may have fewer ports up than down.
//!
//! ```text
//!   ports = 4, levels = 2               s0-0         s0-1            level 0: the top
//!                                      / | | \      / | | \
//!                                     (every leaf to both tops)
//!                                  s1-0  s1-1  s1-2  s1-3            level 1: the leaves
//!                                  /  \  /  \  /  \  /  \
//!                                 h0 h1 h2 h3 h4 h5 h6 h7
//! ```
//!
//! With P ports, n levels and a tapering of t, a leaf has u = floor(P / (t + 1)) ports up and t u
//! hosts; t = 1 gives full bisection. Top switches have P ports down. The downward ports of a
//! switch have lower numbers than its upward ports.
//!
//! Each top switch of a subtree with l levels (l = 1 is a leaf) belongs to one plane. A switch of
//! plane b has one upward port for each b', to the switch of plane (b', b) in the next larger
//! subtree; the latter switch has a port down to each smaller subtree. Switches are numbered by
//! subtree, then by plane, with the b' of the highest level first.
//!
//! Source: Lin, Chung and Huang, IPDPS 2004 (the m-port n-tree, which is t = 1); Ohring, Ibel, Das
//! and Kumar, IPPS 1995 (as XGFT(n; t u, P/2, ..., P/2, P; 1, u, P/2, ..., P/2)).
//!
//! Closed forms for n >= 2: t u P (P/2)^(n-2) hosts, P (P/2)^(n-2) leaves, u P (P/2)^(n-3) switches
//! on each level in between, u (P/2)^(n-2) top switches; the diameter is 2n - 1 switches. A single
//! level is one switch with P hosts.

use super::draft::{Draft, Size};
use super::error::{at_least, at_most};
use super::{GenerateError, is_one, one};
use crate::{DraftNode, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fat tree of switches with equal numbers of ports.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FatTree {
    /// Number of ports of each switch: an even number, at least 2.
    #[schemars(range(min = 2))]
    pub ports: u32,
    /// Number of switch levels, at least 1.
    #[schemars(range(min = 1))]
    pub levels: u32,
    /// Ratio of hosts to upward cables on a leaf, at least 1; 2 is an oversubscription of 2 : 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub tapering: u32,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

#[derive(Debug, Clone, Copy)]
struct Level {
    down: u32,
    up: u32,
}

impl FatTree {
    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        self.check()?;
        let mut draft = Draft::default();
        // The top level comes first in canonical order, so that the first switch is a root.
        let counts = self.counts();
        let names = (0..self.levels).zip(counts.iter().rev());
        let mut levels: Vec<Vec<DraftNode>> = names
            .map(|(name, count)| {
                (0..*count).map(|n| draft.switch(&format!("s{name}-{n}"), self.ports)).collect()
            })
            .collect();
        levels.reverse();
        let mut planes = 1;
        for (level, pair) in levels.windows(2).enumerate() {
            planes = self.join_levels(&mut draft, level, planes, &pair[0], &pair[1]);
        }
        for leaf in &levels[0] {
            draft.numbered_hosts(*leaf, self.level(0).down);
        }
        Ok(draft.build())
    }

    /// Joins two levels. `planes` is the number of top switches of each lower subtree; returns this
    /// number for each upper subtree.
    fn join_levels(
        &self,
        draft: &mut Draft,
        level: usize,
        planes: usize,
        lower: &[DraftNode],
        upper: &[DraftNode],
    ) -> usize {
        let (below, above) = (self.level(level), self.level(level + 1));
        let (up, down) = (below.up as usize, above.down as usize);
        for (index, switch) in lower.iter().enumerate() {
            let (subtree, plane) = (index / planes, index % planes);
            let (parent, child) = (subtree / down, subtree % down);
            for (port_up, plane_up) in (below.down + 1..).zip(0..up) {
                let there = (parent * up + plane_up) * planes + plane;
                let port_down = u32::try_from(child + 1).expect("a port");
                draft.cable((*switch, port_up), (upper[there], port_down));
            }
        }
        planes * up
    }

    /// Returns the numbers of ports of a switch on `level`; level 0 contains the leaves.
    fn level(&self, level: usize) -> Level {
        let (ports, levels) = (self.ports, self.levels as usize);
        let uplinks = ports / (self.tapering + 1);
        match level {
            _ if level + 1 == levels => Level { down: ports, up: 0 },
            0 => Level { down: uplinks * self.tapering, up: uplinks },
            _ => Level { down: ports / 2, up: ports / 2 },
        }
    }

    /// Returns the number of switches on each level, leaves first: subtrees times planes.
    fn counts(&self) -> Vec<u128> {
        let levels = self.levels as usize;
        let mut counts = vec![1_u128; levels];
        let mut subtrees = 1_u128;
        for level in (0..levels).rev() {
            counts[level] = subtrees;
            subtrees = subtrees.saturating_mul(self.level(level).down.into());
        }
        let mut planes = 1_u128;
        for (level, count) in counts.iter_mut().enumerate() {
            *count = count.saturating_mul(planes);
            planes = planes.saturating_mul(self.level(level).up.into());
        }
        counts
    }

    fn check(&self) -> Result<(), GenerateError> {
        at_least("ports", self.ports, 2)?;
        at_least("levels", self.levels, 1)?;
        at_least("tapering", self.tapering, 1)?;
        let ports = u128::from(self.ports);
        if self.levels > 1 {
            if !self.ports.is_multiple_of(2) {
                let value = self.ports.to_string();
                let expected = "an even number".to_owned();
                return Err(GenerateError::OutOfRange { parameter: "ports", value, expected });
            }
            at_most("tapering", self.tapering, ports - 1, "a leaf has a cable up")?;
        }
        let ports_per_switch = ports;
        Size { switches: 1, hosts: ports, ports_per_switch }.check("ports", &self.ports)?;
        // Checked first, because `counts` allocates an element for each level.
        let levels = u128::from(self.levels);
        Size { switches: levels, hosts: 0, ports_per_switch }.check("levels", &self.levels)?;
        let counts = self.counts();
        let switches = counts.iter().fold(0_u128, |sum, count| sum.saturating_add(*count));
        let hosts = counts[0].saturating_mul(self.level(0).down.into());
        Size { switches, hosts, ports_per_switch }.check("levels", &self.levels)
    }
}
