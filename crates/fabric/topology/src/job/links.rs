//! Channels shared by several flows.

use super::load::flows;
use super::paths::{PathError, Paths, WHOLE};
use super::pattern::Phase;
use crate::{ChannelId, Fabric};
use std::collections::BTreeSet;

/// Channel between switches with a load of more than one flow in a phase, at least partly from this
/// job.
#[derive(Debug, Clone, PartialEq)]
pub struct SharedLink {
    /// Shared channel.
    pub channel: ChannelId,
    /// Index of the phase.
    pub phase: usize,
    /// Number of flows, including those of other jobs; may be fractional with adaptive routing.
    pub flows: f64,
    /// Number of flows of other jobs.
    pub of_others: f64,
    /// Flows of this job on the channel: sender, receiver and rail, as indices into the placement.
    pub pairs: Vec<(usize, usize, usize)>,
}

/// Returns up to `limit` shared channels, the busiest first and each in its busiest phase, and the
/// number of cables with a shared channel.
pub fn shared_links(
    paths: &mut Paths<'_>,
    phases: &[Phase],
    order: &[usize],
    standing: &[u64],
    limit: usize,
) -> Result<(Vec<SharedLink>, usize), PathError> {
    let mut shared = Vec::new();
    let count = paths.fabric().channel_count();
    for (number, phase) in phases.iter().enumerate() {
        let mut loads = if standing.is_empty() { vec![0; count] } else { standing.to_vec() };
        let mut is_own = vec![false; count];
        for edge in &phase.edges {
            for rail in 0..paths.rails() {
                let (from, to) = edge.nodes(order);
                for step in paths.between(from, to, rail)? {
                    loads[step.channel.index()] += u64::from(step.part);
                    is_own[step.channel.index()] = true;
                }
            }
        }
        let is_shared = |channel: &usize| is_own[*channel] && loads[*channel] > WHOLE;
        shared
            .extend((0..count).filter(is_shared).map(|channel| (loads[channel], number, channel)));
    }
    shared.sort_by_key(|(load, phase, channel)| (std::cmp::Reverse(*load), *phase, *channel));
    let mut seen = BTreeSet::new();
    shared.retain(|(_, _, channel)| seen.insert(*channel));
    let cable = |channel: &usize| {
        let channel = ChannelId::new(*channel);
        channel.min(Fabric::reverse(channel))
    };
    let all = seen.iter().map(cable).collect::<BTreeSet<_>>().len();
    shared.truncate(limit);
    let mut links = Vec::new();
    for (load, phase, channel) in shared {
        let channel = ChannelId::new(channel);
        let mut pairs = Vec::new();
        for edge in &phases[phase].edges {
            for rail in 0..paths.rails() {
                let (from, to) = edge.nodes(order);
                let steps = paths.between(from, to, rail)?.iter();
                let part = steps.filter(|step| step.channel == channel).map(|step| step.part).sum();
                let part: u32 = part;
                if part > 0 {
                    pairs.push((std::cmp::Reverse(part), from, to, rail));
                }
            }
        }
        pairs.sort_unstable();
        let pairs = pairs.into_iter().map(|(_, from, to, rail)| (from, to, rail)).collect();
        let of_others = standing.get(channel.index()).map_or(0.0, |load| flows(*load));
        links.push(SharedLink { channel, phase, flows: flows(load), of_others, pairs });
    }
    Ok((links, all))
}
