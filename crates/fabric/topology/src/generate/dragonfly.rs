//! Dragonfly: fully connected groups of switches, joined by long ("global") cables.
//!
//! ```text
//!   switches_per_group = 2, global_cables_per_switch = 1, groups = 3
//!
//!            group 0                  slots of a group: global ports counted across its
//!         s0-0 ── s0-1                switches; here slot 0 is at s*-0, slot 1 at s*-1
//!      slot 0 │      │ slot 1
//!             │      └──────────┐
//!      slot 1 │                 │ slot 0
//!   group 1 s1-1 ── s1-0 ──── s2-1 ── s2-0 group 2
//!                 slot 0   slot 1
//! ```
//!
//! With a switches per group, p hosts and h global cables per switch, and g groups (at most a
//! h + 1), the global ports of a group are slots 0 to a h - 1, with slot q at switch floor(q / h).
//! **Arrangement**: slot q of group i leads to slot g - 2 - q of group i + q + 1 (mod g), the
//! palmtree arrangement (Camarero, Vallejo and Beivide, ACM TACO 11(4), 2014) with ascending group
//! numbers. With fewer groups, further slots repeat the pattern in r = floor(a h / (g - 1)) rounds
//! of g - 1 slots, which give r cables per pair of groups. The slots in use, u = r (g - 1), are
//! spread evenly: slot q is at switch floor(q a / u).
//!
//! Port order on a switch: hosts, other switches of the group, other groups.
//!
//! Source: Kim, Dally, Scott and Abts, ISCA 2008, section 3, which leaves the arrangement open.
//!
//! Closed forms: a g switches, a p g hosts, g a (a - 1) / 2 cables inside groups and
//! r g (g - 1) / 2 between groups; the diameter is at most 4 switches. The source calls a dragonfly
//! with a = 2p = 2h balanced.
//!
//! **Minimal routing** takes up to one local, one global and one more local channel; a shortest path
//! may take two global channels. With N = a p g hosts, all-to-all traffic spread evenly over the r
//! cables, and n global cables in use at a switch:
//!
//! ```text
//!   channel               host pairs on it                    from
//!   global                (a p)^2 / r                         group to group
//!   local, s to t         p^2                                 hosts of s to hosts of t
//!                         + a p^2 n(t) / r                    hosts of s to the groups behind t
//!                         + a p^2 n(s) / r                    the groups behind s to hosts of t
//! ```
//!
//! A host sends at most the fraction (N - 1) / (host pairs on the busiest channel) of its link rate,
//! up to the full link rate.

use super::draft::{Draft, Size};
use super::error::{at_least, at_most};
use super::{GenerateError, is_one, one};
use crate::{DraftNode, Fabric};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Fully connected groups of fully connected switches.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dragonfly {
    /// Number of switches in each group (a), at least 1.
    #[schemars(range(min = 1))]
    pub switches_per_group: u32,
    /// Number of hosts on each switch (p), at least 1.
    #[serde(default = "one")]
    #[schemars(range(min = 1))]
    pub hosts_per_switch: u32,
    /// Number of cables from each switch to other groups (h); 0 requires a single group.
    pub global_cables_per_switch: u32,
    /// Number of groups (g), from 1 to a h + 1; by default a h + 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub groups: Option<u32>,
    /// Number of disjoint copies, at least 1. Each host has an adapter in every copy.
    #[serde(default = "one", skip_serializing_if = "is_one")]
    #[schemars(range(min = 1), extend("default" = 1))]
    pub rails: u32,
}

#[derive(Debug, Clone, Copy)]
struct Shape {
    switches_per_group: u32,
    hosts_per_switch: u32,
    global_per_switch: u32,
    groups: u32,
}

impl Dragonfly {
    /// Returns the maximum all-to-all load under minimal (local-global-local) routing, as a
    /// fraction of a host's link rate, for links of equal rates. `None` for invalid parameters or
    /// fewer than two hosts.
    pub fn minimal_routing_bound(&self) -> Option<f64> {
        let shape = self.check().ok()?;
        let [a, p, g] = [shape.switches_per_group, shape.hosts_per_switch, shape.groups];
        let partners = (u64::from(a) * u64::from(p) * u64::from(g)).checked_sub(1)?;
        let [a, p, partners] = [f64::from(a), f64::from(p), real(partners)];
        let fullest = shape.most_global_cables().map_or(0.0, |(rounds, fullest_two)| {
            let global = (a * p) * (a * p) / f64::from(rounds);
            let beyond_the_group = a * p * p * f64::from(fullest_two) / f64::from(rounds);
            if shape.switches_per_group > 1 { global.max(p * p + beyond_the_group) } else { global }
        });
        let inside = if shape.switches_per_group > 1 { p * p } else { 0.0 };
        let pairs = fullest.max(inside).max(partners);
        (partners > 0.0).then(|| partners / pairs)
    }

    pub(super) fn generate(&self) -> Result<Fabric, GenerateError> {
        let shape = self.check()?;
        let mut draft = Draft::default();
        let mut switches = Vec::new();
        for group in 0..shape.groups {
            switches.push(shape.add_group(&mut draft, group));
        }
        shape.join_groups(&mut draft, &switches);
        Ok(draft.build())
    }

    fn check(&self) -> Result<Shape, GenerateError> {
        at_least("switches_per_group", self.switches_per_group, 1)?;
        at_least("hosts_per_switch", self.hosts_per_switch, 1)?;
        let [a, p, h] =
            [self.switches_per_group, self.hosts_per_switch, self.global_cables_per_switch]
                .map(u128::from);
        let groups_max = a * h + 1;
        if let Some(groups) = self.groups {
            at_least("groups", groups, 1)?;
            let because = "switches_per_group x global_cables_per_switch + 1";
            at_most("groups", groups, groups_max, because)?;
        }
        let group = Size { switches: a, hosts: a * p, ports_per_switch: p + a - 1 };
        group.check("switches_per_group", &self.switches_per_group)?;
        let groups = self.groups.map_or(groups_max, u128::from);
        let all = Size {
            switches: a * groups,
            hosts: (a * p).saturating_mul(groups),
            ports_per_switch: p + a - 1 + h,
        };
        all.check("global_cables_per_switch", &self.global_cables_per_switch)?;
        Ok(Shape {
            switches_per_group: self.switches_per_group,
            hosts_per_switch: self.hosts_per_switch,
            global_per_switch: self.global_cables_per_switch,
            groups: u32::try_from(groups).expect("the number of nodes was checked"),
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "a bound needs few digits")]
fn real(number: u64) -> f64 {
    number as f64
}

impl Shape {
    const fn global_port_first(self) -> u32 {
        self.hosts_per_switch + self.switches_per_group
    }

    /// Returns the number of cables between any two groups. Panics for a single group.
    const fn rounds(self) -> u32 {
        self.switches_per_group * self.global_per_switch / (self.groups - 1)
    }

    /// Returns the number of cables between two groups, and the numbers of global cables in use at
    /// a group's two busiest switches. `None` for a single group.
    fn most_global_cables(self) -> Option<(u32, u32)> {
        let peers = self.groups.checked_sub(1).filter(|peers| *peers > 0)?;
        let used = self.rounds() * peers;
        let (fewest, with_one_more) =
            (used / self.switches_per_group, used % self.switches_per_group);
        Some((self.rounds(), 2 * fewest + with_one_more.min(2)))
    }

    fn add_group(self, draft: &mut Draft, group: u32) -> Vec<DraftNode> {
        let ports = self.global_port_first() - 1 + self.global_per_switch;
        let mut switches = Vec::new();
        for index in 0..self.switches_per_group {
            let coordinates = format!("{group}-{index}");
            let switch = draft.switch(&format!("s{coordinates}"), ports);
            draft.hosts_at(switch, &coordinates, self.hosts_per_switch);
            switches.push(switch);
        }
        for (lower, low) in (0..).zip(&switches) {
            for (higher, high) in (0..).zip(&switches).skip(lower as usize + 1) {
                // A switch has no port to itself, so port numbers to higher switches are one lower.
                let to_higher = self.hosts_per_switch + higher;
                let to_lower = self.hosts_per_switch + 1 + lower;
                draft.cable((*low, to_higher), (*high, to_lower));
            }
        }
        switches
    }

    fn join_groups(self, draft: &mut Draft, switches: &[Vec<DraftNode>]) {
        let peers = self.groups - 1;
        if peers == 0 {
            return;
        }
        for group in 0..self.groups {
            // Slots `groups - 1 - group` and higher are the far ends of cables from lower groups.
            for slot in 0..peers - group {
                let far_group = group + slot + 1;
                for round in 0..self.rounds() {
                    let near = self.slot_end(&switches[group as usize], round * peers + slot);
                    let far_slot = round * peers + peers - 1 - slot;
                    let far = self.slot_end(&switches[far_group as usize], far_slot);
                    draft.cable(near, far);
                }
            }
        }
    }

    fn slot_end(self, group: &[DraftNode], slot: u32) -> (DraftNode, u32) {
        let slots_used = u64::from(self.rounds() * (self.groups - 1));
        let switches = u64::from(self.switches_per_group);
        let index = u64::from(slot) * switches / slots_used;
        let slot_first = (index * slots_used).div_ceil(switches);
        let place = u32::try_from(u64::from(slot) - slot_first).expect("a slot of the switch");
        assert!(place < self.global_per_switch, "slots are spread evenly");
        (group[usize::try_from(index).expect("a switch")], self.global_port_first() + place)
    }
}
