//! Dimensioning of a rail-optimised fabric from the user's parameters.
//!
//! ```text
//!   leaf    nodes_per_unit + spines x uplinks             <= radix
//!   spine   leaves of its group x uplinks + cables up     <= radix
//!   core    spines of its core group x cables             <= radix
//! ```
//!
//! Omitted parameters are chosen in this order: units per block (limited by a spine's downward
//! ports), cables per leaf-spine pair (the largest possible number), spines, cores.

use super::RailOptimised;
use crate::generate::GenerateError;
use crate::generate::draft::Size;
use crate::generate::error::{at_least, at_most};

#[derive(Debug, Clone, Copy)]
pub(super) struct Design {
    rails_per_group: u32,
    groups_per_block: u32,
    units_per_block: u32,
    blocks: u32,
    pub(super) spines: u32,
    pub(super) uplinks: u32,
    pub(super) cores: Option<Cores>,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Cores {
    pub(super) groups: u32,
    pub(super) per_group: u32,
    pub(super) cables: u32,
}

impl Cores {
    pub(super) const fn count(self) -> u32 {
        self.groups * self.per_group
    }
}

impl Design {
    pub(super) fn new(of: &RailOptimised) -> Result<Self, GenerateError> {
        check_ranges(of)?;
        let (groups_per_block, rails_per_group) = spine_groups(of)?;
        let units_per_block = units_per_block(of, rails_per_group)?;
        let leaves = units_per_block * rails_per_group;
        let (spines, uplinks) = spines_and_uplinks(of, leaves)?;
        let blocks = of.units.div_ceil(units_per_block);
        let mut design = Self {
            rails_per_group,
            groups_per_block,
            units_per_block,
            blocks,
            spines,
            uplinks,
            cores: None,
        };
        if of.levels == 3 {
            design.cores = Some(design.cores(of)?);
        }
        design.check_size(of)?;
        Ok(design)
    }

    pub(super) const fn groups(self) -> u32 {
        self.blocks * self.groups_per_block
    }

    pub(super) const fn group_of(self, unit: u32, rail: u32) -> u32 {
        unit / self.units_per_block * self.groups_per_block + rail / self.rails_per_group
    }

    pub(super) const fn spine_ports_down(self) -> u32 {
        self.units_per_block * self.rails_per_group * self.uplinks
    }

    fn cores(&self, of: &RailOptimised) -> Result<Cores, GenerateError> {
        let groups = self.groups();
        self.check_groups(of)?;
        let fits = |core_groups: &u32| {
            let wanted = of.cores.is_none_or(|cores| cores.is_multiple_of(*core_groups));
            let spines = self.spines / core_groups;
            wanted && self.spines.is_multiple_of(*core_groups) && spines * groups <= of.radix
        };
        let Some(core_groups) = (1..=self.spines).find(fits) else {
            let least = self.spines.div_ceil(of.radix / groups);
            let least = (least..=self.spines).find(|least| self.spines.is_multiple_of(*least));
            let least = least.expect("a number divides itself");
            let expected = format!("a multiple of {least} (the core groups that radix asks for)");
            return Err(refuse("cores", of.cores.unwrap_or(0), expected));
        };
        let down = self.spine_ports_down();
        let cables_max = of.radix / (self.spines / core_groups * groups);
        let up_max = of.radix - down;
        let (per_group, cables) = match of.cores {
            None => spread(down, cables_max, up_max).expect("a spine has as many ports up as down"),
            Some(cores) => {
                let per_group = cores / core_groups;
                let because = "radix: ports up of a spine, times core groups";
                at_most("cores", cores, u128::from(up_max) * u128::from(core_groups), because)?;
                (per_group, down.div_ceil(per_group).min(cables_max).min(up_max / per_group))
            }
        };
        Ok(Cores { groups: core_groups, per_group, cables })
    }

    fn check_groups(&self, of: &RailOptimised) -> Result<(), GenerateError> {
        let because = "radix: a core has a cable to every spine group";
        let key = if of.spine_groups.is_some() { "spine_groups" } else { "rails" };
        at_most(key, self.groups_per_block, of.radix.into(), because)?;
        if self.groups() > of.radix {
            let fits = (of.radix / 2 / self.rails_per_group).max(1);
            let in_block = of.units_per_block.unwrap_or(fits);
            let units = in_block * (of.radix / self.groups_per_block);
            at_most("units", of.units, units.into(), because)?;
        }
        Ok(())
    }

    fn check_size(&self, of: &RailOptimised) -> Result<(), GenerateError> {
        let [units, nodes, rails] = [of.units, of.nodes_per_unit, of.rails].map(u128::from);
        let cores = self.cores.map_or(0, Cores::count);
        let spines = u128::from(self.groups()) * u128::from(self.spines);
        let size = Size {
            switches: units * rails + spines + u128::from(cores),
            hosts: units * nodes * rails,
            ports_per_switch: of.radix.into(),
        };
        size.check("units", &of.units)
    }
}

fn check_ranges(of: &RailOptimised) -> Result<(), GenerateError> {
    at_least("units", of.units, 1)?;
    at_least("nodes_per_unit", of.nodes_per_unit, 1)?;
    at_least("rails", of.rails, 1)?;
    at_least("levels", of.levels, 2)?;
    at_most("levels", of.levels, 3, "leaf, spine and core")?;
    at_least("radix", of.radix, 2)?;
    at_least("tapering", of.tapering, 1)?;
    for (key, value) in optional(of) {
        at_least(key, value.unwrap_or(1), 1)?;
    }
    if of.levels == 2 {
        let of_three = optional(of).into_iter().skip(2);
        let mut given = of_three.filter_map(|(key, value)| Some((key, value?)));
        if let Some((key, value)) = given.next() {
            return Err(refuse(key, value, "none with levels = 2".to_owned()));
        }
    }
    let [units, nodes, rails, radix] =
        [of.units, of.nodes_per_unit, of.rails, of.radix].map(u128::from);
    let ports_per_switch = radix;
    Size { switches: 1, hosts: 1, ports_per_switch }.check("radix", &of.radix)?;
    let because = "radix: a leaf has a port for each node of its unit, and at least one up";
    at_most("nodes_per_unit", of.nodes_per_unit, radix - 1, because)?;
    Size { switches: rails, hosts: nodes * rails, ports_per_switch }.check("rails", &of.rails)?;
    let (switches, hosts) = (units * rails, units * nodes * rails);
    Size { switches, hosts, ports_per_switch }.check("units", &of.units)
}

/// Returns the optional parameters by key; all but the first two require three levels.
fn optional(of: &RailOptimised) -> [(&'static str, Option<u32>); 5] {
    [
        ("spines", of.spines),
        ("uplinks", of.uplinks),
        ("units_per_block", of.units_per_block),
        ("spine_groups", of.spine_groups),
        ("cores", of.cores),
    ]
}

fn spine_groups(of: &RailOptimised) -> Result<(u32, u32), GenerateError> {
    let groups = if of.levels == 2 { 1 } else { of.spine_groups.unwrap_or(of.rails) };
    if !of.rails.is_multiple_of(groups) {
        let expected = format!("a divisor of rails = {}", of.rails);
        return Err(refuse("spine_groups", groups, expected));
    }
    Ok((groups, of.rails / groups))
}

/// Returns the maximum number of leaf ports on a spine. Spines reserve half of their ports for
/// cores unless the number of cores is set.
const fn ports_down_max(of: &RailOptimised) -> u32 {
    match (of.levels, of.cores) {
        (2, _) => of.radix,
        (_, None) => of.radix / 2,
        (_, Some(_)) => of.radix - 1,
    }
}

/// Returns the number of units per block; fails if a unit has more leaves than a spine has ports.
fn units_per_block(of: &RailOptimised, rails_per_group: u32) -> Result<u32, GenerateError> {
    let leaves_max = ports_down_max(of);
    let units_max = leaves_max / rails_per_group;
    if units_max == 0 {
        let because = "radix: a spine has a cable to each leaf of a unit";
        let (key, value, most) = match of.spine_groups {
            Some(groups) => {
                let least = of.rails.div_ceil(leaves_max);
                return Err(refuse(
                    "spine_groups",
                    groups,
                    format!("at least {least} ({because})"),
                ));
            }
            None => ("rails", of.rails, leaves_max),
        };
        at_most(key, value, most.into(), because)?;
    }
    if of.levels == 2 {
        let because =
            "radix / rails: a spine has a cable to every leaf; levels = 3 has room for more";
        at_most("units", of.units, units_max.into(), because)?;
        return Ok(of.units);
    }
    if let Some(units) = of.units_per_block {
        let because = "radix: a spine has a cable to each leaf of its group, and as many to cores";
        at_most("units_per_block", units, units_max.into(), because)?;
        return Ok(units.min(of.units));
    }
    let units_max = (of.radix / 2 / rails_per_group).max(1);
    let blocks = of.units.div_ceil(units_max);
    Ok(of.units.div_ceil(blocks))
}

fn spines_and_uplinks(of: &RailOptimised, leaves: u32) -> Result<(u32, u32), GenerateError> {
    let up_max = of.radix - of.nodes_per_unit;
    let up = of.nodes_per_unit.div_ceil(of.tapering);
    let uplinks_max = ports_down_max(of) / leaves;
    if let Some(uplinks) = of.uplinks {
        let because = "radix: a spine has these cables to each leaf of its group";
        at_most("uplinks", uplinks, uplinks_max.into(), because)?;
        at_most("uplinks", uplinks, up_max.into(), "radix: ports of a leaf beside its nodes'")?;
    }
    let (spines, uplinks) = match (of.spines, of.uplinks) {
        (Some(_), Some(_)) if of.tapering > 1 => {
            let expected = "1, since spines and uplinks give the cables up".to_owned();
            return Err(refuse("tapering", of.tapering, expected));
        }
        (Some(spines), Some(uplinks)) => (spines, uplinks),
        (Some(spines), None) => {
            let least = up.div_ceil(uplinks_max);
            if spines < least {
                let because = "radix: a spine has equally many cables to each leaf of its group";
                return Err(refuse("spines", spines, format!("at least {least} ({because})")));
            }
            (spines, up.div_ceil(spines))
        }
        (None, Some(uplinks)) => (up.div_ceil(uplinks), uplinks),
        (None, None) => {
            let uplinks_max = if of.levels == 3 { of.radix / 2 / leaves } else { uplinks_max };
            spread(up, uplinks_max.max(1), up_max).ok_or_else(|| {
                let most =
                    u64::from(of.radix) * u64::from(of.tapering) / (u64::from(of.tapering) + 1);
                let expected =
                    format!("at most {most} (radix: a leaf has as many cables up, by tapering)");
                refuse("nodes_per_unit", of.nodes_per_unit, expected)
            })?
        }
    };
    if u64::from(spines) * u64::from(uplinks) > u64::from(up_max) {
        let (key, value) = match (of.spines, of.uplinks) {
            (Some(spines), _) => ("spines", spines),
            (None, uplinks) => ("uplinks", uplinks.unwrap_or(uplinks_max)),
        };
        let expected = format!(
            "at most {up_max} cables up from a leaf, not {spines} x {uplinks} (radix - nodes_per_unit)"
        );
        return Err(refuse(key, value, expected));
    }
    Ok((spines, uplinks))
}

/// Returns the smallest number of upper switches that can share `cables` cables equally, and the
/// number of cables to each, at most `part_max`. Shares are rounded up; `None` if the rounded total
/// exceeds `cables_max`.
fn spread(cables: u32, part_max: u32, cables_max: u32) -> Option<(u32, u32)> {
    let parts = (1..=part_max.min(cables)).rev();
    let filled = parts.map(|part| (cables.div_ceil(part), part));
    filled.into_iter().find(|(count, part)| count * part <= cables_max)
}

fn refuse(parameter: &'static str, value: u32, expected: String) -> GenerateError {
    GenerateError::OutOfRange { parameter, value: value.to_string(), expected }
}
