//! Group shifts: every group of hosts sends to the group `by` positions later.
//!
//! ```text
//!   groups of four, by = 1      0 1 2 3 ─► 4 5 6 7 ─► 8 9 10 11 ─┐
//!                                  ▲                             │
//!                                  └─────────────────────────────┘
//! ```
//!
//! On a dragonfly, minimal routing carries all traffic of a group over the few cables to the next
//! group (Kim et al. 2008, section 4, with messages to any host of the next group: `any = true`).

use super::context::ClassContext;
use super::destinations::{Aim, UNREACHABLE};
use crate::compile::gathered::Gathered;
use crate::error::LabError;
use crate::scenario::Topology;
use gingham_net::traffic::{GroupPlaces, group_target};
use gingham_topology::EndpointId;
use gingham_topology::generate::Generator;
use std::collections::BTreeMap;
use std::sync::Arc;

const SIZE_KEY: &str = "destinations.group-shift.group_size";

pub(super) fn group_shift(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    written: &GroupPlaces,
    gathered: &mut Gathered,
) -> Result<Vec<Aim>, LabError> {
    let groups = groups(context, hosts, written, gathered)?;
    let count = groups.len();
    if group_target(0, written.by, count) == 0 {
        let by = written.by;
        let message = format!(
            "a shift by {by} maps each of the {count} groups to itself: choose one that is not a multiple of {count}"
        );
        return Err(context.error("destinations.group-shift.by", message).into());
    }
    let is_even = groups.windows(2).all(|pair| pair[0].len() == pair[1].len());
    if !written.any && !is_even {
        let message = "the groups of the dragonfly have different numbers of hosts of the class: set \
                       `any = true`, or a group_size";
        return Err(context.error("destinations.group-shift", message).into());
    }
    let mut aims: Vec<(EndpointId, Aim)> = Vec::new();
    for (group, members) in groups.iter().enumerate() {
        let targets = &groups[group_target(group, written.by, count)];
        if written.any {
            aims.extend(to_any(context, members, targets));
        } else {
            let fixed = |(from, to): (&EndpointId, &EndpointId)| {
                (*from, super::destinations::fixed(context, *from, *to, "map to themselves"))
            };
            aims.extend(members.iter().zip(targets).map(fixed));
        }
    }
    aims.sort_unstable_by_key(|(host, _)| *host);
    Ok(aims.into_iter().map(|(_, aim)| aim).collect())
}

fn to_any(
    context: &ClassContext<'_>,
    members: &[EndpointId],
    targets: &[EndpointId],
) -> Vec<(EndpointId, Aim)> {
    let mut near: BTreeMap<usize, Arc<[EndpointId]>> = BTreeMap::new();
    let aim = |host: &EndpointId| {
        let joined =
            || targets.iter().copied().filter(|to| context.hosts.joined(*host, *to)).collect();
        let among = near.entry(context.hosts.island[host.index()]).or_insert_with(joined);
        let others = super::chosen_hosts::but_own(context, Arc::clone(among), *host);
        (*host, super::destinations::uniform_among(others, UNREACHABLE))
    };
    members.iter().map(aim).collect()
}

fn groups(
    context: &ClassContext<'_>,
    hosts: &[EndpointId],
    written: &GroupPlaces,
    gathered: &mut Gathered,
) -> Result<Vec<Vec<EndpointId>>, LabError> {
    let refuse = |message: String| Err(context.error(SIZE_KEY, message).into());
    let count = hosts.len();
    let groups: Vec<Vec<EndpointId>> = if let Some(size) = written.group_size {
        let size = size as usize;
        if size == 0 || !count.is_multiple_of(size) {
            let others = sizes_near(size, count, written.by);
            return refuse(format!(
                "groups of {size} do not divide the {count} hosts of the class{others}"
            ));
        }
        hosts.chunks(size).map(<[_]>::to_vec).collect()
    } else if let Topology::Generate(Generator::Dragonfly(of)) = &context.source.scenario.topology
        && of.rails == 1
    {
        let mut groups: BTreeMap<u32, Vec<EndpointId>> = BTreeMap::new();
        for host in hosts {
            let switch = context.fabric.target(context.fabric.endpoint_channel(*host)).node;
            let number = u32::try_from(switch.index()).expect("switches are few");
            groups.entry(number / of.switches_per_group).or_default().push(*host);
        }
        groups.into_values().collect()
    } else {
        return refuse(
            "only a generated dragonfly of one rail defines groups; on any other fabric, set group_size to \
             the hosts of a group"
                .to_owned(),
        );
    };
    if groups.len() < 2 {
        return refuse(format!(
            "the {count} hosts of the class form one group; a shift needs at least two"
        ));
    }
    context.note(gathered, format!("group-shift over {} groups", groups.len()));
    Ok(groups)
}

/// Names the next smaller and larger group sizes that divide `count` hosts evenly and allow a shift
/// by `by` without self-traffic; empty if there are none.
fn sizes_near(size: usize, count: usize, by: i64) -> String {
    let does = |size: &usize| count.is_multiple_of(*size) && group_target(0, by, count / size) != 0;
    let below = (1..size.min(count)).rev().find(does);
    let above = (size + 1..count).find(does);
    match (below, above) {
        (Some(below), Some(above)) => format!("; those of {below} and of {above} do"),
        (Some(one), None) | (None, Some(one)) => format!("; those of {one} do"),
        (None, None) => String::new(),
    }
}
